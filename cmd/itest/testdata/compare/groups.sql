-- HAVING, and subqueries that look at groups.
create table pub (id int primary key, name varchar(20), num int);
create table book (id int primary key, pub_id int, rating double, pages int, name varchar(20));
create table author (id int primary key, name varchar(20), age int);
create table friend (id int primary key auto_increment, a int, b int);
create table wrote (book_id int, author_id int);
insert into pub values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
-- > rows affected: 3
insert into book values (1, 1, 4.5, 500, 'x'), (2, 1, 3, 300, 'y'), (3, 2, 5, 600, 'z');
-- > rows affected: 3
insert into author values (1, 'p', 30), (2, 'q', 40), (3, 'r', 50), (4, 's', 20);
-- > rows affected: 4
insert into friend (a, b) values (1, 2), (2, 1), (1, 3), (3, 1), (2, 4), (4, 2);
-- > rows affected: 6
insert into wrote values (1, 1), (1, 2), (2, 3), (3, 1);
-- > rows affected: 4
-- columns of the same name in several tables
select p.id, sum(b.rating), count(b.id) from pub p left join book b on p.id = b.pub_id group by p.id having sum(b.rating) > count(b.id) or sum(b.rating) is null order by p.id;
-- > 1	7.5	2
-- > 2	5	1
-- > 3	NULL	0
select p.id, sum(b.rating) as s, count(b.id) as c from pub p left join book b on p.id = b.pub_id group by p.id having (sum(b.rating) > (count(b.id)) or sum(b.rating) is null) order by p.id;
-- > 1	7.5	2
-- > 2	5	1
-- > 3	NULL	0
select p.id from pub p join book b on p.id = b.pub_id group by p.id having max(b.name) = 'y' and min(p.name) = 'a' order by p.id;
-- > 1
select u.id from author u left join friend f on u.id = f.a left join author v on f.b = v.id group by u.id having count(case when v.age > u.age then v.id else null end) >= 2;
-- > 1
select a.id from author a left join friend f on a.id = f.a left join author t on f.b = t.id where a.id in (select u.id from author u left join friend g on u.id = g.a left join author v on g.b = v.id group by u.id having count(case when v.age > u.age then v.id else null end) >= 2) group by a.id having count(case when t.age > a.age then t.id else null end) >= 2;
-- > 1
select count(*) from pub p join book b on p.id = b.pub_id having count(b.id) > 2 and max(p.id) = 2;
-- > 3
select exists (select 1 from pub p join book b on p.id = b.pub_id having count(b.id) > 5);
-- > 0
-- an alias with the name of a column that is summed up
select pub_id, sum(rating) as rating from book group by pub_id having rating > 6;
-- > 1	7.5
select pub_id, sum(rating) as rating from book group by pub_id having rating > 6 and count(rating) > 1;
-- > 1	7.5
select pub_id as x, max(id) as id from book group by pub_id having id = 2;
-- > 1	2
select pub_id as id, count(*) from book group by pub_id having id = 2;
-- > 2	1
select sum(pages) as pages from book having pages > 1000;
-- > 1400
select pub_id, count(*) as n, max(pages) - min(pages) as pages from book group by pub_id having pages > 100 and n > 1;
-- > 1	2	200
-- subqueries over what is grouped by
select p.name from pub p left join book b on p.id = b.pub_id group by p.id, p.name having count(b.id) = (select count(u.id) from book u where u.pages > 400 and u.pub_id = p.id group by u.pub_id) order by p.name;
-- > b
select p.name from pub p left join book b on p.id = b.pub_id group by p.name, p.id having exists (select 1 from book u where u.pub_id = p.id and u.pages > 500);
-- > b
select count(*) from pub p left join book b on p.id = b.pub_id group by p.id having (select max(u.pages) from book u where u.pub_id = p.id) > 500;
-- > 1
select count(*) from book group by pub_id having pub_id in (select id from pub p where p.id = pub_id and p.num > 1);
-- > 1
select count(b.id) from book b join pub p on p.id = b.pub_id group by p.id order by (select max(u.pages) from book u where u.pub_id = p.id), 1;
-- > 2
-- > 1
insert into wrote select p.id, max(b.id) from pub p join book b on p.id = b.pub_id group by p.id having count(b.id) = (select count(*) from book u where u.pub_id = p.id);
-- > rows affected: 2
select * from wrote order by 1, 2;
-- > 1	1
-- > 1	2
-- > 1	2
-- > 2	3
-- > 2	3
-- > 3	1
-- names of the outermost query, two levels down
select a.id, (select count(v.id) from pub v where v.id in (select w.id from pub w where w.name = p.name)) as c from book a join pub p on a.pub_id = p.id group by a.id, p.name order by a.id;
-- > 1	1
-- > 2	1
-- > 3	1
select a.id, (select count(v.id) from pub v where v.id in (select w.id from pub w where w.name = p.name)) as c from book a join pub p on a.pub_id = p.id left join wrote r on r.book_id = a.id group by a.id, p.name, (select count(v.id) from pub v where v.id in (select w.id from pub w where w.name = p.name)) order by a.id;
-- > 1	1
-- > 2	1
-- > 3	1
select p.name from pub p group by p.name, (select count(v.id) from pub v where exists (select w.id from pub w where w.name = p.name and w.id = v.id)) order by p.name;
-- > a
-- > b
-- > c
select p.id from pub p join book b on b.pub_id = p.id group by p.id having exists (select 1 from author a where exists (select 1 from wrote w where w.author_id = a.id and w.book_id = p.id) and a.age < 40) order by p.id;
-- > 1
-- above windows
select id, row_number() over (order by id) as rn, (select max(p.num) from pub p where p.id = b.pub_id) as m from book b order by id;
-- > 1	1	1
-- > 2	2	1
-- > 3	3	2
select rating, row_number() over (order by b.id) as rn, (select max(p.num) from pub p where p.id = b.pub_id) as m from book b join pub q on q.id = b.pub_id order by rn;
-- > 4.5	1	1
-- > 3	2	1
-- > 5	3	2
-- what does not depend on the groups
select name from pub group by num;
-- > ERROR 1055 (42000)
select p.id, b.name from pub p left join book b on b.pub_id = p.id group by p.id;
-- > ERROR 1055 (42000)
select name, count(*) from pub;
-- > ERROR 1140 (42000)
select pub_id from book group by pub_id having nosuch > 1;
-- > ERROR 1054 (42S22)
select pages + 2 from book group by pages + 1;
-- > ERROR 1055 (42000)
