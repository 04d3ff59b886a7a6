-- RANGE frames with distances: NULLs are their own peers, DESC is another order.
create table a (id int primary key, x int, d date, n decimal(6,2), t datetime);
insert into a values (1,1,'2024-01-01',1.5,'2024-01-01 10:00:00'),(2,null,'2024-01-05',2,'2024-01-01 10:30:00'),(3,3,'2024-01-06',null,'2024-01-01 11:00:00'),(4,1,'2024-02-01',1.50,'2024-01-01 12:00:00'),(5,5,null,-3,null),(6,7,'2024-01-06',0.5,'2024-01-01 12:30:00');
-- > rows affected: 6
select id, sum(id) over (order by x range between 1 preceding and 1 following) s from a order by id;
-- > 1	5
-- > 2	2
-- > 3	3
-- > 4	5
-- > 5	5
-- > 6	6
select id, sum(id) over (order by x desc range between 2 preceding and current row) s from a order by id;
-- > 1	8
-- > 2	2
-- > 3	8
-- > 4	8
-- > 5	11
-- > 6	6
select id, sum(id) over (order by x range between 1 following and 3 following) s from a order by id;
-- > 1	3
-- > 2	2
-- > 3	5
-- > 4	3
-- > 5	6
-- > 6	NULL
select id, sum(id) over (order by x range between 3 preceding and 1 preceding) s from a order by id;
-- > 1	NULL
-- > 2	2
-- > 3	5
-- > 4	NULL
-- > 5	3
-- > 6	5
select id, sum(id) over (order by x range between unbounded preceding and 1 following) s from a order by id;
-- > 1	7
-- > 2	2
-- > 3	10
-- > 4	7
-- > 5	15
-- > 6	21
select id, sum(id) over (order by x range between 2 preceding and unbounded following) s from a order by id;
-- > 1	19
-- > 2	21
-- > 3	19
-- > 4	19
-- > 5	14
-- > 6	11
select id, sum(id) over (partition by x = 1 order by x range 2 preceding) s from a order by id;
-- > 1	5
-- > 2	2
-- > 3	3
-- > 4	5
-- > 5	8
-- > 6	11
select id, min(id) over (order by x range between 1 preceding and 1 following) s, first_value(id) over (order by x, id range between unbounded preceding and current row) f from a order by id;
-- > 1	1	2
-- > 2	2	2
-- > 3	3	2
-- > 4	1	2
-- > 5	5	2
-- > 6	6	2
-- differs: MariaDB has no INTERVAL there
select id, sum(id) over (order by d range between interval 5 day preceding and current row) s from a order by id;
-- mariadb> ERROR 1064 (42000)
-- moka> 1	1
-- moka> 2	3
-- moka> 3	12
-- moka> 4	4
-- moka> 5	5
-- moka> 6	12
