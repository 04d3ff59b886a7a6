-- USING and NATURAL JOIN: which columns there are, in which order, and what a bare name means.
-- prints: names of columns
create table t1 (a int, b int, c int);
create table t2 (a int, c int, d int);
create table t3 (a int, e int);
create table t4 (d int, a int, b int);
create table n1 (c int, b int);
create table n2 (b int, d int);
create table arch (c int, b int);
insert into t1 values (1,10,100),(2,20,200),(3,30,300),(null,40,400);
-- > rows affected: 4
insert into t2 values (1,100,7),(2,201,8),(4,400,9),(null,400,10);
-- > rows affected: 4
insert into t3 values (1,5),(4,6),(5,7);
-- > rows affected: 3
insert into t4 values (7,1,10),(8,2,21),(9,4,40);
-- > rows affected: 3
insert into n1 values (1,2),(3,4);
-- > rows affected: 2
insert into n2 values (2,20),(4,40),(5,50);
-- > rows affected: 3
-- The rows of the report.
select * from (t1 join t2 using (a)), t3;
-- > # a	b	c	c	d	a	e
-- > 1	10	100	100	7	1	5
-- > 1	10	100	100	7	4	6
-- > 1	10	100	100	7	5	7
-- > 2	20	200	201	8	1	5
-- > 2	20	200	201	8	4	6
-- > 2	20	200	201	8	5	7
select * from t1 natural join t2 natural join t3;
-- > # a	c	b	d	e
-- > 1	100	10	7	5
insert into arch select n1.* from n1 join n2 using (b);
-- > rows affected: 2
select * from arch order by c;
-- > # c	b
-- > 1	2
-- > 3	4
-- The order of columns.
select * from t1 join t2 using (a);
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
select * from t1 join t2 using (c);
-- > # c	a	b	a	d
-- > 100	1	10	1	7
-- > 400	NULL	40	4	9
-- > 400	NULL	40	NULL	10
select * from t1 join t2 using (c, a);
-- > # a	c	b	d
-- > 1	100	10	7
select * from t1 join t2 using (a, c);
-- > # a	c	b	d
-- > 1	100	10	7
select * from t2 join t1 using (c);
-- > # c	a	d	a	b
-- > 100	1	7	1	10
-- > 400	4	9	NULL	40
-- > 400	NULL	10	NULL	40
select * from t1 left join t2 using (a);
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
-- > 3	30	300	NULL	NULL
-- > NULL	40	400	NULL	NULL
select * from t1 left join t2 using (c);
-- > # c	a	b	a	d
-- > 100	1	10	1	7
-- > 200	2	20	NULL	NULL
-- > 300	3	30	NULL	NULL
-- > 400	NULL	40	4	9
-- > 400	NULL	40	NULL	10
select * from t1 right join t2 using (a);
-- > # a	c	d	b	c
-- > 1	100	7	10	100
-- > 2	201	8	20	200
-- > 4	400	9	NULL	NULL
-- > NULL	400	10	NULL	NULL
select * from t1 right join t2 using (c);
-- > # c	a	d	a	b
-- > 100	1	7	1	10
-- > 201	2	8	NULL	NULL
-- > 400	4	9	NULL	40
-- > 400	NULL	10	NULL	40
select * from t1 right join t2 using (c, a);
-- > # a	c	d	b
-- > 1	100	7	10
-- > 2	201	8	NULL
-- > 4	400	9	NULL
-- > NULL	400	10	NULL
select * from t1 natural join t2;
-- > # a	c	b	d
-- > 1	100	10	7
select * from t1 natural left join t2;
-- > # a	c	b	d
-- > 1	100	10	7
-- > 2	200	20	NULL
-- > 3	300	30	NULL
-- > NULL	400	40	NULL
select * from t1 natural right join t2;
-- > # a	c	d	b
-- > 1	100	7	10
-- > 2	201	8	NULL
-- > 4	400	9	NULL
-- > NULL	400	10	NULL
select * from t4 natural join t1;
-- > # a	b	d	c
-- > 1	10	7	100
select * from t4 natural left join t1;
-- > # a	b	d	c
-- > 1	10	7	100
-- > 2	21	8	NULL
-- > 4	40	9	NULL
select * from t4 natural right join t1;
-- > # a	b	c	d
-- > 1	10	100	7
-- > 2	20	200	NULL
-- > 3	30	300	NULL
-- > NULL	40	400	NULL
select * from t1 inner join t2 using (a);
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
select * from t1 left outer join t2 using (a);
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
-- > 3	30	300	NULL	NULL
-- > NULL	40	400	NULL	NULL
select * from t1 natural left outer join t2;
-- > # a	c	b	d
-- > 1	100	10	7
-- > 2	200	20	NULL
-- > 3	300	30	NULL
-- > NULL	400	40	NULL
select * from n2 natural join t3;
-- > # b	d	a	e
-- > 2	20	1	5
-- > 2	20	4	6
-- > 2	20	5	7
-- > 4	40	1	5
-- > 4	40	4	6
-- > 4	40	5	7
-- > 5	50	1	5
-- > 5	50	4	6
-- > 5	50	5	7
select * from n2 natural left join t3;
-- > # b	d	a	e
-- > 2	20	1	5
-- > 2	20	4	6
-- > 2	20	5	7
-- > 4	40	1	5
-- > 4	40	4	6
-- > 4	40	5	7
-- > 5	50	1	5
-- > 5	50	4	6
-- > 5	50	5	7
select * from n2 natural right join t3 where e > 5;
-- > # a	e	b	d
-- > 4	6	2	20
-- > 4	6	4	40
-- > 4	6	5	50
-- > 5	7	2	20
-- > 5	7	4	40
-- > 5	7	5	50
select t1.* from t1 join t2 using (c);
-- > # a	b	c
-- > 1	10	100
-- > NULL	40	400
-- > NULL	40	400
select t2.* from t1 join t2 using (c);
-- > # a	c	d
-- > 1	100	7
-- > 4	400	9
-- > NULL	400	10
select t2.*, t1.* from t1 join t2 using (c);
-- > # a	c	d	a	b	c
-- > 1	100	7	1	10	100
-- > 4	400	9	NULL	40	400
-- > NULL	400	10	NULL	40	400
select t2.* from t1 right join t2 using (c);
-- > # a	c	d
-- > 1	100	7
-- > 2	201	8
-- > 4	400	9
-- > NULL	400	10
select t1.*, t2.* from t1 natural left join t2;
-- > # a	b	c	a	c	d
-- > 1	10	100	1	100	7
-- > 2	20	200	NULL	NULL	NULL
-- > 3	30	300	NULL	NULL	NULL
-- > NULL	40	400	NULL	NULL	NULL
select x.*, y.a from t1 x join t2 y using (c);
-- > # a	b	c	a
-- > 1	10	100	1
-- > NULL	40	400	4
-- > NULL	40	400	NULL
select * from t1 x join t2 y using (c);
-- > # c	a	b	a	d
-- > 100	1	10	1	7
-- > 400	NULL	40	4	9
-- > 400	NULL	40	NULL	10
select * from t1 x join t1 y using (c);
-- > # c	a	b	a	b
-- > 100	1	10	1	10
-- > 200	2	20	2	20
-- > 300	3	30	3	30
-- > 400	NULL	40	NULL	40
select * from t1 x natural join t1 y;
-- > # a	b	c
-- > 1	10	100
-- > 2	20	200
-- > 3	30	300
select x.* from t1 x left join t1 y using (c, a);
-- > # a	b	c
-- > 1	10	100
-- > 2	20	200
-- > 3	30	300
-- > NULL	40	400
-- Bare names.
select a from t1 join t2 using (a);
-- > # a
-- > 1
-- > 2
select a, b, t1.c, t2.c from t1 join t2 using (a);
-- > # a	b	c	c
-- > 1	10	100	100
-- > 2	20	200	201
select a, t1.a, t2.a from t1 left join t2 using (a);
-- > # a	a	a
-- > 1	1	1
-- > 2	2	2
-- > 3	3	NULL
-- > NULL	NULL	NULL
select a, t1.a, t2.a from t1 right join t2 using (a);
-- > # a	a	a
-- > 1	1	1
-- > 2	2	2
-- > 4	NULL	4
-- > NULL	NULL	NULL
select a, c from t1 natural right join t2;
-- > # a	c
-- > 1	100
-- > 2	201
-- > 4	400
-- > NULL	400
select a + 1, a * 2 x from t1 right join t2 using (a);
-- > # a + 1	x
-- > 2	2
-- > 3	4
-- > 5	8
-- > NULL	NULL
select a from t1 left join t2 using (a) where a > 1;
-- > # a
-- > 2
-- > 3
select d from t1 right join t2 using (a) where a is null;
-- > # d
-- > 10
select d from t1 right join t2 using (a) where a = 4;
-- > # d
-- > 9
select d from t1 right join t2 using (a) where t1.a is null;
-- > # d
-- > 10
-- > 9
select a, count(*) from t1 left join t2 using (a) group by a;
-- > # a	count(*)
-- > 1	1
-- > 2	1
-- > 3	1
-- > NULL	1
select a, count(*) from t1 right join t2 using (a) group by a;
-- > # a	count(*)
-- > 1	1
-- > 2	1
-- > 4	1
-- > NULL	1
select a, count(*) n from t1 join t2 using (a) group by a having a > 1;
-- > # a	n
-- > 2	1
select a, count(*) n from t1 right join t2 using (a) group by a having n > 0 and a > 1;
-- > # a	n
-- > 2	1
-- > 4	1
select sum(a) from t1 right join t2 using (a);
-- > # sum(a)
-- > 7
select sum(a) s from t1 join t2 using (a) having sum(a) > 2;
-- > # s
-- > 3
select a from t1 join t2 using (a) order by a desc;
-- > # a
-- > 2
-- > 1
select a from t1 right join t2 using (a) order by a;
-- > # a
-- > NULL
-- > 1
-- > 2
-- > 4
select b from t1 join t2 using (a) order by a desc;
-- > # b
-- > 20
-- > 10
select b from t1 left join t2 using (a) order by -a;
-- > # b
-- > 40
-- > 30
-- > 20
-- > 10
select t1.a from t1 right join t2 using (a) order by a, d;
-- > # a
-- > NULL
-- > NULL
-- > 1
-- > 2
select b as a from t1 join t2 using (a) order by a desc;
-- > # a
-- > 20
-- > 10
select -b as a from t1 join t2 using (a) order by a;
-- > # a
-- > -20
-- > -10
select distinct a from t1 join t2 using (a) order by a;
-- > # a
-- > 1
-- > 2
select distinct a from t1 natural right join t2 order by 1;
-- > # a
-- > NULL
-- > 1
-- > 2
-- > 4
select a from t1 join t2 using (a) limit 0;
-- > # a
-- > (no rows)
select max(a), min(c) from t1 natural right join t2;
-- > # max(a)	min(c)
-- > 4	100
select group_concat(a order by a desc) from t1 right join t2 using (a);
-- > # group_concat(a order by a desc)
-- > 4,2,1
select count(distinct a) from t1 right join t2 using (a);
-- > # count(distinct a)
-- > 3
select a, row_number() over (order by a) from t1 right join t2 using (a) order by a;
-- > # a	row_number() over (order by a)
-- > NULL	1
-- > 1	2
-- > 2	3
-- > 4	4
select case a when 1 then 'one' else 'other' end from t1 join t2 using (a) order by a;
-- > # case a when 1 then 'one' else 'other' end
-- > one
-- > other
select a in (1, 3), a between 1 and 2, a is null from t1 right join t2 using (a) order by d;
-- > # a in (1, 3)	a between 1 and 2	a is null
-- > 1	1	0
-- > 0	1	0
-- > 0	0	0
-- > NULL	NULL	1
select A from t1 join t2 using (A) where A = 1;
-- > # A
-- > 1
select t1.A, A from t1 join t2 using (a) where A = 1;
-- > # A	A
-- > 1	1
-- Errors.
select c from t1 join t2 using (a);
-- > ERROR 1052 (23000)
select a from t1 join t2 on t1.a = t2.a;
-- > ERROR 1052 (23000)
select * from t1 join t2 using (b);
-- > ERROR 1054 (42S22)
select * from t1 join t2 using (nope);
-- > ERROR 1054 (42S22)
select * from t1 join nope using (a);
-- > ERROR 1146 (42S02)
select * from nope join t1 using (a);
-- > ERROR 1146 (42S02)
select * from t1 join t2 using (a, nope);
-- > ERROR 1054 (42S22)
select a from (t1 join t2 using (a)), t3;
-- > ERROR 1052 (23000)
select t3.a from (t1 join t2 using (a)), t3 where a = 1;
-- > ERROR 1052 (23000)
select * from t1 join t2 on t1.a = t2.a join t3 using (a);
-- > ERROR 1052 (23000)
select * from t3 join (t1 join t2 on t1.a = t2.a) using (a);
-- > ERROR 1052 (23000)
select * from (t1 join t2 on t1.a = t2.a) natural join t3;
-- > ERROR 1052 (23000)
select * from t3 natural join (t1 join t2 on t1.a = t2.a);
-- > ERROR 1052 (23000)
select c from t1 join t2 using (a) join t3 using (a);
-- > ERROR 1052 (23000)
select c from t1 join t2 using (a) where c = 1;
-- > ERROR 1052 (23000)
select 1 from t1 join t2 using (a) where c = 1;
-- > ERROR 1052 (23000)
-- differs: GROUP BY takes the first of several columns of the name, with ON as well
select 1 from t1 join t2 using (a) group by c;
-- mariadb> ERROR 1052 (23000)
-- moka> # 1
-- moka> 1
-- moka> 1
select 1 from t1 join t2 using (a) order by c;
-- > ERROR 1052 (23000)
select nope from t1 join t2 using (a);
-- > ERROR 1054 (42S22)
select t3.a from t1 join t2 using (a);
-- > ERROR 1054 (42S22)
select t4.* from t1 join t2 using (a);
-- > ERROR 1051 (42S02)
select * from t1 join t1 using (a);
-- > ERROR 1066 (42000)
-- Nests.
select * from t1 join t2 using (a) join t3 using (a);
-- > # a	b	c	c	d	e
-- > 1	10	100	100	7	5
select * from t1 join (t2 join t3 using (a)) using (a);
-- > # a	b	c	c	d	e
-- > 1	10	100	100	7	5
select * from t1 left join t2 using (a) left join t3 using (a);
-- > # a	b	c	c	d	e
-- > 1	10	100	100	7	5
-- > 2	20	200	201	8	NULL
-- > 3	30	300	NULL	NULL	NULL
-- > NULL	40	400	NULL	NULL	NULL
select * from t1 left join (t2 left join t3 using (a)) using (a);
-- > # a	b	c	c	d	e
-- > 1	10	100	100	7	5
-- > 2	20	200	201	8	NULL
-- > 3	30	300	NULL	NULL	NULL
-- > NULL	40	400	NULL	NULL	NULL
select * from t1 right join t2 using (a) right join t3 using (a);
-- > # a	e	c	d	b	c
-- > 1	5	100	7	10	100
-- > 4	6	400	9	NULL	NULL
-- > 5	7	NULL	NULL	NULL	NULL
select * from t1 right join (t2 right join t3 using (a)) using (a);
-- > # a	e	c	d	b	c
-- > 1	5	100	7	10	100
-- > 4	6	400	9	NULL	NULL
-- > 5	7	NULL	NULL	NULL	NULL
select * from (t1 right join t2 using (a)) left join t3 using (a);
-- > # a	c	d	b	c	e
-- > 1	100	7	10	100	5
-- > 2	201	8	20	200	NULL
-- > 4	400	9	NULL	NULL	6
-- > NULL	400	10	NULL	NULL	NULL
select * from t3 left join (t1 right join t2 using (a)) using (a);
-- > # a	e	c	d	b	c
-- > 1	5	100	7	10	100
-- > 4	6	400	9	NULL	NULL
-- > 5	7	NULL	NULL	NULL	NULL
select * from t3 right join (t1 left join t2 using (c)) on t3.e = b;
-- > # a	e	c	a	b	a	d
-- > NULL	NULL	100	1	10	1	7
-- > NULL	NULL	200	2	20	NULL	NULL
-- > NULL	NULL	300	3	30	NULL	NULL
-- > NULL	NULL	400	NULL	40	4	9
-- > NULL	NULL	400	NULL	40	NULL	10
select * from t1 natural join t2 natural left join t4;
-- > # a	b	d	c
-- > 1	10	7	100
select * from t1 natural join (t2 natural join t4);
-- > # a	b	c	d
-- > 1	10	100	7
select * from (t1 natural join t2) natural right join t4;
-- > # d	a	b	c
-- > 7	1	10	100
-- > 8	2	21	NULL
-- > 9	4	40	NULL
select * from t1 natural left join (t2 natural right join t3);
-- > # a	c	b	e	d
-- > 1	100	10	5	7
-- > 2	200	20	NULL	NULL
-- > 3	300	30	NULL	NULL
-- > NULL	400	40	NULL	NULL
select * from (t1 join t2 using (a)) join (t3 join t4 using (a)) using (a);
-- > # a	b	c	c	d	e	d	b
-- > 1	10	100	100	7	5	7	10
select * from (t1 join t2 using (a)) join (t3 join t4 using (a)) on t1.a = t3.a;
-- > # a	b	c	c	d	a	e	d	b
-- > 1	10	100	100	7	1	5	7	10
select * from (t1 join t2 using (a)) natural join (t3 join t4 using (a));
-- > # a	b	d	c	c	e
-- > 1	10	7	100	100	5
select * from t1 join t2 using (a) join t3 on t1.b = t3.e * 2;
-- > # a	b	c	c	d	a	e
-- > 1	10	100	100	7	1	5
select * from t1 join t2 using (a) join t3 on a = e - 4;
-- > ERROR 1052 (23000)
select * from t1 join t2 using (a) left join t3 on a = t3.a;
-- > ERROR 1052 (23000)
select * from t3, t1 join t2 using (a);
-- > # a	e	a	b	c	c	d
-- > 1	5	1	10	100	100	7
-- > 1	5	2	20	200	201	8
-- > 4	6	1	10	100	100	7
-- > 4	6	2	20	200	201	8
-- > 5	7	1	10	100	100	7
-- > 5	7	2	20	200	201	8
select * from t3, (t1 join t2 using (a)), t4;
-- > # a	e	a	b	c	c	d	d	a	b
-- > 1	5	1	10	100	100	7	7	1	10
-- > 1	5	1	10	100	100	7	8	2	21
-- > 1	5	1	10	100	100	7	9	4	40
-- > 1	5	2	20	200	201	8	7	1	10
-- > 1	5	2	20	200	201	8	8	2	21
-- > 1	5	2	20	200	201	8	9	4	40
-- > 4	6	1	10	100	100	7	7	1	10
-- > 4	6	1	10	100	100	7	8	2	21
-- > 4	6	1	10	100	100	7	9	4	40
-- > 4	6	2	20	200	201	8	7	1	10
-- > 4	6	2	20	200	201	8	8	2	21
-- > 4	6	2	20	200	201	8	9	4	40
-- > 5	7	1	10	100	100	7	7	1	10
-- > 5	7	1	10	100	100	7	8	2	21
-- > 5	7	1	10	100	100	7	9	4	40
-- > 5	7	2	20	200	201	8	7	1	10
-- > 5	7	2	20	200	201	8	8	2	21
-- > 5	7	2	20	200	201	8	9	4	40
select * from t3 cross join t1 natural join t2;
-- > ERROR 1052 (23000)
select t3.*, t1.*, t2.* from t3, (t1 natural join t2);
-- > # a	e	a	b	c	a	c	d
-- > 1	5	1	10	100	1	100	7
-- > 4	6	1	10	100	1	100	7
-- > 5	7	1	10	100	1	100	7
select t3.a, t1.a from t3, (t1 join t2 using (a));
-- > # a	a
-- > 1	1
-- > 1	2
-- > 4	1
-- > 4	2
-- > 5	1
-- > 5	2
select b from t3, (t1 join t2 using (a)) where t3.a = t1.a;
-- > # b
-- > 10
select * from ((t1 join t2 using (a)));
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
select * from ((t1 left join t2 using (a)) join t3 on t3.a = t1.a);
-- > # a	b	c	c	d	a	e
-- > 1	10	100	100	7	1	5
select * from (t1 join t2 on t1.a = t2.c) join n1 using (b);
-- > # b	a	c	a	c	d	c
-- > (no rows)
select * from n1 join (t1 join t2 on t1.a = t2.a) using (b);
-- > # b	c	a	c	a	c	d
-- > (no rows)
select * from n1 right join (t1 right join t2 on t1.a = t2.a) using (b);
-- > # b	a	c	a	c	d	c
-- > 10	1	100	1	100	7	NULL
-- > 20	2	200	2	201	8	NULL
-- > NULL	NULL	NULL	4	400	9	NULL
-- > NULL	NULL	NULL	NULL	400	10	NULL
select * from n1 natural left join n2 natural left join t1;
-- > # b	c	d	a
-- > 2	1	20	NULL
-- > 4	3	40	NULL
select a, b, c from t1 natural join t2 natural left join t3 where a = 1;
-- > # a	b	c
-- > 1	10	100
select a from t1 left join t2 using (a) left join t3 using (a) where a >= 2 order by a;
-- > # a
-- > 2
-- > 3
select a from t1 right join t2 using (a) right join t3 using (a) order by a;
-- > # a
-- > 1
-- > 4
-- > 5
-- Derived tables, views, common table expressions.
select * from (select * from t1 join t2 using (a, c)) x;
-- > # a	c	b	d
-- > 1	100	10	7
select x.a, x.d from (select * from t1 natural join t2) x where x.c = 100;
-- > # a	d
-- > 1	7
select * from (select a, b from t1) x join (select a, d from t2) y using (a);
-- > # a	b	d
-- > 1	10	7
-- > 2	20	8
select * from (select a, b from t1) x natural left join (select d, a from t2) y;
-- > # a	b	d
-- > 1	10	7
-- > 2	20	8
-- > 3	30	NULL
-- > NULL	40	NULL
select * from (select a + 1 as k, b from t1) x join (select a k, d from t2) y using (k);
-- > # k	b	d
-- > 2	10	8
-- > 4	30	9
select * from (select * from t1) x natural join (select * from t2) y;
-- > # a	c	b	d
-- > 1	100	10	7
select * from (select t2.* from t1 join t2 using (c)) x natural join t3;
-- > # a	c	d	e
-- > 1	100	7	5
-- > 4	400	9	6
select * from (select a from t1 union select a from t2) x join t3 using (a);
-- > # a	e
-- > 1	5
-- > 4	6
select * from t1 join (select a, count(*) n from t2 group by a) x using (a);
-- > # a	b	c	n
-- > 1	10	100	1
-- > 2	20	200	1
create view v1 as select * from t1 join t2 using (a, c);
create view v2 as select t2.* from t1 join t2 using (c);
create view v3 (p, q) as select a, d from t1 right join t2 using (a);
create view v4 as select a, b from t1 natural join t2 where a < 5;
select * from v1;
-- > # a	c	b	d
-- > 1	100	10	7
select * from v2;
-- > # a	c	d
-- > 1	100	7
-- > 4	400	9
-- > NULL	400	10
select * from v3;
-- > # p	q
-- > 1	7
-- > 2	8
-- > 4	9
-- > NULL	10
select * from v4;
-- > # a	b
-- > 1	10
select * from v1 join t3 using (a);
-- > # a	c	b	d	e
-- > 1	100	10	7	5
select * from v1 natural join v2;
-- > # a	c	d	b
-- > 1	100	7	10
select * from v3 natural join v4;
-- > # p	q	a	b
-- > 1	7	1	10
-- > 2	8	1	10
-- > 4	9	1	10
-- > NULL	10	1	10
select a, q from v4 join v3 on p = a;
-- > # a	q
-- > 1	7
select table_name t, column_name c from information_schema.columns where table_schema = 'cmp' and table_name in ('v1', 'v2') order by 1, ordinal_position;
-- > # t	c
-- > v1	a
-- > v1	c
-- > v1	b
-- > v1	d
-- > v2	a
-- > v2	c
-- > v2	d
create view v5 as select * from v1 natural left join v2;
select * from v5;
-- > # a	c	d	b
-- > 1	100	7	10
create view bad as select * from t1 join t2 using (nope);
-- > ERROR 1054 (42S22)
with x as (select a, b from t1), y as (select d, a from t2) select * from x join y using (a);
-- > # a	b	d
-- > 1	10	7
-- > 2	20	8
with x as (select * from t1 join t2 using (a, c)) select * from x natural join t3;
-- > # a	c	b	d	e
-- > 1	100	10	7	5
with x (p, a) as (select a, c from t1) select * from x join t3 on p = t3.a join t2 on t2.c = x.a;
-- > # p	a	a	e	a	c	d
-- > 1	100	1	5	1	100	7
with x (p, a) as (select c, a from t1) select * from x natural join t3;
-- > # a	p	e
-- > 1	100	5
with recursive r as (select 1 as a, 0 as n union all select a + 1, n + 1 from r join t1 using (a)) select * from r;
-- > # a	n
-- > 1	0
-- > 2	1
-- > 3	2
-- > 4	3
with recursive r (a, n) as (select 1, 0 union all select r.a + 1, n + b from r natural join t1) select * from r natural left join t3;
-- > # a	n	e
-- > 1	0	5
-- > 2	10	NULL
-- > 3	30	NULL
-- > 4	60	6
-- Subqueries and outer names.
select a from t1 where a in (select a from t2 join t3 using (a));
-- > # a
-- > 1
select a, (select e from t3 where t3.a = t1.a) from t1 join t2 using (a);
-- > # a	(select e from t3 where t3.a = t1.a)
-- > 1	5
-- > 2	NULL
select a, (select max(e) from t3 where t3.a <= b) from t1 join t2 using (a);
-- > # a	(select max(e) from t3 where t3.a <= b)
-- > 1	7
-- > 2	7
select b, (select count(*) from n2 where n2.d > a) n from t1 join t2 using (a);
-- > # b	n
-- > 10	3
-- > 20	3
select b from t1 right join t2 using (a) where exists (select 1 from n2 where n2.b = a);
-- > # b
-- > 20
-- > NULL
select b from t1 join t2 using (a) where a = any (select a from t3);
-- > # b
-- > 10
select b, (select a) from t1 join t2 using (a);
-- > # b	(select a)
-- > 10	1
-- > 20	2
select d, (select a from t3 where e = 5) from t1 right join t2 using (a) order by d;
-- > # d	(select a from t3 where e = 5)
-- > 7	1
-- > 8	1
-- > 9	1
-- > 10	1
select d, (select a + e from n1, (select 1 e) z limit 1) from t1 right join t2 using (a) order by d;
-- > # d	(select a + e from n1, (select 1 e) z limit 1)
-- > 7	2
-- > 8	3
-- > 9	5
-- > 10	NULL
select (select a from t1 join t2 using (a) where a = 1);
-- > # (select a from t1 join t2 using (a) where a = 1)
-- > 1
select * from t3 where exists (select * from t1 join t2 using (a) where t1.a = t3.a);
-- > # a	e
-- > 1	5
select * from t3 where a in (select a from t1 right join t2 using (a));
-- > # a	e
-- > 1	5
-- > 4	6
select e from t3 where e > (select min(a) from t1 natural right join t2);
-- > # e
-- > 5
-- > 6
-- > 7
set @x = (select max(a) from t1 right join t2 using (a));
select @x;
-- > # @x
-- > 4
select a from t1 join t2 using (a) union select a from t1 right join t2 using (a) order by a;
-- > # a
-- > NULL
-- > 1
-- > 2
-- > 4
(select a from t1 join t2 using (a)) union all (select a from t3) order by a desc limit 2;
-- > # a
-- > 5
-- > 4
select * from t1 join t2 using (a) where (a, d) in (select a, d from t4);
-- > # a	b	c	c	d
-- > 1	10	100	100	7
-- > 2	20	200	201	8
-- Statements that write.
create table w1 (id int primary key, x int);
create table w2 (id int primary key, x int, y int);
insert into w1 values (1,1),(2,2),(3,3);
-- > rows affected: 3
insert into w2 values (1,10,0),(2,20,0),(4,40,0);
-- > rows affected: 3
update w1 join w2 using (id) set y = w1.x where id > 1;
-- > rows affected: 1
select * from w2 order by id;
-- > # id	x	y
-- > 1	10	0
-- > 2	20	2
-- > 4	40	0
update w1 join w2 using (id) set w1.x = w2.x, y = id;
-- > rows affected: 3
select * from w1 order by id;
-- > # id	x
-- > 1	10
-- > 2	20
-- > 3	3
select * from w2 order by id;
-- > # id	x	y
-- > 1	10	1
-- > 2	20	2
-- > 4	40	0
update w1 left join w2 using (id) set w1.x = -1 where w2.id is null;
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 1	10
-- > 2	20
-- > 3	-1
update w1 natural join w2 set y = 99;
-- > rows affected: 2
select * from w2 order by id;
-- > # id	x	y
-- > 1	10	99
-- > 2	20	99
-- > 4	40	0
update w1 join w2 using (nope) set y = 1;
-- > ERROR 1054 (42S22)
update w1 join w2 using (id) set x = 1;
-- > ERROR 1052 (23000)
delete w1 from w1 join w2 using (id) where id = 1;
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 2	20
-- > 3	-1
delete from w1 using w1 join w2 using (id) where y > 1;
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 3	-1
delete w1, w2 from w1 right join w2 using (id) where id = 4;
-- > rows affected: 1
select * from w2 order by id;
-- > # id	x	y
-- > 1	10	99
-- > 2	20	99
insert into w1 select id, y from w2 left join (select 1 as id, 2 as z) q using (id) where id < 2;
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 1	99
-- > 3	-1
insert into w1 (x, id) select * from (select 7 as x, 70 as id) p natural join (select 70 as id) q;
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 1	99
-- > 3	-1
-- > 7	70
insert into w1 select id, y from w2 join (select 1 as id) q using (id) on duplicate key update w1.x = w1.x + y;
-- > rows affected: 2
select * from w1 order by id;
-- > # id	x
-- > 1	198
-- > 3	-1
-- > 7	70
replace into w1 select id, d from t4 join (select 1 as a, 5 as id) q using (a);
-- > rows affected: 1
select * from w1 order by id;
-- > # id	x
-- > 1	198
-- > 3	-1
-- > 5	7
-- > 7	70
create table c1 as select * from t1 join t2 using (a, c);
select * from c1;
-- > # a	c	b	d
-- > 1	100	10	7
create table c2 select t2.* from t1 join t2 using (c);
select * from c2;
-- > # a	c	d
-- > 1	100	7
-- > 4	400	9
-- > NULL	400	10
create table c3 select a, b from t1 right join t2 using (a);
select * from c3;
-- > # a	b
-- > 1	10
-- > 2	20
-- > 4	NULL
-- > NULL	NULL
create table c4 select * from t1 join t2 using (a);
-- > ERROR 1060 (42S21)
-- Prepared, routines.
prepare p from 'select * from t1 join t2 using (c, a) where a = ?';
set @one = 1;
execute p using @one;
-- > # a	c	b	d
-- > 1	100	10	7
alter table t1 add z int default 5 first;
execute p using @one;
-- > # a	c	z	b	d
-- > 1	100	5	10	7
select t1.* from t1 join t2 using (c);
-- > # z	a	b	c
-- > 5	1	10	100
-- > 5	NULL	40	400
-- > 5	NULL	40	400
deallocate prepare p;
create function f(n int) returns int reads sql data return (select max(d) from t1 right join t2 using (a) where a = n);
select f(1), f(4);
-- > # f(1)	f(4)
-- > 7	9
create procedure pr(a int) select t1.*, t2.a from t1 join t2 using (c) order by t1.c;
call pr(9);
-- > # z	a	b	c	a
-- > 5	1	10	100	1
-- > 5	NULL	40	400	4
-- > 5	NULL	40	400	NULL
create procedure pa(n int) select n, d, a from t1 right join t2 using (a) where a = n;
call pa(4);
-- > # n	d	a
-- > 4	9	4
create table logged (k int, v int);
create trigger tr after insert on t3 for each row insert into logged select a, d from t1 right join t2 using (a) where a = new.a;
insert into t3 values (2, 1), (4, 2);
-- > rows affected: 2
select * from logged;
-- > # k	v
-- > 2	8
-- > 4	9
-- Other things named in FROM.
select * from t1 join t2 using (a) for update;
-- > # a	z	b	c	c	d
-- > 1	5	10	100	100	7
-- > 2	5	20	200	201	8
select y from w1 use index (primary) join w2 force index (primary) using (id) where w1.id = 2;
-- > # y
-- > (no rows)
select schema_name s from information_schema.schemata join (select 'cmp' as schema_name) q using (schema_name);
-- > # s
-- > cmp
select s.table_name t from information_schema.tables s natural join (select 't1' as table_name, 'cmp' as table_schema) q;
-- > # t
-- > t1
select * from t1 join t2 using (`a`) where t1.`a` = 1;
-- > # a	z	b	c	c	d
-- > 1	5	10	100	100	7
select * from cmp.t1 join cmp.t2 using (a) where a = 1;
-- > # a	z	b	c	c	d
-- > 1	5	10	100	100	7
select cmp.t1.a, t2.a from cmp.t1 join cmp.t2 using (a) where a = 1;
-- > # a	a
-- > 1	1
select straight_join a from t1 join t2 using (a);
-- > # a
-- > 1
-- > 2
explain select * from nope join t2 using (a);
-- > ERROR 1146 (42S02)
