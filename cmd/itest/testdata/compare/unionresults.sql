-- What is above a UNION goes by the type that its parts have in common: orders, aggregates, comparisons,
-- views, common table expressions, subqueries, tables that are made of it, parameters.
-- runs: each query is prepared, too
SELECT 10 q UNION ALL SELECT 9.5e0 UNION ALL SELECT 100 ORDER BY q;
-- > 9.5
-- > 10
-- > 100
SELECT 1 UNION SELECT 2.50;
-- > 1.00
-- > 2.50
SELECT 1 UNION SELECT 2.50 UNION SELECT 'x';
-- > 1
-- > 2.50
-- > x
SELECT 'x' union (SELECT 1 union SELECT 1.00);
-- > 1.00
-- > x
(SELECT 1 UNION SELECT 2.50) UNION SELECT 'x';
-- > 1.00
-- > 2.50
-- > x
(SELECT 1 q UNION SELECT 2 order by q desc LIMIT 1) UNION SELECT 3;
-- > 2
-- > 3
(SELECT 10 q UNION SELECT 9 order by q LIMIT 1) UNION SELECT 'a';
-- > 9
-- > a
create table t(a int, b decimal(5,2), c varchar(5), d double, e bigint unsigned, f date, g enum('z','a'));
insert into t values(1,2.5,'x',1.5e0,18446744073709551615,'2024-01-02','z'),(10,3,'y',2,5,'2024-02-02','a'),(null,null,null,null,null,null,null);
-- > rows affected: 3
create table u(a bigint, d int, c varchar(10));
insert into u values(-1,4,'hello'),(7,9,'w');
-- > rows affected: 2
select a from t union all select b from t order by a;
-- > NULL
-- > NULL
-- > 1.00
-- > 2.50
-- > 3.00
-- > 10.00
select a from t union all select d from t order by 1 desc;
-- > 10
-- > 2
-- > 1.5
-- > 1
-- > NULL
-- > NULL
select e from t union all select a from u order by 1;
-- > NULL
-- > -1
-- > 5
-- > 7
-- > 18446744073709551615
select sum(x.a) from (select a from t union all select b from t) x;
-- > 16.50
select max(x.a) from (select a from t union all select d from t) x;
-- > 10
select x.a+1 from (select a from t union all select b from t) x where x.a > 2 order by 1;
-- > 3.50
-- > 4.00
-- > 11.00
select * from t union all select a,b,c,d,e,f,g from t order by a,b limit 3;
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > 1	2.50	x	1.5	18446744073709551615	2024-01-02	z
select a,c from t union all select * from (select a, d from u) y order by 1,2;
-- > NULL	NULL
-- > -1	4
-- > 1	x
-- > 7	9
-- > 10	y
select g from t union select g from t order by g;
-- > NULL
-- > a
-- > z
select g from t union all select 1 order by 1;
-- > NULL
-- > 1
-- > a
-- > z
select f from t union select '2024-05-05' order by 1;
-- > NULL
-- > 2024-01-02
-- > 2024-02-02
-- > 2024-05-05
select f from t union select 5 order by 1;
-- > NULL
-- > 2024-01-02
-- > 2024-02-02
-- > 5
select distinct a from t union all select c from t order by 1;
-- > NULL
-- > NULL
-- > 1
-- > 10
-- > x
-- > y
select a from t group by a union all select c from u order by 1;
-- > NULL
-- > 1
-- > 10
-- > hello
-- > w
(select a from t order by a desc limit 1) union all select 'q' order by 1;
-- > 10
-- > q
create view vj as select a, d from u;
SELECT (SELECT MIN(x.q) FROM (SELECT ABS(2) p, a q FROM t UNION ALL SELECT 1, d FROM vj) x WHERE x.q > -1);
-- > 1
SELECT if((SELECT MIN(x.q) FROM (SELECT ABS(2) p, a q FROM t UNION ALL SELECT 1, d FROM vj) x WHERE x.q > -1) > 0,'y','n');
-- > y
SELECT * from (select case when (SELECT MIN(x.q) FROM (SELECT ABS(2) p, a q FROM t UNION ALL SELECT 1, d FROM vj) x WHERE x.q > -1) > 0 then 'y' else 'n' end k) z;
-- > y
SELECT * from (select (SELECT MIN(x.q) FROM (SELECT ABS(2) p, a q FROM t UNION ALL SELECT 1, d FROM vj) x) > 0 k, if((SELECT MIN(x.q) FROM (SELECT ABS(2) p, a q FROM t UNION ALL SELECT 1, d FROM vj) x),1,2) l) z;
-- > 1	1
SELECT (SELECT MAX(x.q) FROM (SELECT 2 p, a q FROM t UNION ALL SELECT 1, d FROM u) x) p;
-- > 10
create table ct as select a, b from t union all select d, a from u union all select b, d from t;
select * from ct order by 1,2;
-- > NULL	NULL
-- > NULL	NULL
-- > 1.00	2.5
-- > 2.50	1.5
-- > 3.00	2
-- > 4.00	-1
-- > 9.00	7
-- > 10.00	3
create view vv as select a from t union all select b from t union all select d from t;
select * from vv order by a;
-- > NULL
-- > NULL
-- > NULL
-- > 1
-- > 1.5
-- > 2
-- > 2.5
-- > 3
-- > 10
select max(a), min(a), avg(a) from vv;
-- > 10	1	3.3333333333333335
select a from t where exists (select 1 from u where u.a = t.a union select 'x' from u where t.a=10);
-- > 10
select t.a, (select t.b union all select 1e0 limit 1) s from t order by 1;
-- > NULL	NULL
-- > 1	2.5
-- > 10	3
with c as (select a from t union select b from t) select * from c order by a;
-- > NULL
-- > 1.00
-- > 2.50
-- > 3.00
-- > 10.00
with c as (select a from t union select b from t), e as (select a from c union all select 'p') select * from e order by a;
-- > NULL
-- > 1.00
-- > 10.00
-- > 2.50
-- > 3.00
-- > p
with recursive r as (select 1 n, cast('a' as char(20)) s union all select n+1, concat(s,'b') from r where n<3) select * from r;
-- > 1	a
-- > 2	ab
-- > 3	abb
with recursive r as (select 1 n union all select 2.5 union all select n+1 from r where n<3) select * from r order by n;
-- > 1.0
-- > 2.0
-- > 2.5
-- > 3.0
-- > 3.5
insert into u(c) select a from t union all select b from t;
-- > rows affected: 6
select c from u order by 1;
-- > NULL
-- > NULL
-- > 1.00
-- > 10.00
-- > 2.50
-- > 3.00
-- > hello
-- > w
prepare p from 'select ? q union all select ? order by q';
set @a=10,@b=9.5,@c='x',@d=9e0;
execute p using @a,@b;
-- > 10.0
-- > 9.5
execute p using @a,@d;
-- > 10
-- > 9
execute p using @a,@c;
-- > 10
-- > x
execute p using @c,@c;
-- > x
-- > x
prepare p2 from 'select a from t union all select * from (select b from t) y union all select ? order by 1';
execute p2 using @a;
-- > 1.00
-- > 10.00
-- > 10.00
-- > 2.50
-- > 3.00
-- > NULL
-- > NULL
execute p2 using @c;
-- > 1
-- > 10
-- > 2.50
-- > 3.00
-- > NULL
-- > NULL
-- > x
execute p2 using @d;
-- > 1
-- > 10
-- > 2.5
-- > 3
-- > 9
-- > NULL
-- > NULL
select a from t intersect select b from t;
-- > NULL
select 1 intersect select 1.00;
-- > 1.00
select a from t except select 10.0 order by 1;
-- > NULL
-- > 1.0
select a from t except all select b from t order by 1;
-- > 1.00
-- > 10.00
select true union select 2;
-- > 1
-- > 2
select count(*) from (select a from t union select b from t union select d from t) x;
-- > 7
select x.a from (select a from t union all select b from t) x join t on t.a=x.a order by 1;
-- > 1.00
-- > 10.00
select concat(a) from (select 123e-1 a union all select 'x') z;
-- > 12.3
-- > x
select 'a' union select 'A';
-- > a
select c from t union select 5;
-- > 5
-- > NULL
-- > x
-- > y
select 1 as d, 2 as d union all select 1.5, 2.5 union all select 'a','b';
-- > 1	2
-- > 1.5	2.5
-- > a	b
select (select 1 union select 1.0);
-- > 1.0
select a, count(*) from (select a from t union all select b from t) x group by a order by a;
-- > NULL	2
-- > 1.00	1
-- > 2.50	1
-- > 3.00	1
-- > 10.00	1
select a from t union all select b from t order by a+0;
-- > NULL
-- > NULL
-- > 1.00
-- > 2.50
-- > 3.00
-- > 10.00
select a x from t union all select b from t having 1;
-- > 1.00
-- > 10.00
-- > 2.50
-- > 3.00
-- > NULL
-- > NULL
select *, 1 from t union all select t.*, 2.5 from t order by a, b, 8;
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	1.0
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	2.5
-- > 1	2.50	x	1.5	18446744073709551615	2024-01-02	z	1.0
-- > 1	2.50	x	1.5	18446744073709551615	2024-01-02	z	2.5
-- > 10	3.00	y	2	5	2024-02-02	a	1.0
-- > 10	3.00	y	2	5	2024-02-02	a	2.5
select 1 from t where 10 in (select a from t union select b from t);
-- > 1
-- > 1
-- > 1
select 1 from t where 3 in (select a from t union select b from t);
-- > 1
-- > 1
-- > 1
update t set a = (select max(q) from (select 1 q union select 2.7) z) where a = 1;
-- > rows affected: 1
select a from t order by a;
-- > NULL
-- > 3
-- > 10
delete from t where a in (select q from (select 3 q union select 4.4) z);
-- > rows affected: 1
select a from t order by a;
-- > NULL
-- > 10
do (select 1 union select 2.5 limit 1);
select t.c from t union select u.c from u order by c;
-- > NULL
-- > 1.00
-- > 10.00
-- > 2.50
-- > 3.00
-- > hello
-- > w
-- > y
select null union all select 1;
-- > 1
-- > NULL
select null, 1 union all select 2.5, null;
-- > 2.5	NULL
-- > NULL	1
-- trees that are bound more than once
prepare p3 from 'select a from t union all select d from u order by 1';
execute p3;
-- > 10
-- > 4
-- > 9
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
alter table t modify a decimal(8,3);
execute p3;
-- > 10.000
-- > 4.000
-- > 9.000
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
alter table u modify d varchar(9);
execute p3;
-- > 10.000
-- > 4
-- > 9
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
-- > NULL
create table t2(a decimal(8,3), z int);
insert into t2 values (10, 3), (5, 5);
-- > rows affected: 2
prepare p4 from 'select * from t2 natural join t union all select 1.5, 2, 3, 4, 5, 6, 7, 8 order by 1';
execute p4;
-- > 1.500	2	3.00	4	5	6	7	8
-- > 10.000	3	3.00	y	2	5	2024-02-02	a
alter table t2 modify z double;
execute p4;
-- > 1.500	2	3.00	4	5	6	7	8
-- > 10.000	3	3.00	y	2	5	2024-02-02	a
create procedure pr(x int) select x q union all select 2.5 union all select b from t order by q;
call pr(1);
-- > 1.00
-- > 2.50
-- > 3.00
-- > NULL
call pr(30);
-- > 2.50
-- > 3.00
-- > 30.00
-- > NULL
create function fu(x int) returns decimal(10,4) deterministic return (select sum(q) from (select x q union all select 2.5 union all select b from t) s);
select fu(1), fu(2);
-- > 6.5000	7.5000
create table logged(q decimal(10,3));
create trigger tr after insert on t2 for each row insert into logged select new.z union all select 1.25;
insert into t2 values (1, 10);
-- > rows affected: 1
insert into t2 values (2, 20);
-- > rows affected: 1
select * from logged order by q;
-- > 1.250
-- > 1.250
-- > 10.000
-- > 20.000
select a from (select a from (select a from (select 1 a union all select 2.5) x union all select 3e0) y union all select 'z') v order by 1;
-- > 1
-- > 2.5
-- > 3
-- > z
select (select (select max(a) from (select 1 a union all select 2.50) x) union select 10 order by 1 limit 1) q union all select 100 order by 1;
-- > 2.50
-- > 100.00
insert into t2 select 7, 7 union all select 8.5, 9;
-- > rows affected: 2
select * from t2 order by 1;
-- > 1.000	10
-- > 2.000	20
-- > 5.000	5
-- > 7.000	7
-- > 8.500	9
-- > 10.000	3
select * from (select a, 'p' k from t2 union all select z, 5 from t2 union all select null, null) x where a between 2 and 8 order by a, k;
-- > 2	p
-- > 3	5
-- > 5	5
-- > 5	p
-- > 7	5
-- > 7	p
select x.a from (select a from t2 union all select z from t2) x group by x.a having x.a > 6 order by x.a;
-- > 7
-- > 8.5
-- > 9
-- > 10
-- > 20
select t2.z, x.q from t2 left join (select 7 q union all select 8.5 union all select 9e0) x on x.q = t2.a order by 1, 2;
-- > 3	NULL
-- > 5	NULL
-- > 7	7
-- > 9	8.5
-- > 10	NULL
-- > 20	NULL
