-- CHECK on tables with VIRTUAL columns, which the check may or may not name. MariaDB's number for a check that fails is 4025.
create table c (id int primary key, a int, v int generated always as (a * 2) virtual, b varchar(10), constraint small check (v < 100), constraint named check (b <> 'no'), key (v));
insert into c (id, a, b) values (1, 10, 'x'), (2, null, null);
-- > rows affected: 2
-- differs: MariaDB's number is 4025
insert into c (id, a) values (3, 50);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
insert into c (id, b) values (3, 'no');
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
insert into c (id, a) values (4, 1), (5, 70);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
select id, a, v, b from c order by id;
-- > 1	10	20	x
-- > 2	NULL	NULL	NULL
-- differs: MariaDB's number is 4025
insert into c (id, a) select 6, 60;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
update c set a = 50 where id = 1;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
update c set b = 'no';
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
update c set a = 49 where id = 1;
-- > rows affected: 1
-- differs: MariaDB's number is 4025
update c set a = a + 1 where v = 98;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
replace into c (id, a) values (1, 77);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
replace into c (id, a) values (1, 7);
-- > rows affected: 2
-- differs: MariaDB's number is 4025
insert into c (id, a) values (1, 1) on duplicate key update a = 80;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
insert into c (id, a) values (1, 1) on duplicate key update a = 30;
-- > rows affected: 2
insert ignore into c (id, a) values (7, 500), (8, 8);
-- > rows affected: 1
update ignore c set a = 49 + id;
-- > rows affected: 0
select id, a, v, b from c order by id;
-- > 1	30	60	NULL
-- > 2	NULL	NULL	NULL
-- > 8	8	16	NULL
select id from c where v = 96;
-- > (no rows)
create table d (id int primary key, n int);
insert into d values (1, 40), (2, 60);
-- > rows affected: 2
-- differs: MariaDB's number is 4025
update c join d on c.id = d.id set c.a = d.n, d.n = 0;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
update d join c on c.id = d.id set d.n = 0, c.a = 90;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
update c join d on c.id = d.id set c.a = d.n - 20, d.n = 0;
-- > rows affected: 4
select id, a, v, b from c order by id;
-- > 1	20	40	NULL
-- > 2	40	80	NULL
-- > 8	8	16	NULL
select * from d order by id;
-- > 1	0
-- > 2	0
-- differs: MariaDB's number is 4025
update c set a = 90 where id in (select id from d);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
update c set a = 9 where id in (select id from d);
-- > rows affected: 2
create trigger ci before insert on c for each row set new.a = new.a + 1;
create trigger cu before update on c for each row set new.a = new.a + 1;
-- differs: MariaDB's number is 4025
insert into c (id, a) values (20, 49);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
insert into c (id, a) values (20, 48);
-- > rows affected: 1
-- differs: MariaDB's number is 4025
update c set a = 49 where id = 20;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
insert into c (id, a) values (20, 1) on duplicate key update a = 49;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
insert into c (id, a) values (20, 1) on duplicate key update a = 47;
-- > rows affected: 2
select id, a, v from c where v between 94 and 98 order by id;
-- > 20	48	96
drop trigger ci;
drop trigger cu;
-- ALTER TABLE.
create table e (id int primary key, a int, v int as (a + 1) virtual);
insert into e (id, a) values (1, 10);
-- > rows affected: 1
-- differs: MariaDB's number is 4025
alter table e add constraint k check (v < 10);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
alter table e add constraint k check (v < 20), add check (a > 0);
-- differs: MariaDB's number is 4025
insert into e (id, a) values (2, 19);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB's number is 4025
insert into e (id, a) values (2, 0);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
alter table e add column w int as (v * 2) virtual;
alter table e add constraint q check (w < 30);
-- differs: MariaDB's number is 4025
insert into e (id, a) values (2, 14);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MariaDB has no number of its own for columns that others are computed of
alter table e drop column v;
-- mariadb> ERROR 1054 (42S22)
-- moka> ERROR 3108 (HY000)
alter table e drop constraint q;
insert into e (id, a) values (2, 14);
-- > rows affected: 1
alter table e drop constraint k;
insert into e (id, a) values (3, 100);
-- > rows affected: 1
select constraint_name from information_schema.check_constraints where constraint_schema = database() and constraint_name in ('small', 'named', 'k', 'q') order by 1;
-- > named
-- > small
create table p (id int primary key);
create table f (id int primary key, p int, v int as (p + 1) virtual, constraint fp foreign key (p) references p (id));
insert into f (id, p) values (1, 1);
-- > ERROR 1452 (23000)
alter table f drop constraint fp;
insert into f (id, p) values (1, 1);
-- > rows affected: 1
-- Through a view.
create view cv as select id, a, v from c where v < 50 with check option;
insert into cv (id, a) values (30, 20);
-- > rows affected: 1
-- differs: MariaDB's SQLSTATE
insert into cv (id, a) values (31, 30);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
-- differs: MariaDB's SQLSTATE
update cv set a = 26 where id = 30;
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
update cv set a = 22 where id = 30;
-- > rows affected: 1
select * from cv order by id;
-- > 1	9	18
-- > 2	9	18
-- > 8	8	16
-- > 30	22	44
-- In bodies.
create procedure put(i int, n int) begin insert into c (id, a) values (i, n); update c set a = a + 10 where id = i; end;
call put(40, 30);
-- differs: MariaDB's number is 4025
call put(42, 60);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
select id, a, v from c where id >= 40 order by id;
-- > 40	40	80
