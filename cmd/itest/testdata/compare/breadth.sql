-- What random scripts have found: windows over groups, IN of numbers of different kinds, VALUES() of INSERT … SELECT, joins by COLLATE.
create table w (id int primary key, b int, g varchar(10));
insert into w values (7,3,'a'),(2,0,'a'),(8,3,'b');
-- > rows affected: 3
insert into w (id, b) select id, b from w x on duplicate key update b = values(b) + 1;
-- > rows affected: 6
insert into w (id, b) select x.id, x.b from w x on duplicate key update b = values(b) + 1;
-- > rows affected: 6
insert into w (id, b) select x.id, x.b from w x on duplicate key update w.b = values(b) + 1;
-- > rows affected: 6
insert into w (id, b) select * from (select 7, 9) q on duplicate key update b = values(b) + w.b;
-- > rows affected: 2
select * from w;
-- > 2	3	a
-- > 7	15	a
-- > 8	6	b
create table v (id int primary key, x varchar(5), b int, k int);
insert into v values (1,'q',5,6),(2,'r',7,8);
-- > rows affected: 2
insert into v (b, id) select b, id from w on duplicate key update b = values(b) * 10, x = concat(values(id), '!');
-- > rows affected: 4
select * from v order by id;
-- > 1	q	5	6
-- > 2	2!	30	8
-- > 7	NULL	15	NULL
-- > 8	NULL	6	NULL
insert into v (k, id) select k + 1, id from v on duplicate key update v.b = values(k);
-- > rows affected: 8
insert into v (k, id) select y.b, y.id from w y on duplicate key update k = y.b + 1, b = values(k);
-- > rows affected: 6
select * from v order by id;
-- > 1	q	7	6
-- > 2	2!	3	4
-- > 7	NULL	15	16
-- > 8	NULL	6	7
insert into v select * from v z on duplicate key update k = values(b), x = values(x);
-- > rows affected: 8
select * from v order by id;
-- > 1	q	7	7
-- > 2	2!	3	3
-- > 7	NULL	15	15
-- > 8	NULL	6	6
create procedure odku() insert into v (id, k) select id, 5 from w on duplicate key update k = values(k) + v.k;
call odku();
select * from v order by id;
-- > 1	q	7	7
-- > 2	2!	3	8
-- > 7	NULL	15	20
-- > 8	NULL	6	11
select k, count(*) as n, rank() over (order by count(*)), sum(count(*)) over (order by k) from v group by k order by k;
-- > 7	1	1	1
-- > 8	1	1	2
-- > 11	1	1	3
-- > 20	1	1	4
select g, sum(b) s, rank() over (order by sum(b) desc) r from w group by g having s > 0 order by r, g;
-- > a	18	1
-- > b	6	2
select g, sum(b) / sum(sum(b)) over () as share from w group by g order by g;
-- > a	0.7500
-- > b	0.2500
select count(*) c, row_number() over () from w;
-- > 3	1
select upper(g) u, count(*), lag(count(*)) over (order by upper(g)) from w group by u order by 1 desc;
-- > B	1	2
-- > A	2	NULL
select g, b, count(*) over (partition by g) from w group by g, b order by g, b;
-- > a	3	2
-- > a	15	2
-- > b	6	1
select x.g, max(x.b) m, dense_rank() over w1 d from w x join v y on x.id = y.id group by x.g window w1 as (order by max(x.b)) order by m limit 1;
-- > b	6	1
select b % 2 as odd, sum(id), first_value(sum(id)) over (order by b % 2) from w group by b % 2 order by odd;
-- > 0	8	8
-- > 1	9	8
select g, sum(b) over (order by id) from w;
-- > a	3
-- > a	18
-- > b	24
select group_concat(x) from (select '' x union all select 'a' union all select null) q;
-- > ,a
select group_concat('', 'a'), group_concat(''), group_concat(distinct x order by x separator '|'), group_concat(x order by x desc) from (select '' x union all select '' union all select 'b') q;
-- > a,a,a	,,	|b	b,,
select soundex('10'), soundex(''), soundex('Robert'), soundex('hello world'), soundex('Quadratically'), soundex(null);
-- > ""	""	R163	H4643	Q36324	NULL
select json_overlaps('[1, 2]', json_array(1)), json_overlaps('{"a":1}', json_object('a', 1)), json_overlaps('[1.5]', json_array(1.5));
-- > 1	1	1
select json_arrayagg(b) from w where b > 100;
-- > NULL
select id, min(b) over (partition by g order by b desc) from w order by id;
-- > 2	3
-- > 7	15
-- > 8	6
select addtime(cast('2020-01-01' as datetime), '1:00:00'), addtime(cast('2020-01-01' as datetime), '1:00:00.5');
-- > 2020-01-01 01:00:00	2020-01-01 01:00:00.5
select id from w where b in (select b / 1 from w);
-- > 2
-- > 7
-- > 8
select id from w where b / 4 in (select b / 4 from w);
-- > 2
-- > 7
-- > 8
select id from w where b in (select b * 1.0 from w);
-- > 2
-- > 7
-- > 8
select id from w where b not in (select b + 0.5 from w);
-- > 2
-- > 7
-- > 8
select id from w where greatest(b, 1.5) in (select floor(b) from w);
-- > 2
-- > 7
-- > 8
create table ww (id int primary key, e date, d decimal(5,2));
insert into ww values (1,'2020-01-01', 0.25), (2,'2021-01-01',-0.25),(3,null,null);
-- > rows affected: 3
select sign(d), sign(-0.5), sign(0.2e0), sign('0.3'), sign(null), sign(5), sign(-7) from ww;
-- > -1	-1	1	1	NULL	1	-1
-- > 1	-1	1	1	NULL	1	-1
-- > NULL	-1	1	1	NULL	1	-1
create table cc (id int primary key, c varchar(5), key (c));
insert into cc values (1,'a'),(2,'A'),(3,'b');
-- > rows affected: 3
select x.id, y.id from cc x join cc y on x.c collate utf8mb4_bin = y.c;
-- > 1	1
-- > 2	2
-- > 3	3
select x.id, y.id from cc x join cc y on x.c = y.c collate utf8mb4_bin;
-- > 1	1
-- > 2	2
-- > 3	3
select x.id, y.id from cc x left join cc y on x.c = y.c collate utf8mb4_bin where x.id < 3;
-- > 1	1
-- > 2	2
select id from cc where c = 'A' collate utf8mb4_bin;
-- > 2
select id from cc where c collate utf8mb4_bin = 'A';
-- > 2
select id from cc where c in ('A' collate utf8mb4_bin, 'b');
-- > 2
-- > 3
select id from cc where 'A' collate utf8mb4_bin = c;
-- > 2
select id from cc where c >= 'a' collate utf8mb4_bin;
-- > 1
-- > 3
select id from cc where c between 'a' collate utf8mb4_bin and 'z';
-- > 1
-- > 3
update cc set id = id + 10 where c = 'A' collate utf8mb4_bin;
-- > rows affected: 1
delete from cc where c = 'a' collate utf8mb4_bin;
-- > rows affected: 1
select * from cc order by id;
-- > 3	b
-- > 12	A
select quote(null), quote('it''s'), quote('a\\b'), quote(5);
-- > "NULL"	'it\'s'	'a\\b'	'5'
select 1 in (select id = 1 from cc), 0 in (select c = 'zz' from cc), 2 in (select id > 0 from cc), true in (select 1);
-- > 0	1	0	1
select x.id, y.id, z.id from cc x join ww y on x.id between y.id and y.id + 9 left join cc z on y.id = z.id where x.c = 'b' and space(x.id) like 'b%';
-- > (no rows)
select x.id, y.id from cc x join ww y on x.id between y.d and y.id + 9 where x.c = 'b' and length(x.c) = 7;
-- > (no rows)
