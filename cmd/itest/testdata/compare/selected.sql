-- What CREATE TABLE … SELECT makes nullable; zero dates; GREATEST and LEAST.
create table e (a int not null, d date not null, n decimal(5,2) not null);
create table e1 as select max(a) m, min(d) x, sum(a) s, avg(n) av, count(*) c, max(n) mn from e;
select * from e1;
-- > NULL	NULL	NULL	NULL	0	NULL
create table e2 select a.a, b.d from e a left join e b on a.a = b.a;
insert into e values (1,'2024-01-01',1.5);
-- > rows affected: 1
create table e3 select a.a, b.d, count(*) c, 5 as k, 'x' as s from e a left join e b on a.a = b.a + 1 group by a.a, b.d;
select * from e3;
-- > 1	NULL	1	5	x
create table e4 select a, d, a + 1 p, concat(a, 'x') q, count(*) c from e group by a, d;
create table e5 select x.a, x.m, e.n from (select a, max(d) m from e group by a) x, e;
create table e6 (z int not null) select 5 as z;
create table e7 select a, row_number() over (order by a) r, lag(a) over (order by a) l, (select max(a) from e where a > 100) s from e;
select * from e7;
-- > 1	1	NULL	NULL
create table e8 (k int primary key) select 7 as k, max(d) as x from e;
select * from e8;
-- > 7	2024-01-01
select table_name t, column_name c, is_nullable n from information_schema.columns where table_schema = 'cmp' and concat(table_name, '.', column_name) in ('e1.m', 'e1.x', 'e1.c', 'e1.mn', 'e2.d', 'e3.d', 'e4.a', 'e4.c', 'e5.m', 'e5.n', 'e6.z') order by 1, 2;
-- > e1	c	NO
-- > e1	m	YES
-- > e1	mn	YES
-- > e1	x	YES
-- > e2	d	YES
-- > e3	d	YES
-- > e4	a	NO
-- > e4	c	NO
-- > e5	m	YES
-- > e5	n	NO
-- > e6	z	NO
set sql_mode='';
create table z (id int primary key auto_increment, d date, dt datetime(3), ts timestamp(3) null, t time(2), y year, key(d), key(ts), key(dt));
insert into z (d,dt,ts,t,y) values ('0000-00-00','0000-00-00','0000-00-00','00:00:00',0),('2024-01-01','2024-01-01 10:00:00.125','2024-01-01 10:00:00.125','10:00:00.25',2024),(null,null,null,null,null),('2024-01-02','2024-01-02 10:00:00.5','2024-01-02 10:00:00.5','-01:00:00.5',1999);
-- > rows affected: 4
select id from z where d = 0;
-- > 1
select id from z where d = '0000-00-00';
-- > 1
select id from z ignore index(d) where d = 0;
-- > 1
select id from z where dt = 0;
-- > 1
select id from z where dt = '0000-00-00 00:00:00';
-- > 1
select id from z where dt = '0000-00-00';
-- > 1
select id from z where ts = 0;
-- > 1
select id from z where ts = '0000-00-00 00:00:00';
-- > 1
select id from z where ts = '0000-00-00';
-- > 1
select id from z where ts <> 0 order by id;
-- > 2
-- > 4
select id from z where d <> 0 order by id;
-- > 2
-- > 4
select id from z where d > 0 order by id;
-- > 2
-- > 4
select id from z where ts > 0 order by id;
-- > 2
-- > 4
select id from z where d in (0, '2024-01-01') order by id;
-- > 1
-- > 2
select id from z where d in ('0000-00-00', '2024-01-01') order by id;
-- > 1
-- > 2
select id from z where d between '0000-00-00' and '2024-01-01' order by id;
-- > 1
-- > 2
select id from z where d <= '0000-00-00' order by id;
-- > 1
select id from z where d < '2024-01-01' order by id;
-- > 1
select id from z where d >= '0000-00-00' order by id;
-- > 1
-- > 2
-- > 4
select id from z where d is null order by id;
-- > 3
select id, d = 0, dt = 0, ts = 0, t = 0, d+0, ts+0 from z order by id;
-- > 1	1	1	1	1	0	0.000
-- > 2	0	0	0	0	20240101	20240101100000.125
-- > 3	NULL	NULL	NULL	NULL	NULL	NULL
-- > 4	0	0	0	0	20240102	20240102100000.500
select id from z where t = 0 order by id;
-- > 1
select count(*) from z where d = 0 or id = 2;
-- > 2
select group_concat(greatest(t, t) = t order by id), max(least(t, '00:00:00') = t) from z;
-- > 1,1,1	1
delete from z where d = 0;
-- > rows affected: 1
select count(*) from z;
-- > 3
set sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY';
select greatest(9007199254740993, 1), least(9007199254740993, 9007199254740995), greatest(18446744073709551615, 1), least(-1, 18446744073709551615);
-- > 9007199254740993	9007199254740993	18446744073709551615	-1
select greatest('a','B'), least('a','B'), greatest('a','A'), greatest('b','ab'), least('10','9'), greatest(10,'9'), greatest('10',9), greatest('abc', 1), least(1.5, 2), greatest(1.25, 1), greatest(1e0, 2.5);
-- > B	a	a	b	10	10	10	1	1.5	1.25	2.5
select greatest(1, null), least(null, 'a'), greatest(null, null);
-- > NULL	NULL	NULL
select greatest(0.1, 0.2, 0.30), least(99999999999999999999.5, 99999999999999999999.25);
-- > 0.30	99999999999999999999.25
select greatest(x'61', 'B'), greatest(2, 10, 3), least(2,10,3), greatest('2','10'), greatest(true, 0);
-- > a	10	2	2	1
