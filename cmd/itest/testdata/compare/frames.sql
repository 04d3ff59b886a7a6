-- RANGE frames with distances: NULLs are their own peers, DESC is another order.
create table a (id int primary key, x int, d date, n decimal(6,2), t datetime);
insert into a values (1,1,'2024-01-01',1.5,'2024-01-01 10:00:00'),(2,null,'2024-01-05',2,'2024-01-01 10:30:00'),(3,3,'2024-01-06',null,'2024-01-01 11:00:00'),(4,1,'2024-02-01',1.50,'2024-01-01 12:00:00'),(5,5,null,-3,null),(6,7,'2024-01-06',0.5,'2024-01-01 12:30:00');
select id, sum(id) over (order by x range between 1 preceding and 1 following) s from a order by id;
select id, sum(id) over (order by x desc range between 2 preceding and current row) s from a order by id;
select id, sum(id) over (order by x range between 1 following and 3 following) s from a order by id;
select id, sum(id) over (order by x range between 3 preceding and 1 preceding) s from a order by id;
select id, sum(id) over (order by x range between unbounded preceding and 1 following) s from a order by id;
select id, sum(id) over (order by x range between 2 preceding and unbounded following) s from a order by id;
select id, sum(id) over (partition by x = 1 order by x range 2 preceding) s from a order by id;
select id, min(id) over (order by x range between 1 preceding and 1 following) s, first_value(id) over (order by x, id range between unbounded preceding and current row) f from a order by id;
-- differs: MariaDB has no INTERVAL there
select id, sum(id) over (order by d range between interval 5 day preceding and current row) s from a order by id;
