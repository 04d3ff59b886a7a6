-- Subqueries that have to have one row, and what clients set to protect their users.
create table t (id int primary key, a int, b varchar(20), key a (a), key b (b));
insert into t values (1,1,'x'),(2,2,'y'),(3,3,'z'),(4,1,'X'),(5,null,null);
-- > rows affected: 5
create table u (id int primary key, tid int, v int, w varchar(20) collate utf8mb4_bin, key tid (tid));
insert into u values (1,1,10,'X'),(2,1,20,'x'),(3,2,30,null),(4,null,40,'z'),(5,9,50,'q');
-- > rows affected: 5
select * from t where id = (select tid from u);
-- > ERROR 1242 (21000)
select * from t where a = (select tid from u where v > 10 and tid is not null);
-- > ERROR 1242 (21000)
select * from t where a > (select tid from u);
-- > ERROR 1242 (21000)
select * from t where a <> (select tid from u);
-- > ERROR 1242 (21000)
select * from t where not a = (select tid from u);
-- > ERROR 1242 (21000)
select * from t where (select tid from u) = a;
-- > ERROR 1242 (21000)
select * from t where (a, id) = (select tid, id from u);
-- > ERROR 1242 (21000)
select * from t where (a, id) = (select tid, id from u where id = 1);
-- > 1	1	x
select * from t join u on t.id = u.tid where t.a = (select tid from u);
-- > ERROR 1242 (21000)
update t set b = 'no' where a = (select tid from u);
-- > ERROR 1242 (21000)
delete from t where a = (select tid from u);
-- > ERROR 1242 (21000)
select * from t order by id;
-- > 1	1	x
-- > 2	2	y
-- > 3	3	z
-- > 4	1	X
-- > 5	NULL	NULL
select * from t where id = (select max(tid) - 7 from u);
-- > 2	2	y
select * from t where id > (select min(id) + 1 from t) order by id;
-- > 3	3	z
-- > 4	1	X
-- > 5	NULL	NULL
select * from t where id > (select max(id) - 2 from t) order by id;
-- > 4	1	X
-- > 5	NULL	NULL
select * from t where a = (select tid from u where id = 77);
-- > (no rows)
select * from t where a <=> (select tid from u where id = 77);
-- > 5	NULL	NULL
select * from t where not a = (select tid from u where id = 3) order by id;
-- > 1	1	x
-- > 3	3	z
-- > 4	1	X
select * from t where a = (select tid from u where id = 4);
-- > (no rows)
select * from u where w = (select b from t where id = 1) order by id;
-- > 2	1	20	x
select * from t where b = (select b from t where id = 4) order by id;
-- > 1	1	x
-- > 4	1	X
select * from t where a = (select '1') order by id;
-- > 1	1	x
-- > 4	1	X
select * from t where a = (select 1.0) order by id;
-- > 1	1	x
-- > 4	1	X
select * from t where b = (select 0) order by id;
-- > 1	1	x
-- > 2	2	y
-- > 3	3	z
-- > 4	1	X
select t.id, u.id from t left join u on u.tid = t.id where t.a = (select min(a) from t) order by t.id, u.id;
-- > 1	1
-- > 1	2
-- > 4	NULL
select t.id, u.id from t left join u on u.tid = t.id where u.v = (select max(v) from u where tid = 1) order by t.id, u.id;
-- > 1	2
select t.id, u.id from t join u on u.tid = t.id and t.id = (select min(tid) from u) order by t.id, u.id;
-- > 1	1
-- > 1	2
select * from t where id = (select max(tid) from u where u.id <= t.id) order by id;
-- > 1	1	x
select id, (select count(*) from u where v > (select min(v) from u)) n from t where id = (select min(id) from t) or a = (select max(a) from t) order by id;
-- > 1	4
-- > 3	4
update t set b = 'last' where id = (select max(v) / 10 from u);
-- > rows affected: 1
delete from t where id = (select max(v) / 10 from u);
-- > rows affected: 1
select * from t order by id;
-- > 1	1	x
-- > 2	2	y
-- > 3	3	z
-- > 4	1	X
select * from t where a in ((select tid from u)) order by id;
-- > 1	1	x
-- > 2	2	y
-- > 4	1	X
select * from t where a not in (((select tid from u where tid is not null))) order by id;
-- > 3	3	z
create trigger latest after insert on u for each row update t set b = concat(b, '+') where id = (select max(tid) - 7 from u);
insert into u values (6,8,60,'x'),(7,10,70,'x');
-- > rows affected: 2
select * from t order by id;
-- > 1	1	x
-- > 2	2	y+
-- > 3	3	z+
-- > 4	1	X
set sql_select_limit = 2;
select * from t order by id;
-- > 1	1	x
-- > 2	2	y+
select * from t order by id limit 3;
-- > 1	1	x
-- > 2	2	y+
-- > 3	3	z+
select count(*) from (select * from t) q;
-- > 4
create table copied as select * from t;
insert into copied select id + 10, a, b from t;
-- > rows affected: 4
select count(*) from copied;
-- > 8
set sql_select_limit = 18446744073709551615;
select count(*) from (select * from copied) q;
-- > 8
set sql_select_limit = default;
select @@sql_select_limit, count(*) from copied;
-- > 18446744073709551615	8
set sql_safe_updates = 1;
update t set b = 'all';
-- > ERROR 1175 (HY000)
update t set b = 'none' where b + 0 = 17 and id + 0 > 0;
-- > ERROR 1175 (HY000)
delete from t;
-- > ERROR 1175 (HY000)
delete from copied where id = 1;
-- > ERROR 1175 (HY000)
delete from t where id + 0 = 3;
-- > ERROR 1175 (HY000)
update t set b = 'one' where id = 1;
-- > rows affected: 1
update t set b = 'one' where a > 2;
-- > rows affected: 1
update t set b = 'one' where id = (select min(id) from u);
-- > rows affected: 0
update t set b = 'any' limit 1;
-- > rows affected: 1
set sql_safe_updates = 0;
select count(*) from t;
-- > 4
insert into t values (9, 1/0, 'x');
-- > ERROR 1365 (22012)
insert ignore into t values (9, 1/0, 'x');
-- > rows affected: 1
insert into t select id + 100, 5 div 0, b from t;
-- > ERROR 1365 (22012)
update t set a = 1/(a - 1) where id = 1;
-- > ERROR 1365 (22012)
update t set a = 5 % 0 where id = 1;
-- > ERROR 1365 (22012)
update ignore t set a = 1/0 where id = 1;
-- > rows affected: 1
select * from t where 1/0 is null order by id;
-- > 1	NULL	any
-- > 2	2	y+
-- > 3	3	one
-- > 4	1	X
-- > 9	NULL	x
set sql_mode = 'STRICT_TRANS_TABLES';
insert into t values (19, 1/0, 'x');
-- > rows affected: 1
set sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO';
insert into t values (20, 1/0, 'x');
-- > rows affected: 1
select id, a from t where id > 10 order by id;
-- > 19	NULL
-- > 20	NULL
select 1/0;
-- > NULL
select @@warning_count;
-- > 1
select nope from t;
-- > ERROR 1054 (42S22)
select @@error_count;
-- > 1
