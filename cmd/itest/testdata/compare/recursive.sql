-- Recursive queries: their columns are those of the first part.
create table s (d date, dt datetime, dt3 datetime(3), t time(2), y year, e enum('a','b'), v varchar(5), c char(4), n decimal(5,2), f float, ts timestamp(3), i tinyint, st set('x','y'), b bit(5), bl varbinary(6));
insert into s values ('2024-01-31','2024-01-31 10:00:00','2024-01-31 10:00:00.125','10:00:00.25',2020,'a','ab','cd',3.25,1.5,'2024-01-31 10:00:00.125',3,'x',5,'zz');
-- > rows affected: 1
with recursive r as (select d, 1 as n from s union all select d + interval 1 day, n+1 from r where n < 3) select * from r;
-- > 2024-01-31	1
-- > 2024-02-01	2
-- > 2024-02-02	3
with recursive r as (select date'2024-01-01' as d union all select date_add(d, interval 1 month) from r where d < '2024-03-01') select * from r;
-- > 2024-01-01
-- > 2024-02-01
-- > 2024-03-01
with recursive r(d) as (select min(d) from s union all select d + interval 1 day from r where d < '2024-02-02') select * from r;
-- > 2024-01-31
-- > 2024-02-01
-- > 2024-02-02
with recursive r as (select t, 1 as k from s union all select t, k+1 from r where k < 2) select concat(t), k from r;
-- > 10:00:00.25	1
-- > 10:00:00.25	2
with recursive r as (select n, 1 as k from s union all select n*2, k+1 from r where k < 2) select n, n/3, k from r;
-- > 3.25	1.083333	1
-- > 6.50	2.166667	2
with recursive r as (select n, 1 as k from s union all select n*1.333, k+1 from r where k < 2) select n, k from r;
-- > 3.25	1
-- > 4.33	2
with recursive r as (select cast('a' as char(10)) as v, 1 as k union all select concat(v,'b'), k+1 from r where k < 5) select v, k from r;
-- > a	1
-- > ab	2
-- > abb	3
-- > abbb	4
-- > abbbb	5
with recursive r as (select e, 1 as k from s union all select 'b', k+1 from r where k < 2) select e, e+0, k from r;
-- > a	1	1
-- > b	2	2
with recursive r as (select y, 1 as k from s union all select y+1, k+1 from r where k < 2) select y, k from r;
-- > 2020	1
-- > 2021	2
with recursive r as (select b, 1 as k from s union all select b, k+1 from r where k < 2) select hex(b), k from r;
-- > 5	1
-- > 5	2
with recursive r as (select 1 as k, '2024-01-01' as d union all select k+1, d + interval 1 day from r where k < 3) select * from r;
-- > 1	2024-01-01
-- > 2	2024-01-02
-- > 3	2024-01-03
with recursive r(n) as (select 1 union all select n+1 from r where n < 3), q as (select n, date'2024-01-01' + interval n day dd from r) select * from q;
-- > 1	2024-01-02
-- > 2	2024-01-03
-- > 3	2024-01-04
with recursive r as (select d x, d y2 from s union distinct select x, y2 + interval 1 day from r where y2 < '2024-02-03') select x, y2, datediff(y2,x) from r order by y2;
-- > 2024-01-31	2024-01-31	0
-- > 2024-01-31	2024-02-01	1
-- > 2024-01-31	2024-02-02	2
-- > 2024-01-31	2024-02-03	3
with recursive r as (select dt3, 1 as k from s union all select dt3 + interval 1 second, k+1 from r where k < 3) select * from r;
-- > 2024-01-31 10:00:00.125	1
-- > 2024-01-31 10:00:01.125	2
-- > 2024-01-31 10:00:02.125	3
with recursive r as (select ts, 1 as k from s union all select ts + interval 1 second, k+1 from r where k < 3) select * from r;
-- > 2024-01-31 10:00:00.125	1
-- > 2024-01-31 10:00:01.125	2
-- > 2024-01-31 10:00:02.125	3
with recursive r as (select current_date as d, 1 k union all select d - interval 1 day, k+1 from r where k < 3) select k, d = current_date - interval k-1 day from r;
-- > 1	1
-- > 2	1
-- > 3	1
with recursive r as (select 1 as n union all select n+1 from r where n < 3) select sum(n), avg(n), n/2 from r group by n;
-- > 1	1.0000	0.5000
-- > 2	2.0000	1.0000
-- > 3	3.0000	1.5000
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-02' union all select d + interval 10 day from r where d < '2024-02-02') select * from r order by d;
-- > 2024-01-31
-- > 2024-02-01
-- > 2024-02-02
-- > 2024-02-10
-- > 2024-02-11
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-02') select (select max(d) from r) m, d from r where d in (select d from r) order by d;
-- > 2024-02-02	2024-01-31
-- > 2024-02-02	2024-02-01
-- > 2024-02-02	2024-02-02
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-02') select a.d, b.d from r a left join r b on a.d = b.d + interval 1 day order by 1;
-- > 2024-01-31	NULL
-- > 2024-02-01	2024-01-31
-- > 2024-02-02	2024-02-01
select count(*) from (with recursive r as (select a, 1 k from (select x'6d6f6b612d6162633031323334353637' a) t union select x'6d6f6b612d78797a9bf8bd61f8fa9ca5', k from r) select * from r) d;
-- > 2
with recursive r as (select d, st, b from s union all select d + interval 1 day, 'y', 3 from r where d < '2024-02-02') select d, st, st+0, b+0 from r order by d;
-- > 2024-01-31	x	1	5
-- > 2024-02-01	y	2	3
-- > 2024-02-02	y	2	3
with recursive r as (select 1 as n union all select n/2 from r where n > 0) select * from r limit 3;
-- > 1
-- > 1
-- > 1
with recursive r as (select 1 as n union all select n+1 from r where n < 1000) select count(*), max(n) from r;
-- > 1000	1000
with recursive r as (select 'a' as c union select if(c='a','A','b') from r) select * from r;
-- > a
with recursive r as (select d from s union distinct select d + interval 1 day from r where d < '2024-02-03') select x.d, (select count(*) from r y where y.d <= x.d) c from r x order by 1;
-- > 2024-01-31	1
-- > 2024-02-01	2
-- > 2024-02-02	3
-- > 2024-02-03	4
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-03') select * from (select d, row_number() over (order by d) n, lag(d) over (order by d) l from r) q where l is not null order by d;
-- > 2024-02-01	2	2024-01-31
-- > 2024-02-02	3	2024-02-01
-- > 2024-02-03	4	2024-02-02
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-03') select min(d), max(d), count(distinct d) from r;
-- > 2024-01-31	2024-02-03	4
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-03') select r.d, s.dt from r left join s on s.d = r.d order by 1;
-- > 2024-01-31	2024-01-31 10:00:00
-- > 2024-02-01	NULL
-- > 2024-02-02	NULL
-- > 2024-02-03	NULL
with recursive r as (select d, 1 k from s union all select x.d + interval 1 day, x.k+1 from r x join s y on y.d <= x.d where x.k < 4) select * from r;
-- > 2024-01-31	1
-- > 2024-02-01	2
-- > 2024-02-02	3
-- > 2024-02-03	4
with recursive r as (select d from s union all select d + interval 1 day from r where d < '2024-02-03'), q as (select max(d) m from r) select m, m = date'2024-02-03' from q;
-- > 2024-02-03	1
-- differs: MariaDB has no columns of the outer query there
select s.d, (with recursive r as (select s.d as x union all select x + interval 1 day from r where x < '2024-02-02') select max(x) from r) m from s;
-- mariadb> ERROR 1109 (42S02)
-- moka> 2024-01-31	2024-02-02
-- differs: MariaDB ends with what it has
with recursive r as (select 1 n union all select n+1 from r where n < 1200) select count(*) from r;
-- mariadb> 1001
-- moka> ERROR 3636 (HY000)
-- differs: MariaDB has another name for it
set cte_max_recursion_depth = 1200;
-- mariadb> ERROR 1193 (HY000)
-- moka> OK
-- differs: see above
with recursive r as (select 1 n union all select n+1 from r where n < 1200) select count(*) from r;
-- mariadb> 1001
-- moka> 1200
