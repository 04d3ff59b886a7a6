-- GROUP_CONCAT(DISTINCT …) by collations; what a union of numbers and texts is sorted and told apart by.
create table a (id int primary key, x int, s varchar(10), d date, n decimal(6,2));
insert into a values (1,1,'a','2024-01-01',1.5),(2,null,'B','2024-01-05',2),(3,3,null,'2024-01-06',null),(4,1,'A','2024-02-01',1.50),(5,5,'b',null,-3),(6,5,'',null,-3),(7,6,' ',null,-3);
-- > rows affected: 7
select s, count(*), group_concat(distinct s order by s) g from a group by s order by s;
-- > NULL	1	NULL
-- > ""	2	""
-- > a	2	a
-- > B	2	B
select group_concat(distinct s order by id separator '|') from a;
-- > a|B|
select group_concat(distinct s order by id desc separator '|') from a where id < 6;
-- > B|a
select group_concat(distinct x order by x desc) from a;
-- > 6,5,3,1
select group_concat(distinct d order by d) from a;
-- > 2024-01-01,2024-01-05,2024-01-06,2024-02-01
select group_concat(distinct n order by n) from a;
-- > -3.00,1.50,2.00
select x, group_concat(distinct s order by s) from a group by x order by x;
-- > NULL	B
-- > 1	a
-- > 3	NULL
-- > 5	,b
-- > 6	" "
select group_concat(distinct s) from a where id > 100;
-- > NULL
select n from a union all select s from a where id in (1, 2) order by 1;
-- > NULL
-- > -3.00
-- > -3.00
-- > -3.00
-- > 1.50
-- > 1.50
-- > 2.00
-- > a
-- > B
select n from a union select s from a order by 1;
-- > NULL
-- > ""
-- > -3.00
-- > 1.50
-- > 2.00
-- > a
-- > B
select x from a union select s from a order by 1;
-- > NULL
-- > ""
-- > 1
-- > 3
-- > 5
-- > 6
-- > a
-- > B
select x from a union select d from a order by 1;
-- > NULL
-- > 1
-- > 2024-01-01
-- > 2024-01-05
-- > 2024-01-06
-- > 2024-02-01
-- > 3
-- > 5
-- > 6
select cast(1 as unsigned) u union select -1 order by 1;
-- > -1
-- > 1
select 1.5 u union select 2 union select 'x' order by 1;
-- > 1.5
-- > 2
-- > x
select x u from a union select null order by u desc limit 2;
-- > 6
-- > 5
