-- What object mappers' own tests have found in functions.
create table dt (id int primary key, a datetime(6), b datetime, c date, d timestamp null);
insert into dt values (1,'2020-01-01 10:00:00.12345',null,'2021-02-03','2022-01-01 00:00:00'), (2,null,null,null,null);
-- > rows affected: 2
select sign(27.5), sign(-0.3), sign(cast(-0.4 as decimal(6,2))), sign(0), sign(cast(0.3 as double)), sign(5e-1), sign(null), sign('abc'), sign('-0.5'), sign(18446744073709551615);
-- > 1	-1	-1	0	1	1	NULL	0	-1	1
select week('2014-12-31',3), week('2015-12-31',3),week('2016-01-01',3), week('2014-12-31',1), week('2014-12-31',7), weekofyear('2014-12-31'), yearweek('2014-12-31'), yearweek('2014-12-31',3), week('2015-01-01'), week('2014-12-31'), week(null), week('2014-12-31', null), week('2008-02-20', 2), week('2000-01-01',2), week('2000-01-01',0), week('2019-12-30', 6), week('2019-12-30', 4), week('2019-12-30', 5), week('2017-01-01', 3);
-- > 1	53	53	53	52	1	201452	201501	0	52	NULL	52	7	52	0	1	53	52	52
select id, week(c, 3), week(a), week(c, id) from dt order by id;
-- > 1	5	0	5
-- > 2	NULL	NULL	NULL
select hex(char(65 using utf8mb4)), char(191 using utf16), char(8364 using utf16), hex(char(256)), hex(char(65,null,66)), hex(char(128512 using utf32)), char(77,121,83,81,'76' using utf8mb4);
-- > 41	¿	€	0100	4142	0001F600	MySQL
select coalesce(a,b), coalesce(a,convert('1900-01-01 00:00:00', datetime)), ifnull(a,b), coalesce(c,b), coalesce(c,c), if(id=1,a,c), greatest(coalesce(a,b),d), least(coalesce(a,convert('1900-01-01 00:00:00', datetime)), coalesce(d,convert('1900-01-01 00:00:00', datetime))) from dt order by id;
-- > 2020-01-01 10:00:00.123450	2020-01-01 10:00:00.123450	2020-01-01 10:00:00.123450	2021-02-03 00:00:00	2021-02-03	2020-01-01 10:00:00.123450	2022-01-01 00:00:00.000000	2020-01-01 10:00:00.123450
-- > NULL	1900-01-01 00:00:00.000000	NULL	NULL	NULL	NULL	NULL	1900-01-01 00:00:00.000000
-- characters by their numbers
create table chars (c varchar(10)) character set utf8mb4;
insert into chars values ('J'), ('é'), ('John'), (null);
-- > rows affected: 4
select hex(c), c = char(74 using utf16) from chars order by c;
-- > NULL	NULL
-- > C3A9	0
-- > 4A	1
-- > 4A6F686E	0
select hex(c) from chars where c = char(233 using utf16);
-- > C3A9
select count(*) from chars where not (c = char(74 using utf16) and char(74 using utf16) is not null);
-- > 2
select hex(char(74 using utf16)), hex(char(233 using utf16)), char_length(char(233 using utf16)), char(65, 66 using utf8mb4);
-- > 004A	00E9	1	AB
select c from chars where left(c, 1) = char(ord('J') using utf16) order by c;
-- > J
-- > John
select hex(char(233)), char_length(char(195, 169)), charset(char(65)), char(65) = 'a', charset(char(65 using utf16));
-- > E9	2	binary	0	utf16
select c from chars where c = char(106 using utf8mb4);
-- > J
select char(255 using utf8mb4), hex(char(233 using latin1));
-- > NULL	E9
-- NTH_VALUE
create table nth (id int, g int);
insert into nth values (1, 1), (2, 1), (3, 2), (4, 2), (5, 2);
-- > rows affected: 5
select id, nth_value(id, 2) over (order by id) from nth order by id;
-- > 1	NULL
-- > 2	2
-- > 3	2
-- > 4	2
-- > 5	2
select id, nth_value(g, 4) over (order by g) from nth order by id;
-- > 1	NULL
-- > 2	NULL
-- > 3	2
-- > 4	2
-- > 5	2
select id, nth_value(id, 3) over (partition by g order by id rows between unbounded preceding and unbounded following) from nth order by id;
-- > 1	NULL
-- > 2	NULL
-- > 3	5
-- > 4	5
-- > 5	5
set @v = '2020-01-01';
-- differs: MySQL has the digits of a fraction of what is no literal, MariaDB looks at its value
select unix_timestamp(@v);
-- mariadb> 1577836800
-- moka> 1577836800.000000
select unix_timestamp(@nosuch);
-- > NULL
select unix_timestamp('2020-01-01 00:00:00.5');
-- > 1577836800.5
select round(timestamp'2020-01-01 00:00:00') + 0;
-- > 20200101000000
select truncate(date'2020-01-01', 0) + 0, round(date'2020-01-01', -2) + 0;
-- > 20200101	20200100
