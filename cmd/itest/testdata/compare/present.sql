-- SET timestamp and SET insert_id, as mysqlbinlog sends them.
set timestamp = 1700000000;
select now(), current_timestamp, current_timestamp(3), unix_timestamp(), curdate(), curtime(), utc_timestamp(), @@timestamp = 1700000000, localtime, now() = sysdate();
-- > 2023-11-14 22:13:20	2023-11-14 22:13:20	2023-11-14 22:13:20.000	1700000000	2023-11-14	22:13:20	2023-11-14 22:13:20	1	2023-11-14 22:13:20	0
create table t (id int primary key auto_increment, a timestamp default current_timestamp, b datetime(3) default current_timestamp(3) on update current_timestamp(3), n int);
insert into t (n) values (1),(2);
-- > rows affected: 2
insert into t (n) values (3);
-- > rows affected: 1
set timestamp = 1700000100.5;
update t set n = n + 1 where id = 1;
-- > rows affected: 1
update t set n = n + 1 where id = 2;
-- > rows affected: 1
select * from t;
-- > 1	2023-11-14 22:13:20	2023-11-14 22:15:00.500	2
-- > 2	2023-11-14 22:13:20	2023-11-14 22:15:00.500	3
-- > 3	2023-11-14 22:13:20	2023-11-14 22:13:20.000	3
select now(), now(6), date_add(now(), interval 1 day);
-- > 2023-11-14 22:15:00	2023-11-14 22:15:00.500000	2023-11-15 22:15:00
prepare s from 'insert into t (n) values (?)';
set @x = 9;
execute s using @x;
set timestamp = 1700000200;
execute s using @x;
select a, b from t where n = 9 order by id;
-- > 2023-11-14 22:15:00	2023-11-14 22:15:00.500
-- > 2023-11-14 22:16:40	2023-11-14 22:16:40.000
select count(*) from t where a = now();
-- > 1
select count(*) from t where a > now() - interval 50 second;
-- > 1
set timestamp = default;
select abs(now() - sysdate()) < 5, @@timestamp > 1700000300, abs(@@timestamp - unix_timestamp()) < 3;
-- > 1	1	1
set timestamp = 1000;
select now();
-- > 1970-01-01 00:16:40
set timestamp = 0;
select abs(now() - sysdate()) < 5;
-- > 1
-- differs: MySQL refuses it
set timestamp = -1;
-- mariadb> OK
-- moka> ERROR 1231 (42000)
set global timestamp = 5;
-- > ERROR 1228 (HY000)
set time_zone = '+02:00';
set timestamp = 1700000000;
select now(), utc_timestamp(), from_unixtime(unix_timestamp());
-- > 2023-11-15 00:13:20	2023-11-14 22:13:20	2023-11-15 00:13:20
set time_zone = '+00:00';
set insert_id = 50;
insert into t (n) values (10),(11);
-- > rows affected: 2
select last_insert_id();
-- > 50
insert into t (n) values (12);
-- > rows affected: 1
select id, n from t where n in (10,11,12) order by id;
-- > 50	10
-- > 51	11
-- > 52	12
set insert_id = 20;
insert into t (n) values (13),(14);
-- > rows affected: 2
insert into t (n) values (15);
-- > rows affected: 1
select id, n from t where n in (13,14,15) order by id;
-- > 20	13
-- > 21	14
-- > 53	15
set insert_id = 20;
insert into t (n) values (16);
-- > ERROR 1062 (23000)
insert into t (n) values (17);
-- > rows affected: 1
select id from t where n = 17;
-- > 54
create table log (id int primary key auto_increment, w int);
create trigger tr after insert on t for each row insert into log (w) values (new.id);
set insert_id = 100;
insert into t (n) values (20);
-- > rows affected: 1
select * from log;
-- > 1	100
select id from t where n = 20;
-- > 100
-- Triggers fire in the order in which they were created, whatever the time was said to be.
create table fired (n int auto_increment primary key, w varchar(9));
create trigger z2 after insert on log for each row insert into fired (w) values ('first');
create trigger a1 after insert on log for each row insert into fired (w) values ('second');
insert into log (w) values (1);
-- > rows affected: 1
select w from fired order by n;
-- > first
-- > second
set timestamp = default;
