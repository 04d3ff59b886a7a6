-- Subqueries of conditions: what the planner makes a join of, or looks up, must have the answer of the subquery.
create table u (id int primary key auto_increment, su bool, act bool);
create table p (id int primary key auto_increment, code varchar(20), ct int not null);
create table ct (id int primary key, label varchar(20));
create table g (id int primary key auto_increment, n varchar(10));
create table gp (id int primary key auto_increment, gid int not null, pid int not null, unique(gid,pid), key(pid));
create table ug (id int primary key auto_increment, uid int not null, gid int not null, unique(uid,gid), key(gid));
create table up (id int primary key auto_increment, uid int not null, pid int not null, unique(uid,pid), key(pid));
insert into ct values (1,'auth'),(2,'x');
-- > rows affected: 2
insert into p values (1,'test',1),(2,'other',1);
-- > rows affected: 2
insert into g values (1,'a'),(2,'b');
-- > rows affected: 2
insert into gp values (1,1,1);
-- > rows affected: 1
insert into u values (1,0,1),(2,0,1),(3,1,1),(4,0,0),(5,0,1);
-- > rows affected: 5
insert into ug values (1,2,1),(2,2,2);
-- > rows affected: 2
insert into up values (1,1,1),(2,4,1);
-- > rows affected: 2
SELECT u.id from u where exists(select (1) as a from p U0 left join gp U1 on U0.id=U1.pid left join g U2 on U1.gid=U2.id left join ug U3 on U2.id=U3.gid left join up U5 on U0.id=U5.pid where ((U3.uid=u.id or U5.uid=u.id) and U0.id=1) limit 1) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select (1) as a from p U0 left join gp U1 on U0.id=U1.pid left join g U2 on U1.gid=U2.id left join ug U3 on U2.id=U3.gid left join up U5 on U0.id=U5.pid inner join ct U7 on U0.ct=U7.id where ((U3.uid=u.id or U5.uid=u.id) and U0.code='test' and U7.label='auth') limit 1) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select (1) as a from p U0 left join up U5 on U0.id=U5.pid where ((U5.uid=u.id) and U0.id=1) limit 1) order by id;
-- > 1
-- > 4
SELECT u.id from u where exists(select (1) as a from p U0 left join up U5 on U0.id=U5.pid where ((U5.uid=u.id) and U0.id=1)) order by id;
-- > 1
-- > 4
SELECT u.id from u where exists(select (1) as a from p U0 left join up U5 on U0.id=U5.pid where ((U5.uid=u.id) and U0.id=1) limit 0) order by id;
-- > (no rows)
SELECT u.id from u where exists(select (1) as a from p U0 left join up U5 on U0.id=U5.pid where ((U5.uid=u.id) and U0.id=1) limit 1 offset 1) order by id;
-- > (no rows)
SELECT u.id from u where not exists(select (1) as a from p U0 left join up U5 on U0.id=U5.pid where ((U5.uid=u.id) and U0.id=1) limit 1) order by id;
-- > 2
-- > 3
-- > 5
SELECT u.id from u where not exists(select (1) as a from p U0 left join gp U1 on U0.id=U1.pid left join g U2 on U1.gid=U2.id left join ug U3 on U2.id=U3.gid left join up U5 on U0.id=U5.pid where ((U3.uid=u.id or U5.uid=u.id) and U0.id=1) limit 1) order by id;
-- > 3
-- > 5
SELECT u.id from u where exists(select count(*) from up where uid = u.id) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT u.id from u where not exists(select count(*) from up where uid = u.id) order by id;
-- > (no rows)
SELECT u.id from u where exists(select max(id) from up where uid = u.id group by pid) order by id;
-- > 1
-- > 4
SELECT u.id from u where exists(select max(id) from up where uid = u.id limit 0) order by id;
-- > (no rows)
SELECT u.id from u where not exists(select max(id) from up where uid = u.id limit 0) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT u.id from u where exists(select 1 from (select uid from up limit 1) d where d.uid=u.id) order by id;
-- > 1
SELECT u.id from u where exists(select 1 from up left join ug on up.uid=ug.uid and ug.uid=u.id where up.pid=1) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT u.id from u where exists(select 1 from up where up.uid=u.id union select 1 from ug where ug.uid=u.id) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select 1 from up where pid=1 limit 0) order by id;
-- > (no rows)
SELECT u.id from u where exists(select count(*) from up where pid=100) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT u.id from u where exists(select count(*) c from up where uid=u.id having c > 0) order by id;
-- > 1
-- > 4
create table r (a int, b int, t varchar(10));
insert into r values (1,1,'1'),(0,2,'1.0'),(2,null,'01'),(null,3,'x'),(null,null,null),(4,4,'4');
-- > rows affected: 6
SELECT u.id from u where exists(select 1 from r where r.a + r.b = u.id) order by id;
-- > 2
SELECT u.id from u where exists(select 1 from r where r.t = u.id) order by id;
-- > 1
-- > 4
SELECT u.id from u where exists(select 1 from r where r.a = u.id or r.b = u.id) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
SELECT u.id from u where not exists(select 1 from r where r.a = u.id or r.b = u.id) order by id;
-- > 5
SELECT u.id from u where u.id in (select r.t from r) order by id;
-- > 1
-- > 4
SELECT u.id from u where u.id in (select r.a + r.b from r) order by id;
-- > 2
SELECT u.id from u where u.id in (select r.a from r where r.b = u.id or r.a = u.id) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select 1 from r where r.a <=> nullif(u.id,5)) order by id;
-- > 1
-- > 2
-- > 4
-- > 5
SELECT u.id from u where not exists(select 1 from r where r.a <=> nullif(u.id,5)) order by id;
-- > 3
SELECT u.id from u where not exists(select 1 from r where r.b in (u.id, u.id+1)) order by id;
-- > 5
SELECT u.id from u where exists(select 1 from r where r.b in (u.id, u.id+1)) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
SELECT u.id from u where exists(select 1 from r where (r.a, r.b) = (u.id, u.id)) order by id;
-- > 1
-- > 4
SELECT u.id from u where (u.id, 1) in (select r.a, 1 from r where r.b=u.id or r.b is null) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select 1 from r where u.id = 3) order by id;
-- > 3
SELECT u.id from u where not exists(select 1 from r where u.id = 3) order by id;
-- > 1
-- > 2
-- > 4
-- > 5
SELECT u.id from u where not exists(select 1 from r where r.t = u.id) order by id;
-- > 2
-- > 3
-- > 5
SELECT u.id from u where u.id not in (select r.t from r where t is not null) order by id;
-- > 2
-- > 3
-- > 5
SELECT u.id from u where exists(select 1 from r where r.a=u.id and (r.b = u.id or r.b is null)) order by id;
-- > 1
-- > 2
-- > 4
SELECT u.id from u where exists(select 1 from r where r.a*0=u.id*0 ) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
-- A LIMIT and a window are of all rows, not of those that the outer query asks for.
SELECT u.id from u where u.id in (select count(*) from up where u.id=3) order by id;
-- > (no rows)
SELECT u.id from u where u.id-1 in (select count(*) from up where uid=u.id) order by id;
-- > (no rows)
SELECT u.id from u where u.id-5 in (select count(*) from up where u.id=3) order by id;
-- > 5
SELECT u.id from u where 0 in (select count(*) from up where u.id=3) order by id;
-- > 1
-- > 2
-- > 4
-- > 5
SELECT u.id from u where u.id not in (select count(*)+3 from up where u.id=3) order by id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT u.id from u where exists(select 1 from (select uid from up order by id limit 1) d where d.uid=u.id) order by id;
-- > 1
SELECT u.id from u where u.id in (select uid from (select uid from up order by id limit 1) d where d.uid=u.id) order by id;
-- > 1
SELECT u.id from u where u.id in (select uid from (select uid from up order by id limit 1) d) order by id;
-- > 1
SELECT u.id, (select 1 from (select uid from up order by id limit 1) d where d.uid=u.id) z from u order by id;
-- > 1	1
-- > 2	NULL
-- > 3	NULL
-- > 4	NULL
-- > 5	NULL
SELECT u.id from u join (select uid from up order by id limit 1) d where d.uid=u.id order by id;
-- > 1
SELECT d.* from (select uid from up order by id limit 1) d where d.uid=4;
-- > (no rows)
SELECT u.id, (select count(*) from (select uid from up order by id limit 1) d where d.uid=u.id) z from u order by id;
-- > 1	1
-- > 2	0
-- > 3	0
-- > 4	0
-- > 5	0
SELECT u.id from u where exists(select 1 from (select max(uid) m from up) d where d.m=u.id) order by id;
-- > 4
SELECT u.id from u where exists(select 1 from (select uid, row_number() over (order by id) rn from up) d where d.uid=u.id and rn=1) order by id;
-- > 1
-- A condition on a column of the outer query is none on a column of that name.
SELECT u.id, (select count(*) from ct x where u.su=1) z, (select count(*) from ct x where u.id=3 and x.label<>'') z3, (select max(uid) from up where u.id=3) z5, (select max(id) from ct where u.id in (2,3)) z7, (select max(id) from ct where u.id>2) z8 from u order by id;
-- > 1	0	0	NULL	NULL	NULL
-- > 2	0	0	NULL	2	NULL
-- > 3	2	2	4	2	2
-- > 4	0	0	NULL	NULL	2
-- > 5	0	0	NULL	NULL	2
-- LIKE: an escaped wildcard is a character, whatever the planner makes of the pattern, and BINARY compares bytes.
create table a (id int primary key, h varchar(100) , f varchar(20), l varchar(20), note int);
create table n (id int primary key, t varchar(20));
insert into n values (1,'x');
-- > rows affected: 1
insert into a values (1,'Article with \\ backslash','Jack','Jackson',1),(2,'a_b','Jack','jackson',1),(3,'x%y','','',1),(4,'axb','','',1);
-- > rows affected: 4
SELECT id from a where h like '%\\\\%';
-- > 1
SELECT id from a where h like binary '%\\\\%';
-- > 1
SELECT id from a where h like binary '%\\%';
-- > (no rows)
SELECT id from a where not (h like binary 'Article\\_%') order by id;
-- > 1
-- > 2
-- > 3
-- > 4
SELECT id from a where h like 'A\\_b';
-- > 2
SELECT a.id from a join n on a.note=n.id where a.h like 'A\\_b' order by n.t desc, a.h;
-- > 2
SELECT a.id from a join n on a.note=n.id where a.h like 'A\_b' order by n.t desc, a.h;
-- > 2
SELECT a.id from a join n on a.note=n.id where a.h = 'A_b' order by n.t desc, a.h;
-- > 2
SELECT id from a where l like binary concat(replace(replace(replace(f,'\\','\\\\'),'%','\%'),'_','\_'),'%');
-- > 1
-- > 3
-- > 4
SELECT id from a where f <> '' and l like concat(f,'%');
-- > 1
-- > 2
SELECT id from a where l like binary concat('Jack','%');
-- > 1
prepare s from 'select id from a where h like ?';
set @x='A\\_b';
execute s using @x;
-- > 2
prepare s from 'select id from a where h like binary ?';
set @x='a\\_b';
execute s using @x;
-- > 2
set @x='%\\\\%';
execute s using @x;
-- > 1
-- An EXISTS is a value that others are compared with.
create table dt (id int primary key, a datetime(6), b datetime, c date, d timestamp null);
insert into dt values (1,'2020-01-01 10:00:00.12345',null,'2021-02-03','2022-01-01 00:00:00'), (2,null,null,null,null);
-- > rows affected: 2
select id, id = exists(select 1 from dt x where x.id = dt.id) e from dt order by id;
-- > 1	1
-- > 2	0
select id from dt where 1 = exists(select 1 from dt x where x.id = dt.id and x.a is null) order by id;
-- > 2
select id from dt where 0 <> exists(select 1 from dt x where x.id = dt.id and (x.a is null)) and id <> not exists(select 1) order by id;
-- > ERROR 1064 (42000)
-- EXISTS beside operators
create table ex (id int primary key);
insert into ex values (1), (2), (3);
-- > rows affected: 3
select exists (select 1 from ex) = exists (select 1 from ex where id > 10);
-- > 0
select a.id from ex a where exists (select 1 from ex b where b.id > a.id) = exists (select 1 from ex b where b.id < a.id) order by 1;
-- > 2
select exists (select 1 from ex) + 1, 2 - exists (select 1 from ex), not exists (select 1 from ex) = 0, exists (select 1 from ex) is null;
-- > 2	1	1	0
select id from ex where exists (select 1 from ex) <> (id = 1) order by id;
-- > 2
-- > 3
select id from ex where exists (select 1 from ex where id = 2) and not exists (select 1 from ex where id = 9) order by id;
-- > 1
-- > 2
-- > 3
create table zeros (a int, b varchar(3));
insert into zeros values (0, '0'), (1, '1');
-- > rows affected: 2
select a from zeros where '0' in (select a from zeros group by a) order by a;
-- > 0
-- > 1
select a from zeros where '0' in (select b from zeros group by a, b) order by a;
-- > 0
-- > 1
select a from zeros where '2' not in (select b from zeros group by b) order by a;
-- > 0
-- > 1
select a from zeros where '2' in (select b from zeros group by b) order by a;
-- > (no rows)
select a from zeros where '0' not in (select b from zeros group by b) order by a;
-- > (no rows)
drop table zeros;
