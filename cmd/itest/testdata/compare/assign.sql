-- Assignments to variables within queries.
create table t (id int primary key, a int, s varchar(10), d date, dec1 decimal(8,2));
insert into t values (1,30,'a','2020-01-01',1.5),(2,20,'b','2020-01-02',2.5),(3,30,'a','2020-01-03',3.5),(4,10,'c','2020-01-04',null);
-- > rows affected: 4
select @n := @n + 1, t.id from t, (select @n := 0) v order by t.a, t.id;
-- > 1	4
-- > 2	2
-- > 3	1
-- > 4	3
select @n := @n + 1 as rn, t.id from t, (select @n := 0) v order by t.a, t.id;
-- > 1	4
-- > 2	2
-- > 3	1
-- > 4	3
select @n := @n + 1 rn, t.id from t join (select @n := 0) v order by t.a desc, id desc;
-- > 1	3
-- > 2	1
-- > 3	2
-- > 4	4
select @n;
-- > 4
select @unset1 := @unset1 + 1 from t;
-- > NULL
-- > NULL
-- > NULL
-- > NULL
set @n = 0;
select id, @n := @n + id as run from t order by id;
-- > 1	1
-- > 2	3
-- > 3	6
-- > 4	10
select rn, id from (select @n := @n + 1 as rn, id from t, (select @n := 0) v order by a, id) x where rn between 2 and 3;
-- > 2	2
-- > 3	1
select id, a, if(@prev = a, @rank, @rank := @rank + 1) as rnk, @prev := a as p from t, (select @prev := null, @rank := 0) v order by a, id;
-- > 4	10	1	10
-- > 2	20	2	20
-- > 1	30	3	30
-- > 3	30	3	30
select id, a, @rank := if(@prev = a, @rank, @rank + 1) as rnk, @prev := a as p from t, (select @prev := -1, @rank := 0) v order by a desc, id;
-- > 1	30	1	30
-- > 3	30	1	30
-- > 2	20	2	20
-- > 4	10	3	10
select s, @r := if(@g = s, @r + 1, 1) as r, @g := s from t, (select @r := 0, @g := '') i order by s, id;
-- > a	1	a
-- > a	2	a
-- > b	1	b
-- > c	1	c
set @n = 0;
update t set a = (@n := @n + 1) order by id desc;
-- > rows affected: 4
select id, a from t order by id;
-- > 1	4
-- > 2	3
-- > 3	2
-- > 4	1
set @n = 100;
update t set a = @n := @n + 1 where id < 3 order by id;
-- > rows affected: 2
select * from t order by id;
-- > 1	101	a	2020-01-01	1.50
-- > 2	102	b	2020-01-02	2.50
-- > 3	2	a	2020-01-03	3.50
-- > 4	1	c	2020-01-04	NULL
select @last := id from t where id = 2;
-- > 2
select @last;
-- > 2
select @last, @last := 7, @last, @last + 1;
-- > 2	7	7	8
select @a := 1, @b := @a + 1, @c := @b * 2, @a, @b, @c;
-- > 1	2	4	1	2	4
select @a := @b := 5;
-- > 5
select @a, @b;
-- > 5	5
select @a := 1 or 0, @a;
-- > 1	1
select 1 + @a := 2 + 3, @a;
-- > 6	5
select (@a := 4) + 1, @a = 4;
-- > 5	1
select @x := 'abc', @x := concat(@x, 'd'), @x;
-- > abc	abcd	abcd
select @y := 1.5, @y * 2, @z := 1.5e0, @z * 2;
-- > 1.5	3	1.5	3
select @dd := d, @dd from t where id = 1;
-- > 2020-01-01	2020-01-01
select @dd := max(d) from t;
-- > 2020-01-04
select @m := greatest(@m, a) from t, (select @m := 0) v order by id;
-- > 101
-- > 102
-- > 102
-- > 102
select id from t, (select @n := 0) v where (@n := @n + 1) <= 2 order by id;
-- > 1
-- > 2
select id from t where (@k := id) = 2;
-- > 2
select @k;
-- > 4
insert into t (id, a, s) select id + 10, @n := @n + 1, s from t, (select @n := 50) v order by id;
-- > rows affected: 4
select id, a from t order by id;
-- > 1	101
-- > 2	102
-- > 3	2
-- > 4	1
-- > 11	51
-- > 12	52
-- > 13	53
-- > 14	54
create table u as select @q := id as q, s from t where id < 3;
select * from u order by q;
-- > 1	a
-- > 2	b
select case when @p is null then 'first' when @p < a then 'up' else 'down' end as dir, @p := a from t, (select @p := null) v order by id;
-- > first	101
-- > up	102
-- > down	2
-- > down	1
-- > up	51
-- > up	52
-- > up	53
-- > up	54
delete from t where id > 10 and (@del := id) is not null;
-- > rows affected: 4
set @del = null;
select @old;
-- > NULL
update t set a = a + 1 where id = 1 and @seen := a;
-- > rows affected: 1
select @seen;
-- > 101
insert into u values (@v := 9, concat('v', @v));
-- > rows affected: 1
select * from u order by q;
-- > 1	a
-- > 2	b
-- > 9	v9
set @i := 1, @j := 2;
select @i, @j;
-- > 1	2
set @i = (@j := 5);
select @i, @j;
-- > 5	5
do @i := 77;
select @i;
-- > 77
select @`weird name` := 3, @`weird name` + 1;
-- > 3	4
select @'q x' := 3;
-- > 3
select @u1 := upper(s) u1, @u1 = 'A', @u1 like 'a%' from t where id = 1;
-- > A	1	1
select sum(@t := a) from t;
-- > 207
select max(@t2 := id) from t;
-- > 4
select @cnt := @cnt + 1 from t t1 join t t2 on t1.id = t2.id, (select @cnt := 0) v order by t1.id;
-- > 1
-- > 2
-- > 3
-- > 4
select @n := 0 union all select @n := @n + 1 union all select @n;
-- > 0
-- > 1
-- > 1
select id, @n := @n + 1 n from t, (select @n := 0) v order by n desc;
-- > 4	4
-- > 3	3
-- > 2	2
-- > 1	1
select id, @n := @n + 1 n from t, (select @n := 0) v order by id limit 2;
-- > 1	1
-- > 2	2
select id, @n := @n + 1 n from t, (select @n := 0) v order by id limit 2 offset 1;
-- > 2	1
-- > 3	2
select id, @n := @n + 1 n from t cross join (select @n := 0) v order by id limit 1, 2;
-- > 2	1
-- > 3	2
select distinct @x1 := s from t order by 1;
-- > a
-- > b
-- > c
select @null1 := null, @null1;
-- > NULL	NULL
update t join (select @n := 0) v set t.a = (@n := @n + 1);
-- > rows affected: 4
select id, a from t order by id;
-- > 1	1
-- > 2	2
-- > 3	3
-- > 4	4
update t, (select @n := 10) v set t.a = (@n := @n + 1) where t.id > 2;
-- > rows affected: 2
select id, a from t order by id;
-- > 1	1
-- > 2	2
-- > 3	11
-- > 4	12
select @big := 18446744073709551615, @big;
-- > 18446744073709551615	18446744073709551615
select @neg := -5, @neg - 1;
-- > -5	-6
select (select @ff := max(id) from t), @ff;
-- > 4	4
select * from t where id = (select @id1 := 2);
-- > 2	2	b	2020-01-02	2.50
select @id1;
-- > 2
drop table t, u;
create table t (id int primary key, a int, s varchar(10), u int unique);
insert into t values (1,30,'a',1),(2,20,'b',2),(3,30,'a',3),(4,10,'c',4);
-- > rows affected: 4
create view v1 as select @x := 1;
-- > ERROR 1351 (HY000)
create view v2 as select @x;
-- > ERROR 1351 (HY000)
select @'q x' := 3;
-- > 3
select @n:=1,@m:=@n+1;
-- > 1	2
insert into t values (9,1,'z',2) on duplicate key update a = (@old := a) + 100;
-- > rows affected: 2
select @old;
-- > 20
select * from t order by id;
-- > 1	30	a	1
-- > 2	120	b	2
-- > 3	30	a	3
-- > 4	10	c	4
prepare p from 'select @n := @n + ?, id from t, (select @n := ?) v order by id';
set @one = 1, @z = 10;
execute p using @one, @z;
-- > 11	1
-- > 12	2
-- > 13	3
-- > 14	4
execute p using @one, @one;
-- > 2	1
-- > 3	2
-- > 4	3
-- > 5	4
create trigger tr before insert on t for each row set new.a = (@trg := new.a + 1);
insert into t values (20, 5, 'x', 20);
-- > rows affected: 1
select @trg, a from t where id = 20;
-- > 6	6
select id, u from t order by id;
-- > 1	1
-- > 2	2
-- > 3	3
-- > 4	4
-- > 20	20
create function f(n int) returns int deterministic begin set @fv := n; return @fv * 2; end;
select f(4), @fv;
-- > 8	NULL
create procedure pr2() begin declare i int default 0; while i < 3 do update t set a = (@w := ifnull(@w, 0) + 1) where id = 1; set i = i + 1; end while; select a, @w from t where id = 1; end;
call pr2();
-- > 3	3
call pr2();
-- > 6	6
replace into t values (1, @k := 77, concat('k', @k), 5000);
-- > rows affected: 2
select a, s, @k from t where id = 1;
-- > 78	k77	77
with c as (select @z1 := 5 as z) select z, @z1 from c;
-- > 5	5
select id from t where id = @idx := 2;
-- > 2
select id from t where (@idx := id) and id between 2 and 3 order by id;
-- > 2
-- > 3
select @idx;
-- > 3
select group_concat(@gg := id order by id) from t;
-- > 1,2,3,4,20
select t.id, @x2 := t.id * 2 as dbl, q.m from t left join (select @m2 := 5 as m) q on true order by t.id;
-- > 1	2	5
-- > 2	4	5
-- > 3	6	5
-- > 4	8	5
-- > 20	40	5
select * from (select id, @r2 := @r2 + 1 as r from t, (select @r2 := 0) z order by id desc) q where q.r = 2;
-- > 4	2
select count(*) from (select @c3 := ifnull(@c3, 0) + 1 as x from t) q;
-- > 5
delete t from t join (select @d1 := 3) v on t.id = @d1;
-- > rows affected: 1
select id from t order by id;
-- > 1
-- > 2
-- > 4
-- > 20
select @running := @running + a as total, a from t, (select @running := 0.0) v order by id;
-- > 78	78
-- > 198	120
-- > 208	10
-- > 214	6
select @tot := 0.5, @tot := @tot + 1, @tot;
-- > 0.5	1.5	1.5
select if(@v9 is null, 'unset', 'set'), @v9 := 1;
-- > unset	1
select @t1 := now() is not null, @t2 := date('2020-01-02'), @t3 := time('10:00:00'), @t4 := year('2020-01-01');
-- > 1	2020-01-02	10:00:00	2020
select @t2 + interval 1 day, @t2 = '2020-01-02';
-- > 2020-01-03	1
select @a1 := id, @a2 := @a1 * 2 from t where id = 2 union select @a1, @a2;
-- > 2	4
select case when (@cc := id) > 2 then @cc else -@cc end from t order by id;
-- > -1
-- > -2
-- > 4
-- > 20
select id, (select @sub := t.id * 10) from t order by id;
-- > 1	10
-- > 2	20
-- > 4	40
-- > 20	200
select @sub;
-- > 200
select a := 1 from t;
-- > ERROR 1064 (42000)
set @p = 1;
select @p:=@p*2 from t limit 2;
-- > 2
-- > 4
select @p;
-- > 4
select @p:=@p*2 as `weird col` from t limit 1;
-- > 8
create procedure pr() begin declare x int; select @n := @n + 1 rn, id from t, (select @n := 0) v order by id desc; set @q := 5, @r = @q + 1; select @q := 9 into x; select x, @q, @r; end;
call pr();
-- > 1	20
-- > 2	4
-- > 3	2
-- > 4	1
-- > (the next result)
-- > 9	9	6
set @c = 5000;
create procedure pr3() update t set u = (@c := @c + 1) order by id;
call pr3();
call pr3();
select id, u from t order by id;
-- > 1	5005
-- > 2	5006
-- > 4	5007
-- > 20	5008
select count(*), @c, rand() < 2 from t;
-- > 4	5008	1
select count(*), id from t;
-- > ERROR 1140 (42000)
select count(*) between 1 and 199 from (select 1 from t x join t y join t z where rand() < 0.5) q;
-- > 1
select distinct upper(s) from t order by 1;
-- > B
-- > C
-- > K77
-- > X
select distinct s x, a from t order by 2 desc, 1;
-- > b	120
-- > k77	78
-- > c	10
-- > x	6
