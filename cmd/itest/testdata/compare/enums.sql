-- ENUM and SET are texts to everything but numbers, wherever their values go.
create database enums;
use enums;
drop table if exists t, l, l2, v1;
create table t (id int primary key, e enum('x','y','z'), s set('a','b','c'), e2 enum('z','y','x'));
insert into t values (1,'y','b,c','y'),(2,'x','a','z'),(3,'z','','x');
-- > rows affected: 3
create table l (id int auto_increment primary key, e varchar(20), s varchar(20));
insert into l (e,s) select e,s from t;
-- > rows affected: 3
select e,s from l;
-- > x	a
-- > y	b,c
-- > z	""
delete from l;
-- > rows affected: 3
create procedure p() insert into l (e,s) select e,s from t;
call p();
select e,s from l;
-- > x	a
-- > y	b,c
-- > z	""
delete from l;
-- > rows affected: 3
create table src (e enum('x','y','z'), s set('a','b','c'));
create trigger tr after insert on src for each row insert into l (e,s) values (new.e,new.s);
insert into src values ('y','b,c');
-- > rows affected: 1
select e,s from l;
-- > y	b,c
delete from l;
-- > rows affected: 1
drop trigger tr;
insert into src values ('z','c');
-- > rows affected: 1
select e,s from l;
-- > (no rows)
select @e, @s;
-- > NULL	NULL
delete from l;
-- > rows affected: 0
drop trigger tr;
-- > ERROR 1360 (HY000)
create trigger tr after insert on src for each row insert into l (e,s) select e, s from t where e = new.e;
insert into src values ('y','b,c');
-- > rows affected: 1
select e,s from l;
-- > y	b,c
delete from l;
-- > rows affected: 1
drop trigger tr;
select concat_ws('-', e, s) from t;
-- > x-a
-- > y-b,c
-- > z-
select concat(e,s), upper(e), lower(s), length(e), left(e,1), replace(e,'y','w'), hex(e), quote(e), reverse(s), trim(e), lpad(e,3,'-'), e+0, s+0, md5(e), substr(s,1,1), instr(s,'b'), repeat(e,2), char_length(s), ascii(e), elt(2,e,s), field('y',e,s), insert(e,1,1,'q'), locate('y',e), to_base64(e), concat(e+0) from t;
-- > xa	X	a	1	x	x	78	'x'	a	x	--x	1	1	9dd4e461268c8034f5c8564e155c67a6	a	0	xx	1	120	a	0	q	0	eA==	1
-- > yb,c	Y	b,c	1	y	w	79	'y'	c,b	y	--y	2	6	415290769594460e2e485922904f345d	b	1	yy	3	121	b,c	1	q	1	eQ==	2
-- > z	Z	""	1	z	z	7A	'z'	""	z	--z	3	0	fbade9e36a3f36d3d676c1b808451dd7	""	0	zz	0	122	""	0	q	0	eg==	3
select case when id=1 then e else s end, if(id=1,e,s), coalesce(e,s), ifnull(e,'n'), nullif(e,'y'), case e when 'y' then 1 else 0 end, greatest(e,'a'), least(e,s) from t;
-- > ""	""	z	z	z	0	z	""
-- > a	a	x	x	x	0	x	a
-- > y	y	y	y	NULL	1	y	b,c
select if(id=1,e,e2), case id when 1 then e when 2 then e2 end, coalesce(e,e2), if(1,e,'q'), ifnull(e,e2) from t;
-- > x	NULL	z	z	z
-- > y	y	y	y	y
-- > z	z	x	x	x
select e from t union select e2 from t;
-- > x
-- > y
-- > z
select e from t union all select s from t;
-- > ""
-- > a
-- > b,c
-- > x
-- > y
-- > z
select e from t union select 'q';
-- > q
-- > x
-- > y
-- > z
select e from t union select 5;
-- > 5
-- > x
-- > y
-- > z
select e from t intersect select e2 from t;
-- > x
-- > y
-- > z
select group_concat(e), group_concat(s separator ';'), group_concat(e order by e), group_concat(distinct e order by e desc), min(e), max(e), min(s), count(distinct e) from t;
-- > y,x,z	b,c;a;	x,y,z	z,y,x	x	z	""	3
select @a := e from t where id=1;
-- > y
select @a;
-- > y
set @b = (select s from t where id=1);
select @b;
-- > b,c
select e,s into @c,@d from t where id = 1;
select @c, @d;
-- > y	b,c
drop table if exists t, l, l2, v1, src, n, i;
drop procedure if exists p;
drop function if exists f;
create table t (id int primary key, e enum('x','y','z'), s set('a','b','c'), e2 enum('z','y','x'));
insert into t values (1,'y','b,c','y'),(2,'x','a','z'),(3,'z','','x'),(4,null,null,null);
-- > rows affected: 4
create table l (id int auto_increment primary key, e varchar(20), s varchar(20));
create table n (id int auto_increment primary key, e int, s double, d decimal(5,2), f bigint unsigned, b blob, c char(5), g enum('x','y','z'), h enum('z','y','x'), k set('c','b','a'));
insert into n (e,s,d,f,b,c,g,h,k) select e,s,e,s,s,e,e,e,s from t;
-- > rows affected: 4
select * from n;
-- > 1	2	6	2.00	6	b,c	y	y	y	c,b
-- > 2	1	1	1.00	1	a	x	x	x	a
-- > 3	3	0	3.00	0	""	z	z	z	""
-- > 4	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
delete from n;
-- > rows affected: 4
-- differs: the state of 1366
insert into n (e,s,d,f,b,c,g,h,k) select max(e),min(s),max(e),min(s),min(s),max(e),max(e),max(e),min(s) from t;
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
select e,s,d,f,b,c,g,h,k from n;
-- > (no rows)
delete from n;
-- > rows affected: 0
insert into l (e,s) select e,s from (select e,s from t where id<3) q;
-- > rows affected: 2
select e,s from l;
-- > x	a
-- > y	b,c
delete from l;
-- > rows affected: 2
insert into l (e,s) select e,s from (select distinct e,s from t order by e limit 3) q;
-- > rows affected: 3
select e,s from l;
-- > NULL	NULL
-- > x	a
-- > y	b,c
delete from l;
-- > rows affected: 3
insert into l (e,s) select e,s from t union all select e2,s from t;
-- > rows affected: 8
select e,s from l order by e,s;
-- > NULL	NULL
-- > NULL	NULL
-- > x	""
-- > x	a
-- > y	b,c
-- > y	b,c
-- > z	""
-- > z	a
delete from l;
-- > rows affected: 8
insert into l (e,s) select e,group_concat(s) from t group by e;
-- > rows affected: 4
select e,s from l order by e,s;
-- > NULL	NULL
-- > x	a
-- > y	b,c
-- > z	""
delete from l;
-- > rows affected: 4
insert into l (e) values ((select e from t where id=1));
-- > rows affected: 1
select e from l;
-- > y
delete from l;
-- > rows affected: 1
insert into l (e,s) values ('q','r');
-- > rows affected: 1
update l set e = (select e from t where id=1);
-- > rows affected: 1
select e from l;
-- > y
update l, t set l.e = t.e, l.s = t.s where t.id=2;
-- > rows affected: 1
select e,s from l;
-- > x	a
delete from l;
-- > rows affected: 1
insert into l (id,e,s) select id,e,s from t on duplicate key update e = values(e);
-- > rows affected: 4
insert into l (id,e,s) select id,e,s from t on duplicate key update e = t.e, s=concat(t.s,'!');
-- > rows affected: 6
select id,e,s from l;
-- > 1	y	b,c!
-- > 2	x	a!
-- > 3	z	!
-- > 4	NULL	NULL
delete from l;
-- > rows affected: 4
replace into l (id,e,s) select id,e,s from t;
-- > rows affected: 4
select id,e,s from l;
-- > 1	y	b,c
-- > 2	x	a
-- > 3	z	""
-- > 4	NULL	NULL
delete from l;
-- > rows affected: 4
create view v1 as select id, e, s, concat_ws('-',e,s) c from t;
insert into l (e,s) select e,c from v1;
-- > rows affected: 4
select e,s from l;
-- > NULL	""
-- > x	x-a
-- > y	y-b,c
-- > z	z-
delete from l;
-- > rows affected: 4
select * from v1;
-- > 1	y	b,c	y-b,c
-- > 2	x	a	x-a
-- > 3	z	""	z-
-- > 4	NULL	NULL	""
insert into l(e) select ifnull(e,'w') from v1;
-- > rows affected: 4
select e from l;
-- > w
-- > x
-- > y
-- > z
delete from l;
-- > rows affected: 4
create table l2 as select e, s, concat_ws('-',e,s) c, if(id=1,e,e2) i, coalesce(e,e2) co, max(e) over () m from t;
select * from l2 order by e;
-- > NULL	NULL	""	NULL	NULL	z
-- > x	a	x-a	z	x	z
-- > y	b,c	y-b,c	y	y	z
-- > z	""	z-	x	z	z
drop table l2;
create table l2 as select if(id=1,e,e2) i, coalesce(e,'q') co, ifnull(s,'u') u, nullif(e,'x') nn, case id when 1 then e when 2 then e2 else s end ca, greatest(e,'a') g, least(e,e2) le from t;
select * from l2;
-- > NULL	q	u	NULL	NULL	NULL	NULL
-- > x	z	""	z	""	z	x
-- > y	y	b,c	y	y	y	y
-- > z	x	a	NULL	z	x	x
drop table l2;
select greatest(e,e2), least(s,'b'), least(e,2), greatest(s,e) from t;
-- > NULL	NULL	NULL	NULL
-- > y	b	2	y
-- > z	""	2	z
-- > z	a	1	x
select field('y',e,s), field(e,'x','y','z'), hex(e), hex(s), unhex(e), hex(s+0), bin(e), oct(e), conv(e,10,2), abs(e), mod(e,2), e div 2, e % 2, -e, e*2, round(e), sqrt(s), pow(e,2), truncate(e,1), sum(e), bit_or(s) from t where id < 4 group by id, e, s;
-- > 0	1	78	61	NULL	1	0	0	0	1	1	0	1	-1	2	1	1	1	1	1	1
-- > 0	3	7A	""	NULL	0	0	0	0	3	1	1	1	-3	6	3	0	9	3	3	0
-- > 1	2	79	622C63	NULL	6	0	0	0	2	0	1	0	-2	4	2	2.449489742783178	4	2	2	6
select sum(e), bit_or(s), count(e) from t;
-- > 6	7	3
select cast(e as char), cast(e as signed), cast(s as unsigned), convert(e, decimal(5,2)), cast(e as binary), convert(e using utf8mb4), cast(s as double), binary e from t where id=1;
-- > y	2	6	2.00	y	y	6	y
select json_array(e,s), json_object('e',e,'s',s), json_quote(e), json_object(e,1) from t;
-- > ["x", "a"]	{"e": "x", "s": "a"}	"\"x\""	{"x": 1}
-- > ["y", "b,c"]	{"e": "y", "s": "b,c"}	"\"y\""	{"y": 1}
-- > ["z", ""]	{"e": "z", "s": ""}	"\"z\""	{"z": 1}
-- > [null, null]	{"e": null, "s": null}	NULL	{"": 1}
-- differs: MySQL writes JSON with spaces, and sorts the keys
select json_arrayagg(e), json_arrayagg(s), json_objectagg(e,s) from t where id < 4;
-- mariadb> ["y","x","z"]	["b,c","a",""]	{"y":"b,c", "x":"a", "z":""}
-- moka> ["y", "x", "z"]	["b,c", "a", ""]	{"x": "a", "y": "b,c", "z": ""}
select e like 'y%', e not like 'x', s like '%b%', e regexp '[xy]', s rlike 'c', e in ('x','y'), s in ('a'), e in (1,2), e = 2, s = 6, e = 'y', e > 1, e < 'y', e between 'x' and 'y', s between 'a' and 'b', e <=> null, e is null, e = e2, e < e2, e = s, e in (select e2 from t), e = any (select e2 from t), strcmp(e,'y'), e='1', not e, e and 1, e xor s, if(e,1,0) from t;
-- > 0	0	0	1	0	1	1	1	0	0	0	0	1	1	1	0	0	0	1	0	1	1	-1	0	0	1	0	1
-- > 0	1	0	0	0	0	0	0	0	0	0	1	0	0	0	0	0	0	0	0	1	1	1	0	0	1	1	1
-- > 1	1	1	1	1	1	0	1	1	1	1	1	0	1	0	0	0	1	0	0	1	1	0	0	0	1	0	1
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	1	1	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	0
select id from t where concat(e,'') = 'y';
-- > 1
select id from t where e like 'x';
-- > 2
select id from t where s = 'b,c';
-- > 1
select id from t where e > 'x' order by id;
-- > 1
-- > 3
select id from t order by e;
-- > 4
-- > 2
-- > 1
-- > 3
select id from t order by e desc;
-- > 3
-- > 1
-- > 2
-- > 4
select id from t order by concat(e);
-- > 4
-- > 2
-- > 1
-- > 3
select id,e from t order by s, e;
-- > 4	NULL
-- > 3	z
-- > 2	x
-- > 1	y
select id from t order by if(1,e,e2);
-- > 4
-- > 2
-- > 1
-- > 3
select id from t order by coalesce(e2,e);
-- > 4
-- > 3
-- > 1
-- > 2
select e from t union select e2 from t order by 1;
-- > NULL
-- > x
-- > y
-- > z
select e, count(*) from t group by e;
-- > NULL	1
-- > x	1
-- > y	1
-- > z	1
select s, count(*) from t group by s order by s;
-- > NULL	1
-- > ""	1
-- > a	1
-- > b,c	1
select concat(e) c, count(*) from t group by c;
-- > NULL	1
-- > x	1
-- > y	1
-- > z	1
select e from t group by e having e = 'x';
-- > x
select e from t group by e having e > 'x' order by e;
-- > y
-- > z
select group_concat(e,s), group_concat(concat(e,s)), group_concat(s), group_concat(e,'-',id order by s) from t;
-- > yb,c,xa,z	yb,c,xa,z	b,c,a,	z-3,x-2,y-1
select lag(e) over (order by id), first_value(s) over (order by id), min(e) over (), max(s) over () from t;
-- > NULL	b,c	x	b,c
-- > y	b,c	x	b,c
-- > x	b,c	x	b,c
-- > z	b,c	x	b,c
select e, (select max(e) from t), concat((select max(e) from t),'!'), concat_ws(',',(select max(s) from t),'!'), (select min(s) from t), coalesce((select e from t where id=1),'n') from t where id=1;
-- > y	z	z!	b,c,!	""	y
select soundex(e), char_length(s), bit_length(s), ord(e), crc32(e), sha1(s), format(e,1), cast(e as char(1)), substring_index(s,',',1), make_set(e,'a','b','c'), export_set(e,'1','0',',',4), space(e), rpad(s,5,e), concat(s,e,1), concat_ws(e,'a','b'), elt(e,'1st','2nd','3rd'), char(e), interval(e,1,2,3), position('b' in s), trim(both 'y' from e), mid(s,2,2), from_base64(to_base64(e)), nullif(e,e2), isnull(e), uuid() like e, ascii(s), lcase(e), ucase(s) from t where id < 4;
-- > X000	1	8	120	2363233923	86f7e437faa5a7fce15d1ddcb9eaeaea377667b8	1.0	x	a	a	1,0,0,0	" "	axxxx	ax1	axb	1st	"\x01"	1	0	x	""	x	x	0	0	97	x	A
-- > Y000	3	24	121	4225443349	aac13456032324fb3c0196dca61ffffea8e710c5	2.0	y	b	b	0,1,0,0	"  "	b,cyy	b,cy1	ayb	2nd	"\x02"	2	1	""	,c	y	NULL	0	0	98	y	B,C
-- > Z000	0	0	122	1657960367	da39a3ee5e6b4b0d3255bfef95601890afd80709	3.0	z	""	a,b	1,1,0,0	"   "	zzzzz	z1	azb	3rd	"\x03"	3	0	z	""	z	z	0	0	0	z	""
select e into @v from t where id=1;
select @v;
-- > y
set @v := (select s from t where id=1);
select @v;
-- > b,c
select @v := e, @w := s from t where id=2;
-- > x	a
select @v,@w;
-- > x	a
select @v := concat(e,s) from t where id=1;
-- > yb,c
select @v;
-- > yb,c
select e,s into @c,@d from t where id=1;
select @c,@d;
-- > y	b,c
set @z = (select max(e) from t);
select @z;
-- > z
create function f(a varchar(10)) returns varchar(20) deterministic return concat(a,'!');
select f(e), f(s) from t;
-- > NULL	NULL
-- > x!	a!
-- > y!	b,c!
-- > z!	!
drop function f;
create function f(a enum('x','y','z')) returns enum('z','y','x') deterministic return a;
select f(e), f('y'), concat(f(e)), f(e)+0 from t;
-- > NULL	y	NULL	NULL
-- > x	y	x	3
-- > y	y	y	2
-- > z	y	z	1
insert into l (e) select f(e) from t;
-- > rows affected: 4
select e from l;
-- > NULL
-- > x
-- > y
-- > z
delete from l;
-- > rows affected: 4
drop function f;
create table dd (a enum('x','y') default 'y', b set('a','b') default 'a,b', c varchar(10) default (concat(a,'!')), g varchar(10) generated always as (concat_ws('-',a,b)) stored, h varchar(10) as (a), i int as (a), j varchar(10) as (b) stored);
insert into dd (a) values ('x'),(default);
-- > rows affected: 2
insert into dd (a) values (default);
-- > rows affected: 1
select * from dd;
-- > x	a,b	x!	x-a,b	x	1	a,b
-- > y	a,b	y!	y-a,b	y	2	a,b
-- > y	a,b	y!	y-a,b	y	2	a,b
insert into l(e) select h from dd;
-- > rows affected: 3
select e from l;
-- > x
-- > y
-- > y
drop table dd;
delete from l;
-- > rows affected: 3
create table ck (a enum('x','y'), check (a <> 'x'));
-- differs: MySQL has 3819, MariaDB 4025
insert into ck values ('x');
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
insert into ck values ('y');
-- > rows affected: 1
drop table ck;
create table ck (a enum('x','y'), check (concat_ws('-',a) <> 'x'));
-- differs: MySQL has 3819, MariaDB 4025
insert into ck values ('x');
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
insert into ck values ('y');
-- > rows affected: 1
select * from ck;
-- > y
drop table ck;
prepare st from 'select e, concat_ws(?,e,s) from t where e = ?';
set @a='-', @b='y';
execute st using @a, @b;
-- > y	y-b,c
prepare st from 'insert into l(e) select e from t where s = ?';
set @a='b,c';
execute st using @a;
select e from l;
-- > y
delete from l;
-- > rows affected: 1
alter table t modify e varchar(10), modify s varchar(20);
select * from t;
-- > 1	y	b,c	y
-- > 2	x	a	z
-- > 3	z	""	x
-- > 4	NULL	NULL	NULL
alter table t modify e enum('z','y','x'), modify s set('c','b','a');
select e, e+0, s, s+0 from t;
-- > NULL	NULL	NULL	NULL
-- > x	3	a	4
-- > y	2	c,b	3
-- > z	1	""	0
with q as (select e,s from t) select concat_ws('-',e,s) from q;
-- > ""
-- > x-a
-- > y-c,b
-- > z-
with recursive q as (select 1 n, e from t where id=1 union all select n+1, e from q where n<3) select * from q;
-- > 1	y
-- > 2	y
-- > 3	y
insert into l(e) with q as (select e from t) select e from q;
-- > rows affected: 4
select e from l;
-- > NULL
-- > x
-- > y
-- > z
delete from l;
-- > rows affected: 4
select a.e from t a join t b on a.e = b.e2;
-- > x
-- > y
-- > z
select a.e from t a left join t b on a.e=b.e2 and b.s='a';
-- > NULL
-- > x
-- > y
-- > z
select a.id,b.id from t a join l b on a.e = b.e;
-- > (no rows)
insert into l(e) select e2 from t;
-- > rows affected: 4
select t.id,l.e from t join l on t.e=l.e order by 1;
-- > 1	y
-- > 2	x
-- > 3	z
select t.id,l.e from t join l on l.e=t.e order by 1;
-- > 1	y
-- > 2	x
-- > 3	z
select id from t where e in (select e from l) order by 1;
-- > 1
-- > 2
-- > 3
select count(distinct e), count(distinct s) from t;
-- > 3	3
select distinct e from t order by e;
-- > NULL
-- > z
-- > y
-- > x
select distinct concat(e,'') from t order by 1;
-- > NULL
-- > x
-- > y
-- > z
select pow(e,2), power(s,2), atan2(e,1), sign(e), ceil(e), floor(s), bit_count(s), log2(s), e & 1, s | 8, s ^ 1, e << 1, round(e,1), truncate(s,0) from t where id < 3;
-- > 4	9	1.1071487177940904	1	2	3	2	1.5849625007211563	0	11	2	4	2	3
-- > 9	16	1.2490457723982544	1	3	4	1	2	1	12	5	6	3	4
create table ei (id int primary key, e enum('x','y','z'), v varchar(10), key(e), key(v));
insert into ei select id, e, e2 from t;
-- > rows affected: 4
select a.id, b.id from ei a join ei b on a.e = b.v order by 1,2;
-- > 1	1
-- > 2	3
-- > 3	2
select a.id, b.id from ei a join ei b on a.v = b.e and a.id < 3 order by 1,2;
-- > 1	1
-- > 2	3
select a.id,b.id from ei a left join ei b on concat(a.v,'') = b.e order by 1,2;
-- > 1	1
-- > 2	3
-- > 3	2
-- > 4	NULL
select id from ei where e = v order by 1;
-- > 1
update ei a join ei b on a.e = b.v set a.v = b.e;
-- > rows affected: 0
select * from ei;
-- > 1	y	y
-- > 2	x	z
-- > 3	z	x
-- > 4	NULL	NULL
delete a from ei a join ei b on a.e = b.v;
-- > rows affected: 3
select count(*) from ei;
-- > 1
drop table ei;
drop table if exists t, l, src;
drop procedure if exists p;
create table t (id int primary key, e enum('x','y','z'), s set('a','b','c'), e2 enum('z','y','x'));
insert into t values (1,'y','b,c','y'),(2,'x','a','z'),(3,'z','','x'),(4,null,null,null);
-- > rows affected: 4
create table l (id int auto_increment primary key, e varchar(20), s varchar(20));
create table src (id int auto_increment primary key, e enum('x','y','z'), s set('a','b','c'));
create trigger tr before insert on src for each row begin declare x varchar(10) default new.e; declare y varchar(10); declare z enum('z','y','x'); declare k int; set y = new.s; set z = new.e; set k = new.e; insert into l(e,s) values (x,y),(z,k),(new.e,new.s),(concat(new.e,'!'),concat_ws('-',new.e,new.s)),(if(1,new.e,new.s),coalesce(new.e,new.s)),(case when 1 then new.s end, z+0); insert into l(e,s) select new.e, new.s; insert into l(e,s) select e, new.s from t where e = new.e; insert into l(e,s) select new.e, count(*) from t where s = new.s; insert into l(e,s) select concat_ws(new.e,s,new.s), 1 from t where concat(e) = new.e; set @q = new.e, @r = new.s; if new.e = 'y' then insert into l(e) values('isy'); end if; if new.e = 2 then insert into l(e) values('is2'); end if; case new.e when 'x' then insert into l(e) values ('cx'); when 'y' then insert into l(e) values ('cy'); else insert into l(e) values ('ce'); end case; update l set s = new.e where e = 'cy'; insert into l (e,s) values (json_array(new.e,new.s), hex(new.e)), (greatest(new.e,'a'), field('y',new.e)), (upper(new.e),new.e+0), (new.e like 'y', new.s in ('b,c')), (new.e > 'x', new.e < 3); end;
insert into src(e,s) values ('y','b,c');
-- > rows affected: 1
select e,s from l;
-- > 1	1
-- > 1	1
-- > Y	2
-- > ["y", "b,c"]	79
-- > b,c	2
-- > b,cyb,c	1
-- > cy	y
-- > is2	NULL
-- > isy	NULL
-- > y	1
-- > y	1
-- > y	2
-- > y	b,c
-- > y	b,c
-- > y	b,c
-- > y	b,c
-- > y	y
-- > y!	y-b,c
select @q,@r;
-- > y	b,c
delete from l;
-- > rows affected: 18
create trigger tu after update on src for each row begin insert into l(e,s) values (old.e,new.e),(old.s,new.s); insert into l(e,s) values (old.e = new.e, old.s <=> new.s); end;
update src set e='z', s='a';
-- > rows affected: 1
select e,s from l;
-- > 0	0
-- > b,c	a
-- > y	z
delete from l;
-- > rows affected: 3
create trigger tb before update on src for each row begin set new.e = old.s; end;
update src set s='c';
-- > ERROR 1265 (01000)
drop trigger tb;
create trigger tb before update on src for each row begin set new.e = (select e2 from t where id=2); set new.s = concat(new.s,',a'); end;
update src set s='c';
-- > rows affected: 1
select * from src;
-- > 1	z	a,c
select e,s from l;
-- > 1	0
-- > a	a,c
-- > z	z
delete from l;
-- > rows affected: 3
create procedure p(a enum('x','y','z'), b varchar(10), out c varchar(10), inout d set('a','b')) begin declare v varchar(10); declare w enum('z','y','x'); declare done int default 0; declare cur cursor for select e from t where id < 3; select e into v from t where id=1; select e into w from t where id=1; insert into l(e,s) values (v,w),(a,b); select s into c from t where id=1; set d = concat_ws(',',d,'b'); open cur; fetch cur into v; insert into l(e,s) values (v,'cur'); fetch cur into w; insert into l(e,s) values (w,w+0); close cur; insert into l(e,s) select a, w from t where e = a; select a, w, concat(a,w), concat_ws('-',a,w,d); end;
set @d='a';
call p('y','b',@c,@d);
-- > y	x	yx	y-x-a,b
select @c,@d;
-- > b,c	a,b
select e,s from l;
-- > x	3
-- > y	b
-- > y	cur
-- > y	x
-- > y	y
delete from l;
-- > rows affected: 5
call p((select e from t where id=2),(select e from t where id=2),@c,@d);
-- > x	x	xx	x-x-a,b
select e,s from l;
-- > x	3
-- > x	x
-- > x	x
-- > y	cur
-- > y	y
delete from l;
-- > rows affected: 5
create table t4 (id int primary key, e enum('x','y','z'), s set('a','b','c'));
insert into t4 values (1,'y','b,c'),(2,'x','a');
-- > rows affected: 2
select round(e), round(e,1), truncate(s,1), round(s), truncate(e,0) from t4;
-- > 1	1	1	1	1
-- > 2	2	6	6	2
select round(e) from t4 group by id,e;
-- > 1
-- > 2
select soundex(e), char_length(s), bit_length(s), ord(e), crc32(e), sha1(s), format(e,1), cast(e as char(1)), substring_index(s,',',1), make_set(e,'a','b','c'), export_set(e,'1','0',',',4), space(e), rpad(s,5,e), concat(s,e,1), concat_ws(e,'a','b'), elt(e,'1st','2nd','3rd'), char(e), interval(e,1,2,3), position('b' in s), trim(both 'y' from e), mid(s,2,2), from_base64(to_base64(e)), isnull(e), uuid() like e, ascii(s), lcase(e), ucase(s) from t4 where id < 4;
-- > X000	1	8	120	2363233923	86f7e437faa5a7fce15d1ddcb9eaeaea377667b8	1.0	x	a	a	1,0,0,0	" "	axxxx	ax1	axb	1st	"\x01"	1	0	x	""	x	0	0	97	x	A
-- > Y000	3	24	121	4225443349	aac13456032324fb3c0196dca61ffffea8e710c5	2.0	y	b	b	0,1,0,0	"  "	b,cyy	b,cy1	ayb	2nd	"\x02"	2	1	""	,c	y	0	0	98	y	B,C
select left('abc',e), repeat('a',e), substr('abc',e,e), lpad('x',s,'-'), substring_index('a,b,c',',',e), insert('abc',e,1,'z'), elt(e, s, 'q') from t4;
-- > a	a	a	x	a	zbc	a
-- > ab	aa	bc	-----x	a,b	azc	q
drop database enums;
create table flags (pk int primary key, s set('abc', 'defg', 'hijkl'));
-- > ERROR 1046 (3D000)
insert into flags values (1, 'abc'), (2, 'defg'), (3, 'abc,defg'), (4, 'abc,defg'), (5, 'hijkl');
-- > ERROR 1046 (3D000)
select group_concat(s order by s separator ';') from flags;
-- > ERROR 1046 (3D000)
select group_concat(distinct s order by s desc separator ';') from flags;
-- > ERROR 1046 (3D000)
drop table flags;
-- > ERROR 1046 (3D000)
