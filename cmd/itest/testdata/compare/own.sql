-- Aggregates of a subquery that are spelled as one of a query around it, and those that are the query's around it.
create table u (id int primary key, name varchar(20), age int);
insert into u values(1,'a',10),(2,'a',20),(3,'b',30),(4,'c',40);
-- > rows affected: 4
select name, avg(age) x from u where name like '%' group by name having avg(age) > (select avg(age) from u where id<4) order by name;
-- > b	30.0000
-- > c	40.0000
select avg(age) as x from u group by name having avg(age) > (select avg(age) from u) order by 1;
-- > 30.0000
-- > 40.0000
select avg(age) as avgage from u group by name having avg(age) > (select avg(age) from u where name like '%') order by 1;
-- > 30.0000
-- > 40.0000
select avg(age) as x from u group by name having avg(age) > (select avg(v.age) from u v) order by 1;
-- > 30.0000
-- > 40.0000
select sum(age) as x from u group by name having (select count(*) from u v where v.age > sum(u.age)) > 0 order by 1;
-- > 30
-- > 30
select (select avg(age) from u) a, avg(age) b from u group by name order by 2;
-- > 25.0000	15.0000
-- > 25.0000	30.0000
-- > 25.0000	40.0000
select avg(age) b, (select avg(age) from u) a from u group by name order by 1;
-- > 15.0000	25.0000
-- > 30.0000	25.0000
-- > 40.0000	25.0000
select avg(age) b from u group by name order by (select avg(age) from u), 1;
-- > 15.0000
-- > 30.0000
-- > 40.0000
select name from u group by name having avg(age) > (select avg(age) from u) order by name;
-- > b
-- > c
select sum(age) from u having sum(age) > (select sum(age)-1 from u where id < 3);
-- > 100
select count(*) b, (select count(*) from u where id>2) a from u;
-- > 4	2
select count(id) b, (select count(id) from u where id>2) a from u;
-- > 4	2
select max(age) b, (select max(age) from u where id<2) a from u;
-- > 40	10
select name, count(*) c from u group by name having count(*) > (select count(*) from u where id > 3) order by 1;
-- > a	2
select max(age) b, (select max(v.age) from u v where v.id<2) a from u;
-- > 40	10
select max(v.age) b, (select max(v.age) from u v where v.id<2) a from u v;
-- > 40	10
select u.name, sum(u.age) s, (select sum(u.age) from u where u.id=1) t from u group by u.name order by 1;
-- > a	30	10
-- > b	30	10
-- > c	40	10
select group_concat(name order by id), (select group_concat(name order by id) from u where id < 3) x from u;
-- > a,a,b,c	a,a
select avg(age), (select d.`avg(age)` from (select avg(age) from u where id=1) d) x from u;
-- > 25.0000	10.0000
select sum(age) s, (select sum(age) from u where id = (select max(id) from u where age < (select max(age) from u)) having sum(age) > 0) x, max(age) m, max(id) from u;
-- > 100	30	40	4
select count(distinct name), (select count(distinct name) from u where id < 3) from u;
-- > 3	1
select name, max(age), (select max(age) from u i where i.name = o.name and i.id > 1) z from u o group by name order by 1;
-- > a	20	20
-- > b	30	30
-- > c	40	40
select name from u o group by name having max(age) >= (select max(o.age) from u i limit 1) order by 1;
-- > a
-- > b
-- > c
select max(age) from u union select (select max(age) from u where id<3) from u order by 1;
-- > 20
-- > 40
select sum(age) from u where age > (select avg(age) from u) having sum(age) > (select avg(age) from u);
-- > 70
select sum(age+1), (select sum(age+1) from u where id=1) from u;
-- > 104	11
select * from (select max(age), (select max(age) from u where id=2) from u) d;
-- > 40	20
