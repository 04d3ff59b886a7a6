-- What tools ask a server and do with views.
create table t (id int primary key auto_increment, a int, b varchar(20), key a(a), key ab (a,b));
create view shown as select 1;
select nope;
show profiles;
show engine innodb mutex;
show binlog events;
show slave hosts;
show local variables like 'autocommit';
flush status;
flush hosts;
flush local tables;
flush no_write_to_binlog privileges;
flush binary logs;
flush engine logs;
FLUSH /*!40101 LOCAL */ TABLES;
insert into t (a,b) values (1,'x');
create view vv as select 1 as a union select 2;
alter view vv as select b from t;
select * from vv;
alter algorithm=merge definer=root@localhost sql security invoker view vv (q,r) as select a,b from t where a>0 with local check option;
select * from vv;
-- differs: MySQL's SQLSTATE of 1369 is HY000
insert into vv values (0,'no');
insert into vv values (5,'yes');
select a, b from t order by a;
alter view nope as select 1;
alter view vv as select nope from t;
select * from vv order by q;
drop view vv;
create view vv (x, `y z`) as select a + 1, `b` from t;
select * from vv order by x;
-- Errors that were 1105.
create table bad (y year);
insert into bad values (2156);
create table bad2 (a decimal(5,10));
create table bad3 (a enum('x','x'));
create view bad4 (a, b) as select 1;
select 1e400;
