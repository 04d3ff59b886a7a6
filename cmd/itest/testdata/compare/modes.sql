-- What SQL modes say of dates of zeros and of divisions by zero.
set sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO';
create table m (id int primary key, d date, t datetime, x double, n decimal(5,2), ts timestamp null);
insert into m (id, d) values (1, '0000-00-00');
-- > ERROR 1292 (22007)
insert into m (id, t) values (2, '0000-00-00 00:00:00');
-- > ERROR 1292 (22007)
insert into m (id, ts) values (2, '0000-00-00 00:00:00');
-- > ERROR 1292 (22007)
insert into m (id, d) values (3, '2020-00-01');
-- > ERROR 1292 (22007)
insert into m (id, d) values (3, 0);
-- > ERROR 1292 (22007)
insert into m (id, x) values (4, 1/0);
-- > ERROR 1365 (22012)
insert into m (id, n) values (5, 5 % 0);
-- > ERROR 1365 (22012)
insert into m (id, n) values (6, mod(5, 0));
-- > ERROR 1365 (22012)
insert into m (id, n) values (7, 5 div 0);
-- > ERROR 1365 (22012)
insert into m (id, n) select 7, 5 / 0;
-- > ERROR 1365 (22012)
replace into m (id, n) values (7, 5 / 0);
-- > ERROR 1365 (22012)
insert ignore into m (id, x, d) values (8, 1/0, '0000-00-00');
-- > rows affected: 1
select 1/0, 5 % 0, 5 div 0;
-- > NULL	NULL	NULL
select * from m;
-- > 8	0000-00-00	NULL	NULL	NULL	NULL
insert into m (id, n) values (9, 1) on duplicate key update x = 1/0;
-- > rows affected: 1
insert into m (id, n) values (9, 1) on duplicate key update x = 1/0;
-- > ERROR 1365 (22012)
insert into m (id, n) values (9, 1) on duplicate key update d = '0000-00-00';
-- > ERROR 1292 (22007)
update m set x = 1/0;
-- > ERROR 1365 (22012)
update m set d = '0000-00-00' where id = 9;
-- > ERROR 1292 (22007)
update m set t = '2020-02-00' where id = 9;
-- > ERROR 1292 (22007)
update ignore m set x = 1/0, t = '0000-00-00';
-- > rows affected: 2
select * from m order by id;
-- > 8	0000-00-00	0000-00-00 00:00:00	NULL	NULL	NULL
-- > 9	NULL	0000-00-00 00:00:00	NULL	1.00	NULL
create table dz (d date default '0000-00-00');
-- > ERROR 1067 (42000)
create table dz (id int, d datetime default '2020-01-01');
alter table dz add column e date default '0000-00-00';
-- > ERROR 1067 (42000)
create procedure divide() begin declare v int default 0; set v = 1; insert into m (id, x) values (50, 1 / 0); end;
call divide();
-- > ERROR 1365 (22012)
create trigger mt before insert on m for each row set new.n = 5 / new.id;
insert into m (id) values (0);
-- > ERROR 1365 (22012)
insert into m (id) values (2);
-- > rows affected: 1
drop trigger mt;
set sql_mode = 'STRICT_TRANS_TABLES';
insert into m (id, d) values (11, '0000-00-00');
-- > rows affected: 1
insert into m (id, t) values (12, '0000-00-00 00:00:00');
-- > rows affected: 1
insert into m (id, d) values (13, 0);
-- > rows affected: 1
insert into m (id, x) values (14, 1/0);
-- > rows affected: 1
show warnings;
-- > (no rows)
select 1/0;
-- > NULL
show warnings;
-- > (no rows)
create table dz2 (d date default '0000-00-00');
set sql_mode = 'NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO';
insert into m (id, d) values (21, '0000-00-00');
-- > rows affected: 1
show warnings;
-- > Warning	1264	Out of range value for column 'd' at row 1
insert into m (id, d) values (22, '2020-00-01');
-- > rows affected: 1
insert into m (id, x) values (23, 1/0);
-- > rows affected: 1
show warnings;
-- > Warning	1365	Division by 0
insert into m (id, d) values (24, 'x');
-- > rows affected: 1
update m set d = '0000-00-00', t = 'y' where id = 23;
-- > rows affected: 1
set sql_mode = '';
insert into m (id, d) values (31, '0000-00-00');
-- > rows affected: 1
insert into m (id, x) values (33, 1/0);
-- > rows affected: 1
show warnings;
-- > (no rows)
insert into m (id, d) values (34, 'x');
-- > rows affected: 1
select * from m order by id;
-- > 2	NULL	NULL	NULL	2.50	NULL
-- > 8	0000-00-00	0000-00-00 00:00:00	NULL	NULL	NULL
-- > 9	NULL	0000-00-00 00:00:00	NULL	1.00	NULL
-- > 11	0000-00-00	NULL	NULL	NULL	NULL
-- > 12	NULL	0000-00-00 00:00:00	NULL	NULL	NULL
-- > 13	0000-00-00	NULL	NULL	NULL	NULL
-- > 14	NULL	NULL	NULL	NULL	NULL
-- > 21	0000-00-00	NULL	NULL	NULL	NULL
-- > 22	0000-00-00	NULL	NULL	NULL	NULL
-- > 23	0000-00-00	0000-00-00 00:00:00	NULL	NULL	NULL
-- > 24	0000-00-00	NULL	NULL	NULL	NULL
-- > 31	0000-00-00	NULL	NULL	NULL	NULL
-- > 33	NULL	NULL	NULL	NULL	NULL
-- > 34	0000-00-00	NULL	NULL	NULL	NULL
-- Numbers that are dates.
set sql_mode = 'STRICT_TRANS_TABLES';
create table nd (id int primary key, d date, t datetime, f datetime(3), ts timestamp null);
insert into nd (id, d, t, ts) values (1, 20210304, 20210304101112, 20210304101112), (2, 210304, 210304101112, 991231235959), (3, 691231, 70101, 20210304), (4, 19990102.0, 20210304101112.2, null);
-- > rows affected: 4
insert into nd (id, f) values (5, 20210304101112.5), (6, 20210304101112.1234);
-- > rows affected: 2
insert into nd (id, d) select 7, 20240229;
-- > rows affected: 1
insert into nd (id, d) values (8, 20230229);
-- > ERROR 1292 (22007)
insert into nd (id, d) values (8, 123456789);
-- > ERROR 1292 (22007)
insert into nd (id, t) values (8, 20210304251112);
-- > ERROR 1292 (22007)
insert into nd (id, d) values (1, 1) on duplicate key update d = 20200101;
-- > ERROR 1292 (22007)
update nd set d = 20210305, t = 20210304101113 where id = 2;
-- > rows affected: 1
update nd set d = 20211305 where id = 2;
-- > ERROR 1292 (22007)
update nd set d = 'nothing' where id = 2;
-- > ERROR 1292 (22007)
select * from nd order by id;
-- > 1	2021-03-04	2021-03-04 10:11:12	NULL	2021-03-04 10:11:12
-- > 2	2021-03-05	2021-03-04 10:11:13	NULL	1999-12-31 23:59:59
-- > 3	2069-12-31	2007-01-01 00:00:00	NULL	2021-03-04 00:00:00
-- > 4	1999-01-02	2021-03-04 10:11:12	NULL	NULL
-- > 5	NULL	NULL	2021-03-04 10:11:12.500	NULL
-- > 6	NULL	NULL	2021-03-04 10:11:12.123	NULL
-- > 7	2024-02-29	NULL	NULL	NULL
-- Columns that are computed of others see what these hold.
create table g (id int primary key, a int, s int as (a * 10) stored, v int as (a * 100) virtual, b varchar(5), c varchar(20) as (concat(b, '!')) stored, d date, y int as (year(d)) stored, z int default (a * 7), key (v));
insert into g (id, a, b, d) values (1, 1.6, 5, '2020-01-02 10:00:00'), (2, '2.5', 1.50, 20210304);
-- > rows affected: 2
update g set a = 3.7 where id = 2;
-- > rows affected: 1
insert into g (id, a) values (1, 0) on duplicate key update a = 4.6;
-- > rows affected: 2
replace into g (id, a) values (5, 4.6);
-- > rows affected: 1
insert into g (id, a) select 6, 9.7;
-- > rows affected: 1
insert into g (id, a) values (7, 7000000000);
-- > ERROR 1264 (22003)
insert into g (id, a) values (7, 700000000);
-- > ERROR 1264 (22003)
select * from g order by id;
-- > 1	5	50	500	5	5!	2020-01-02	2020	14
-- > 2	4	40	400	1.50	1.50!	2021-03-04	2021	21
-- > 5	5	50	500	NULL	NULL	NULL	NULL	35
-- > 6	10	100	1000	NULL	NULL	NULL	NULL	70
select id from g where v > 0 order by id;
-- > 1
-- > 2
-- > 5
-- > 6
create trigger gi before insert on g for each row set new.a = new.a + 0.7;
insert into g (id, a, b) values (8, 1.6, 'x');
-- > rows affected: 1
drop trigger gi;
set sql_mode = '';
insert into g (id, a, b) values (3, 30, 'abcdefg');
-- > rows affected: 1
update g set b = 'qwertyui' where id = 2;
-- > rows affected: 1
insert ignore into g (id, a, b) values (4, '40x', 'abcdefg');
-- > rows affected: 1
select * from g order by id;
-- > 1	5	50	500	5	5!	2020-01-02	2020	14
-- > 2	4	40	400	qwert	qwert!	2021-03-04	2021	21
-- > 3	30	300	3000	abcde	abcde!	NULL	NULL	210
-- > 4	40	400	4000	abcde	abcde!	NULL	NULL	280
-- > 5	5	50	500	NULL	NULL	NULL	NULL	35
-- > 6	10	100	1000	NULL	NULL	NULL	NULL	70
-- > 8	3	30	300	x	x!	NULL	NULL	14
-- A text of nothing is no number.
create table e (id int auto_increment primary key, i int, d decimal(5,2), f double);
insert into e (i) values ('');
-- > rows affected: 1
-- differs: MariaDB names columns with their tables in 1366
show warnings;
-- mariadb> Warning	1366	Incorrect integer value: '' for column `cmp`.`e`.`i` at row 1
-- moka> Warning	1366	Incorrect integer value: '' for column 'i' at row 1
select i from e;
-- > 0
set sql_mode = 'STRICT_TRANS_TABLES';
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) values ('');
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
insert into e (d) values ('');
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
insert into e (f) values ('');
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) values (' ');
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
insert into e (i) values ('5 ');
-- > rows affected: 1
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) select '';
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
insert into e (id, i) values (1, 0) on duplicate key update i = '';
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
update e set i = '';
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
-- differs: MariaDB's SQLSTATE of 1366
update e set d = '', f = '';
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
insert ignore into e (d) values ('');
-- > rows affected: 1
select i, d, f from e order by id;
-- > 0	NULL	NULL
-- > 5	NULL	NULL
-- > NULL	0.00	NULL
-- TRADITIONAL is the name of several modes, strict ones among them.
CREATE TABLE traditional (e ENUM('a', 'b') NOT NULL, n TINYINT, d DATE);
SET sql_mode = 'TRADITIONAL';
SELECT FIND_IN_SET('STRICT_ALL_TABLES', @@sql_mode) > 0, FIND_IN_SET('NO_ZERO_DATE', @@sql_mode) > 0, FIND_IN_SET('TRADITIONAL', @@sql_mode) > 0, FIND_IN_SET('ANSI_QUOTES', @@sql_mode) > 0;
-- > 1	1	1	0
INSERT INTO traditional VALUES ('c', 1, NULL);
-- > ERROR 1265 (01000)
INSERT INTO traditional VALUES ('a', 1000, NULL);
-- > ERROR 1264 (22003)
INSERT INTO traditional VALUES ('a', 1, '2020-00-01');
-- > ERROR 1292 (22007)
INSERT INTO traditional VALUES ('a', 1 / 0, NULL);
-- > ERROR 1365 (22012)
SELECT COUNT(*) FROM traditional;
-- > 0
SET sql_mode = 'ANSI';
SELECT 'a' || 'b';
-- > ab
SET sql_mode = 'STRICT_TRANS_TABLES';
