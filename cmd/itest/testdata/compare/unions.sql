-- Set operations whose parts have different types, inside of correlated subqueries: which column is meant.
create table u1(id int primary key, d int);
create table u2(id int primary key, d bigint);
insert into u1 values (1,1),(2,2),(3,3),(4,4);
-- > rows affected: 4
insert into u2 values (1,1),(2,7),(3,8);
-- > rows affected: 3
select * from u1 where exists (select 1 from (select d from u1 where id=2 union select d from u2 where id=1) x where x.d = u1.d) order by 1;
-- > 1	1
-- > 2	2
select * from u1 where exists (select 1 from (select d from u1 where id=2 union all select d from u2 where id=1) x where x.d = u1.d) order by 1;
-- > 1	1
-- > 2	2
select id, (select count(*) from (select d from u1 where id=2 union all select d from u2 where id=1) x where x.d = u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	1
-- > 3	0
-- > 4	0
create view v as select d from u1 where id=2 union all select d from u2 where id=1;
select id, (select count(*) from v where v.d = u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	1
-- > 3	0
-- > 4	0
select id, (select count(*) from v where v.d > u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	0
-- > 3	0
-- > 4	0
with c as (select d from u1 where id=2 union all select d from u2 where id=1) select id, (select count(*) from c where c.d = u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	1
-- > 3	0
-- > 4	0
select id, (select max(u1.d*10+x.d) from (select d from u1 where id=2 union all select d from u2 where id=1) x) c from u1 order by 1;
-- > 1	12
-- > 2	22
-- > 3	32
-- > 4	42
delete from u1 where d in (select x.d from (select d from u1 where id=2 union select d from u2 where id=1) x where x.d=u1.d);
-- > rows affected: 2
select * from u1;
-- > 3	3
-- > 4	4
insert into u1 values (1,1),(2,2);
-- > rows affected: 2
select id, (select d from u1 x where x.id>=u1.id union all select d from u2 where id>1 order by d desc limit 1) c from u1 order by 1;
-- > 1	8
-- > 2	8
-- > 3	8
-- > 4	8
select id, (select sum(x.d) from (select d from u1 where id=2 union all select d from u2 union all select 1.5 union all (select id from u1 union all select '7')) x where x.d <> u1.d) c from u1 order by 1;
-- > 1	34.5
-- > 2	32.5
-- > 3	33.5
-- > 4	32.5
select 1 as d, 2 as d union all select 1.5, 2.5 union all select 'a','b';
-- > 1	2
-- > 1.5	2.5
-- > a	b
select * from (select 1 as d, 2 as e union all (select 1.5, 2.5 union all select 'a','b')) x where e > 2;
-- > 1.5	2.5
select id, (select group_concat(concat(x.d,'/',x.e) order by x.e, x.d) from (select 1 as d, id as e from u2 union all (select id, d from u1 union all select 'a','b')) x where x.e <> u1.d) c from u1 order by 1;
-- > 1	1/2,2/2,1/3,3/3,4/4,a/b
-- > 2	1/1,1/1,1/3,3/3,4/4,a/b
-- > 3	1/1,1/1,1/2,2/2,4/4,a/b
-- > 4	1/1,1/1,1/2,2/2,1/3,3/3,a/b
select id, exists(select d from u1 x where x.d = u1.d+1 union select d from u2 where u2.d=u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	1
-- > 3	1
-- > 4	0
select id, d in (select d+1 from u1 union select d from u2) c from u1 order by 1;
-- > 1	1
-- > 2	1
-- > 3	1
-- > 4	1
select id, (select count(*) from (select d from u1 where id=2 except select d from u2 where id=1) x where x.d = u1.d) c from u1 order by 1;
-- > 1	0
-- > 2	1
-- > 3	0
-- > 4	0
select id, (select count(*) from (select d from u1 intersect select d from u2) x where x.d >= u1.d) c from u1 order by 1;
-- > 1	1
-- > 2	0
-- > 3	0
-- > 4	0
create view w as select d,id from u1 union select d,'x' from u2;
select u1.id, (select group_concat(w.id order by w.id) from w where w.d = u1.d) c from u1 order by 1;
-- > 1	1,x
-- > 2	2
-- > 3	3
-- > 4	4
select u1.id, (select group_concat(a.id order by a.id) from w a join w b using (d) where a.d = u1.d and b.id <> u1.id) c from u1 order by 1;
-- > 1	1,x
-- > 2	NULL
-- > 3	NULL
-- > 4	NULL
with recursive r as (select d, 1 l from u1 where id=1 union all select r.d+1.5, l+1 from r where l < 4) select u1.id, (select count(*) from r where r.d > u1.d) c from u1 order by 1;
-- > 1	3
-- > 2	3
-- > 3	2
-- > 4	2
update u1 set d = d + 10 where exists (select 1 from w where w.d = u1.d + 5);
-- > rows affected: 2
select * from u1;
-- > 1	1
-- > 2	12
-- > 3	13
-- > 4	4
create table t3 as select u1.id, (select max(x.d) from (select d from u1 union select d from u2) x where x.d <> u1.d) m from u1;
select * from t3 order by 1;
-- > 1	13
-- > 2	13
-- > 3	12
-- > 4	13
insert into t3 select u1.id+10, (select max(x.d) from (select d from u1 union select d from u2) x where x.d <> u1.d) m from u1;
-- > rows affected: 4
select * from t3 order by 1;
-- > 1	13
-- > 2	13
-- > 3	12
-- > 4	13
-- > 11	13
-- > 12	13
-- > 13	12
-- > 14	13
create procedure p(lo int) begin declare k int; select count(*) into k from u1 where exists (select 1 from w where w.d = u1.d and w.d > lo); select k; if exists (select 1 from u1 where (select count(*) from w where w.d = u1.d) = 0) then select 'none'; end if; end;
call p(0);
-- > 4
call p(3);
-- > 3
create trigger tr before insert on u2 for each row set new.d = (select count(*) from u1 where exists (select 1 from (select d from u1 where id < 3 union select d from u2) x where x.d = u1.d and x.d < new.d));
insert into u2 values (9, 100);
-- > rows affected: 1
select * from u2 order by id;
-- > 1	1
-- > 2	7
-- > 3	8
-- > 9	2
