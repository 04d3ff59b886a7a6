-- What SQL modes say of dates of zeros and of divisions by zero.
set sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO';
create table m (id int primary key, d date, t datetime, x double, n decimal(5,2), ts timestamp null);
insert into m (id, d) values (1, '0000-00-00');
insert into m (id, t) values (2, '0000-00-00 00:00:00');
insert into m (id, ts) values (2, '0000-00-00 00:00:00');
insert into m (id, d) values (3, '2020-00-01');
insert into m (id, d) values (3, 0);
insert into m (id, x) values (4, 1/0);
insert into m (id, n) values (5, 5 % 0);
insert into m (id, n) values (6, mod(5, 0));
insert into m (id, n) values (7, 5 div 0);
insert into m (id, n) select 7, 5 / 0;
replace into m (id, n) values (7, 5 / 0);
insert ignore into m (id, x, d) values (8, 1/0, '0000-00-00');
select 1/0, 5 % 0, 5 div 0;
select * from m;
insert into m (id, n) values (9, 1) on duplicate key update x = 1/0;
insert into m (id, n) values (9, 1) on duplicate key update x = 1/0;
insert into m (id, n) values (9, 1) on duplicate key update d = '0000-00-00';
update m set x = 1/0;
update m set d = '0000-00-00' where id = 9;
update m set t = '2020-02-00' where id = 9;
update ignore m set x = 1/0, t = '0000-00-00';
select * from m order by id;
create table dz (d date default '0000-00-00');
create table dz (id int, d datetime default '2020-01-01');
alter table dz add column e date default '0000-00-00';
create procedure divide() begin declare v int default 0; set v = 1; insert into m (id, x) values (50, 1 / 0); end;
call divide();
create trigger mt before insert on m for each row set new.n = 5 / new.id;
insert into m (id) values (0);
insert into m (id) values (2);
drop trigger mt;
set sql_mode = 'STRICT_TRANS_TABLES';
insert into m (id, d) values (11, '0000-00-00');
insert into m (id, t) values (12, '0000-00-00 00:00:00');
insert into m (id, d) values (13, 0);
insert into m (id, x) values (14, 1/0);
show warnings;
select 1/0;
show warnings;
create table dz2 (d date default '0000-00-00');
set sql_mode = 'NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO';
insert into m (id, d) values (21, '0000-00-00');
show warnings;
insert into m (id, d) values (22, '2020-00-01');
insert into m (id, x) values (23, 1/0);
show warnings;
insert into m (id, d) values (24, 'x');
update m set d = '0000-00-00', t = 'y' where id = 23;
set sql_mode = '';
insert into m (id, d) values (31, '0000-00-00');
insert into m (id, x) values (33, 1/0);
show warnings;
insert into m (id, d) values (34, 'x');
select * from m order by id;
-- Numbers that are dates.
set sql_mode = 'STRICT_TRANS_TABLES';
create table nd (id int primary key, d date, t datetime, f datetime(3), ts timestamp null);
insert into nd (id, d, t, ts) values (1, 20210304, 20210304101112, 20210304101112), (2, 210304, 210304101112, 991231235959), (3, 691231, 70101, 20210304), (4, 19990102.0, 20210304101112.2, null);
insert into nd (id, f) values (5, 20210304101112.5), (6, 20210304101112.1234);
insert into nd (id, d) select 7, 20240229;
insert into nd (id, d) values (8, 20230229);
insert into nd (id, d) values (8, 123456789);
insert into nd (id, t) values (8, 20210304251112);
insert into nd (id, d) values (1, 1) on duplicate key update d = 20200101;
update nd set d = 20210305, t = 20210304101113 where id = 2;
update nd set d = 20211305 where id = 2;
update nd set d = 'nothing' where id = 2;
select * from nd order by id;
-- Columns that are computed of others see what these hold.
create table g (id int primary key, a int, s int as (a * 10) stored, v int as (a * 100) virtual, b varchar(5), c varchar(20) as (concat(b, '!')) stored, d date, y int as (year(d)) stored, z int default (a * 7), key (v));
insert into g (id, a, b, d) values (1, 1.6, 5, '2020-01-02 10:00:00'), (2, '2.5', 1.50, 20210304);
update g set a = 3.7 where id = 2;
insert into g (id, a) values (1, 0) on duplicate key update a = 4.6;
replace into g (id, a) values (5, 4.6);
insert into g (id, a) select 6, 9.7;
insert into g (id, a) values (7, 7000000000);
insert into g (id, a) values (7, 700000000);
select * from g order by id;
select id from g where v > 0 order by id;
create trigger gi before insert on g for each row set new.a = new.a + 0.7;
insert into g (id, a, b) values (8, 1.6, 'x');
drop trigger gi;
set sql_mode = '';
insert into g (id, a, b) values (3, 30, 'abcdefg');
update g set b = 'qwertyui' where id = 2;
insert ignore into g (id, a, b) values (4, '40x', 'abcdefg');
select * from g order by id;
-- A text of nothing is no number.
create table e (id int auto_increment primary key, i int, d decimal(5,2), f double);
insert into e (i) values ('');
-- differs: MariaDB names columns with their tables in 1366
show warnings;
select i from e;
set sql_mode = 'STRICT_TRANS_TABLES';
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) values ('');
-- differs: MariaDB's SQLSTATE of 1366
insert into e (d) values ('');
-- differs: MariaDB's SQLSTATE of 1366
insert into e (f) values ('');
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) values (' ');
insert into e (i) values ('5 ');
-- differs: MariaDB's SQLSTATE of 1366
insert into e (i) select '';
-- differs: MariaDB's SQLSTATE of 1366
insert into e (id, i) values (1, 0) on duplicate key update i = '';
-- differs: MariaDB's SQLSTATE of 1366
update e set i = '';
-- differs: MariaDB's SQLSTATE of 1366
update e set d = '', f = '';
insert ignore into e (d) values ('');
select i, d, f from e order by id;
-- TRADITIONAL is the name of several modes, strict ones among them.
CREATE TABLE traditional (e ENUM('a', 'b') NOT NULL, n TINYINT, d DATE);
SET sql_mode = 'TRADITIONAL';
SELECT FIND_IN_SET('STRICT_ALL_TABLES', @@sql_mode) > 0, FIND_IN_SET('NO_ZERO_DATE', @@sql_mode) > 0, FIND_IN_SET('TRADITIONAL', @@sql_mode) > 0, FIND_IN_SET('ANSI_QUOTES', @@sql_mode) > 0;
INSERT INTO traditional VALUES ('c', 1, NULL);
INSERT INTO traditional VALUES ('a', 1000, NULL);
INSERT INTO traditional VALUES ('a', 1, '2020-00-01');
INSERT INTO traditional VALUES ('a', 1 / 0, NULL);
SELECT COUNT(*) FROM traditional;
SET sql_mode = 'ANSI';
SELECT 'a' || 'b';
SET sql_mode = 'STRICT_TRANS_TABLES';
