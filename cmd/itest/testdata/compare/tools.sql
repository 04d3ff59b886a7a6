-- What tools ask a server and do with views.
create table t (id int primary key auto_increment, a int, b varchar(20), key a(a), key ab (a,b));
create view shown as select 1;
select nope;
-- > ERROR 1054 (42S22)
show profiles;
-- > (no rows)
show engine innodb mutex;
-- > (no rows)
show binlog events;
-- > (no rows)
show slave hosts;
-- > (no rows)
show local variables like 'autocommit';
-- > autocommit	ON
flush status;
flush hosts;
flush local tables;
flush no_write_to_binlog privileges;
flush binary logs;
flush engine logs;
FLUSH /*!40101 LOCAL */ TABLES;
insert into t (a,b) values (1,'x');
-- > rows affected: 1
create view vv as select 1 as a union select 2;
alter view vv as select b from t;
select * from vv;
-- > x
alter algorithm=merge definer=root@localhost sql security invoker view vv (q,r) as select a,b from t where a>0 with local check option;
select * from vv;
-- > 1	x
-- differs: MySQL's SQLSTATE of 1369 is HY000
insert into vv values (0,'no');
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
insert into vv values (5,'yes');
-- > rows affected: 1
select a, b from t order by a;
-- > 1	x
-- > 5	yes
alter view nope as select 1;
-- > ERROR 1146 (42S02)
alter view vv as select nope from t;
-- > ERROR 1054 (42S22)
select * from vv order by q;
-- > 1	x
-- > 5	yes
drop view vv;
create view vv (x, `y z`) as select a + 1, `b` from t;
select * from vv order by x;
-- > 2	x
-- > 6	yes
-- Errors that were 1105.
create table bad (y year);
insert into bad values (2156);
-- > ERROR 1264 (22003)
create table bad2 (a decimal(5,10));
-- > ERROR 1427 (42000)
create table bad3 (a enum('x','x'));
-- > ERROR 1291 (HY000)
create view bad4 (a, b) as select 1;
-- > ERROR 1353 (HY000)
select 1e400;
-- > ERROR 1367 (22007)
