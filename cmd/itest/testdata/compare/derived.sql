-- What comes out of a derived table, a WITH or a view is wanted, whatever stands above it.
create table if not exists wt (a int primary key, b int);
insert ignore into wt values (1,1),(2,2),(3,3);
-- > rows affected: 3
WITH t AS (SELECT * FROM wt) SELECT * FROM t LIMIT 1;
-- > 1	1
SELECT 1;
-- > 1
SELECT * FROM (SELECT * FROM wt) t where b=2;
-- > 2	2
SELECT * FROM (SELECT * FROM wt) t where b>0 order by a desc;
-- > 3	3
-- > 2	2
-- > 1	1
SELECT * FROM (SELECT * FROM wt) t order by b limit 1;
-- > 1	1
SELECT * FROM (SELECT * FROM wt) t where b>0 limit 1;
-- > 1	1
SELECT 2;
-- > 2
SELECT distinct * FROM (SELECT * FROM wt) t limit 1;
-- > 1	1

SELECT 3;
-- > 3
select * from (select * from (select * from wt) x limit 2) y where a > 0;
-- > 1	1
-- > 2	2
select a from (select * from (select * from wt) x limit 2) y where a > 0;
-- > 1
-- > 2
select b from (select * from (select * from wt) x order by a limit 2) y;
-- > 1
-- > 2
select 4, (select count(*) from (select * from (select * from wt) x limit 2) z), a from wt;
-- > 4	2	1
-- > 4	2	2
-- > 4	2	3

create view vw as select * from wt;
select * from vw limit 1;
-- > 1	1
select * from vw x limit 1,1;
-- > 2	2
select b from vw limit 1;
-- > 1

select 5;
-- > 5
select * from (select * from wt) x join (select * from wt) y on x.a=y.a order by 1 limit 1;
-- > 1	1	1	1
select * from (select * from wt) x natural join (select * from wt) y order by 1 limit 1;
-- > 1	1
select * from (select * from wt) x left join wt y on x.a=y.a+1 where x.b>1 order by 1 limit 1;
-- > 2	2	1	1
insert into wt select * from (select a+10 a,b from wt) t order by a limit 1;
-- > rows affected: 1
select * from wt;
-- > 1	1
-- > 11	1
-- > 2	2
-- > 3	3
select * from (select * from wt) t union all select * from (select * from wt) u order by a limit 1;
-- > 1	1
create table wt2 as select * from (select * from wt) t limit 1;
select * from wt2;
-- > 1	1
drop table wt2;
drop view vw;
select 6;
-- > 6
select * from wt where a in (select a from (select * from (select * from wt) q limit 2) z) order by a;
-- > 1	1
-- > 2	2
select exists(select * from (select * from wt) t limit 1);
-- > 1
with recursive r as (select 1 n union all select n+1 from r where n<3) select * from r limit 2;
-- > 1
-- > 2
with x as (select * from wt), y as (select * from x limit 2) select y.b, x.a from y join x using (a) order by 1;
-- > 1	1
-- > 2	2
with x as (select * from wt) select * from x order by b desc limit 1 offset 1;
-- > 2	2
select * from (select * from wt) t group by a, b order by a limit 1;
-- > 1	1
select * from (select * from wt) t having a > 1 order by a limit 1;select t.*, 7 from (select * from wt) t order by a limit 1;
-- > ERROR 1064 (42000)
drop table wt;
