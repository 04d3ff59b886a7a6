-- Rows that a hash takes for the same: two texts with one xxHash, values that are one text when they are put together, NULL and what it is printed as.
create table h (id int primary key, a varbinary(40), b varbinary(40));
insert into h values (1, x'6d6f6b612d6162633031323334353637', 'q'), (2, x'6d6f6b612d78797a9bf8bd61f8fa9ca5', 'q'), (3, x'6100', 'b'), (4, 'a', x'0062'), (5, null, 'z'), (6, '<nil>', 'z'), (7,'a b','c'),(8,'a','b c'),(9,'a,','b'),(10,'a',',b'),(11,'a','b c');
-- > rows affected: 11
select hex(a), count(*) from h group by a order by 1;
-- > NULL	1
-- > 3C6E696C3E	1
-- > 61	4
-- > 6100	1
-- > 612062	1
-- > 612C	1
-- > 6D6F6B612D6162633031323334353637	1
-- > 6D6F6B612D78797A9BF8BD61F8FA9CA5	1
select hex(a), hex(b), count(*) from h group by a, b order by 1,2;
-- > NULL	7A	1
-- > 3C6E696C3E	7A	1
-- > 61	0062	1
-- > 61	2C62	1
-- > 61	622063	2
-- > 6100	62	1
-- > 612062	63	1
-- > 612C	62	1
-- > 6D6F6B612D6162633031323334353637	71	1
-- > 6D6F6B612D78797A9BF8BD61F8FA9CA5	71	1
select a, b, count(*) from h group by a, b with rollup having a = 'a';
-- > a	"\x00b"	1
-- > a	,b	1
-- > a	NULL	4
-- > a	b c	2
select count(distinct a), count(distinct a, b) from h;
-- > 7	9
select distinct hex(a) x from h order by 1;
-- > NULL
-- > 3C6E696C3E
-- > 61
-- > 6100
-- > 612062
-- > 612C
-- > 6D6F6B612D6162633031323334353637
-- > 6D6F6B612D78797A9BF8BD61F8FA9CA5
select count(*) from (select distinct a from h) d;
-- > 8
select count(*) from (select distinct a, b from h) d;
-- > 10
select count(*) from (select a from h union select a from h) d;
-- > 8
select count(*) from (select a, b from h union select b, a from h) d;
-- > 20
select count(*) from (select a from h where id = 1 except select a from h where id = 2) d;
-- > 1
select count(*) from (select a from h where id = 1 intersect select a from h where id = 2) d;
-- > 0
select ('a b','c') in (select a, b from h), ('a','b c') in (select a,b from h), (1,null) in (select 1,2), (1,null) in (select 2,2), (1,2) in (select 1,null), (1,2) not in (select 2,null);
-- > 1	1	NULL	0	NULL	1
select id, a in (x'6d6f6b612d6162633031323334353637', 'zz') from h order by id;
-- > 1	1
-- > 2	0
-- > 3	0
-- > 4	0
-- > 5	NULL
-- > 6	0
-- > 7	0
-- > 8	0
-- > 9	0
-- > 10	0
-- > 11	0
select id, a in (select a from h where id in (1, 2)) or id > 100 from h order by id;
-- > 1	1
-- > 2	1
-- > 3	0
-- > 4	0
-- > 5	NULL
-- > 6	0
-- > 7	0
-- > 8	0
-- > 9	0
-- > 10	0
-- > 11	0
select id, (a, b) in (('a','b c'), ('a,', 'b')) from h order by id;
-- > 1	0
-- > 2	0
-- > 3	0
-- > 4	0
-- > 5	0
-- > 6	0
-- > 7	0
-- > 8	1
-- > 9	1
-- > 10	0
-- > 11	1
select id, (a, b) in (('a','b c'), ('a,', null)) from h order by id;
-- > 1	0
-- > 2	0
-- > 3	0
-- > 4	0
-- > 5	NULL
-- > 6	0
-- > 7	0
-- > 8	1
-- > 9	NULL
-- > 10	0
-- > 11	1
select x.id, y.id from h x join h y on x.a = y.a and x.id <> y.id order by 1,2;
-- > 4	8
-- > 4	10
-- > 4	11
-- > 8	4
-- > 8	10
-- > 8	11
-- > 10	4
-- > 10	8
-- > 10	11
-- > 11	4
-- > 11	8
-- > 11	10
select id from h where id in (1, 2.5, 3) order by id;
-- > 1
-- > 3
select id from h where id in (1, '2', 3.0) order by id;
-- > 1
-- > 2
-- > 3
select id, id in (1, null), id not in (1, null), id in (300000000000, null) from h where id < 3 order by id;
-- > 1	1	0	NULL
-- > 2	NULL	NULL	NULL
select sum(distinct id div 3), avg(distinct id div 3), sum(distinct length(a)) from h;
-- > 6	1.5000	27
select 1.5 in (select 2), 2 in (select 1.5), 9007199254740993 in (select 9007199254740992), '1x' in (select 1);
-- > 0	0	0	1
create table n (a int, b int); insert into n values (1,1),(2,null),(null,3),(null,null);
-- > ERROR 1064 (42000)
select a, b, (a,b) in (select a,b from n) x, (a,b) not in (select a, b from n where a is not null) y from n order by 1,2;
-- > ERROR 1146 (42S02)
select a, a in (select b from n), a not in (select b from n), a in (select b from n where b > 100) from n order by 1,2,3,4;
-- > ERROR 1146 (42S02)
select * from n where (a,b) not in (select a,b from n where a = 2) order by 1,2;
-- > ERROR 1146 (42S02)
select * from n where a not in (select b from n) order by 1,2;
-- > ERROR 1146 (42S02)
select * from n where a not in (select b from n where b is not null) order by 1,2;
-- > ERROR 1146 (42S02)
