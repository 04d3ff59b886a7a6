-- Without a strict SQL mode an INSERT makes values fit, with warnings, and a column without a value or a default gets the zero of its type.
set sql_mode = '';
create table nn (id int auto_increment primary key, a int not null, b varchar(10) not null, c text not null, d date not null, e blob not null, f decimal(5,2) not null, g enum('x','y') not null);
insert into nn (id) values (default);
-- > rows affected: 1
insert into nn () values ();
-- > rows affected: 1
insert into nn (a) values (7), (8);
-- > rows affected: 2
insert into nn (a, b) values (null, 'q'), (3, null);
-- > rows affected: 2
insert into nn (id) select 50;
-- > rows affected: 1
select id, a, b, c, d, e, f, g from nn order by id;
-- > 1	0	""	""	0000-00-00	""	0.00	x
-- > 2	0	""	""	0000-00-00	""	0.00	x
-- > 3	7	""	""	0000-00-00	""	0.00	x
-- > 4	8	""	""	0000-00-00	""	0.00	x
-- > 5	0	q	""	0000-00-00	""	0.00	x
-- > 6	3	""	""	0000-00-00	""	0.00	x
-- > 50	0	""	""	0000-00-00	""	0.00	x
insert into nn (a) values (null);
-- > ERROR 1048 (23000)
create table ln (id int auto_increment primary key, a tinyint, b varchar(3), c decimal(4,1), d date, e enum('x','y'), f tinyint unsigned, u int unique);
insert into ln (a, b, c, d, e, f) values (300, 'abcdef', 12345.67, 'not a date', 'z', -5), ('12abc', 'xyz', 'x', '2020-02-31', 'y', 7);
-- > rows affected: 2
insert into ln (u) values (1);
-- > rows affected: 1
insert into ln (a) select 999 union select 5;
-- > rows affected: 2
replace into ln (id, b) values (1, 'longer');
-- > rows affected: 2
insert into ln (id, b) values (1, 'k') on duplicate key update a = 3;
-- > rows affected: 2
select * from ln order by id;
-- > 1	3	lon	NULL	NULL	NULL	NULL	NULL
-- > 2	12	xyz	0.0	0000-00-00	y	7	NULL
-- > 3	NULL	NULL	NULL	NULL	NULL	NULL	1
-- > 4	127	NULL	NULL	NULL	NULL	NULL	NULL
-- > 5	5	NULL	NULL	NULL	NULL	NULL	NULL
set sql_mode = 'STRICT_TRANS_TABLES';
insert into nn (id) values (default);
-- > ERROR 1364 (HY000)
insert into ln (a) values (300);
-- > ERROR 1264 (22003)
-- An UPDATE does the same, and REPLACE, ON DUPLICATE KEY UPDATE and UPDATE IGNORE.
set sql_mode = '';
create table lu (id int primary key, a tinyint not null, b varchar(3) not null, c decimal(4,1) not null default 5, d date, e enum('x','y') not null, u tinyint unsigned, t time, dt datetime, y year, s set('p','q'), bl tinyblob);
insert into lu (id, a, b, e) values (1, 1, 'one', 'y'), (2, 2, 'two', 'y'), (3, 3, 'x', 'y');
-- > rows affected: 3
update lu set a = 300 where id = 1;
-- > rows affected: 1
show warnings;
-- > Warning	1264	Out of range value for column 'a' at row 1
update lu set b = 'abcdef' where id < 3;
-- > rows affected: 2
show warnings;
-- > Warning	1265	Data truncated for column 'b' at row 1
-- > Warning	1265	Data truncated for column 'b' at row 2
update lu set a = null, b = null, e = null where id = 2;
-- > rows affected: 1
show warnings;
-- > Warning	1048	Column 'a' cannot be null
-- > Warning	1048	Column 'b' cannot be null
-- > Warning	1048	Column 'e' cannot be null
update lu set a = '12abc', c = 'zz', u = -5 where id = 3;
-- > rows affected: 1
-- differs: MariaDB names columns with their tables in 1366
show warnings;
-- mariadb> Warning	1264	Out of range value for column 'u' at row 1
-- mariadb> Warning	1265	Data truncated for column 'a' at row 1
-- mariadb> Warning	1366	Incorrect decimal value: 'zz' for column `cmp`.`lu`.`c` at row 1
-- moka> Warning	1264	Out of range value for column 'u' at row 1
-- moka> Warning	1265	Data truncated for column 'a' at row 1
-- moka> Warning	1366	Incorrect decimal value: 'zz' for column 'c' at row 1
update lu set d = '2020-02-31', t = 'noon', dt = 'soon' where id = 3;
-- > rows affected: 1
update lu set e = 'nope', s = 'p,zzz' where id = 1;
-- > rows affected: 1
update lu set a = a + 200, u = a * 2;
-- > rows affected: 3
select id, a, b, c, d, e, u, t, dt, s from lu order by id;
-- > 1	127	abc	5.0	NULL	""	254	NULL	NULL	p
-- > 2	127	""	5.0	NULL	x	254	NULL	NULL	NULL
-- > 3	127	x	0.0	0000-00-00	y	254	00:00:00	0000-00-00 00:00:00	NULL
update lu set c = null where id = 1;
-- > rows affected: 1
update lu set c = default where id = 2;
-- > rows affected: 0
update lu join (select 1 as i) s on lu.id = s.i set a = 500, b = 'longer';
-- > rows affected: 1
show warnings;
-- > Warning	1264	Out of range value for column 'a' at row 1
-- > Warning	1265	Data truncated for column 'b' at row 1
update lu set a = (select 999), b = concat('ab', 'cdef') where id = 3;
-- > rows affected: 1
select id, a, b, c, d, e, u from lu order by id;
-- > 1	127	lon	0.0	NULL	""	254
-- > 2	127	""	5.0	NULL	x	254
-- > 3	127	abc	0.0	0000-00-00	y	254
insert into lu (id, a) values (1, 5) on duplicate key update a = 1000, b = 'fourfour';
-- > rows affected: 2
-- differs: MariaDB says nothing of columns without a default when it comes to an update
show warnings;
-- mariadb> Warning	1264	Out of range value for column 'a' at row 1
-- mariadb> Warning	1265	Data truncated for column 'b' at row 1
-- moka> Warning	1264	Out of range value for column 'a' at row 1
-- moka> Warning	1265	Data truncated for column 'b' at row 1
-- moka> Warning	1364	Field 'b' doesn't have a default value
-- moka> Warning	1364	Field 'e' doesn't have a default value
insert into lu (id, a) values (1, 5), (2, 6) on duplicate key update a = values(a) * 100, b = null;
-- > rows affected: 2
select id, a, b from lu order by id;
-- > 1	127	""
-- > 2	127	""
-- > 3	127	abc
insert into lu (id, a, b) values (1, 5, '') on duplicate key update a = null;
-- > ERROR 1048 (23000)
replace into lu (id, a, b, u) select 3, 1000, 'abcdef', -1;
-- > rows affected: 2
select id, a, b, u from lu order by id;
-- > 1	127	""	254
-- > 2	127	""	254
-- > 3	127	abc	0
update lu set id = 'x7' where id = 3;
-- > rows affected: 1
select id from lu order by id;
-- > 0
-- > 1
-- > 2
set sql_mode = 'STRICT_TRANS_TABLES';
update ignore lu set a = 300, b = 'abcdef', u = -1 where id = 1;
-- > rows affected: 1
show warnings;
-- > Warning	1264	Out of range value for column 'a' at row 1
-- > Warning	1264	Out of range value for column 'u' at row 1
-- > Warning	1265	Data truncated for column 'b' at row 1
update ignore lu set a = null, e = 'q' where id = 2;
-- > rows affected: 1
show warnings;
-- > Warning	1048	Column 'a' cannot be null
-- > Warning	1265	Data truncated for column 'e' at row 1
update ignore lu set d = 'nodate' where id = 2;
-- > rows affected: 1
insert ignore into lu (id, a, b, e) values (1, 5, 'x', 'x') on duplicate key update a = 999, b = 'abcdef';
-- > rows affected: 0
select id, a, b, d, e, u from lu order by id;
-- > 0	127	abc	NULL	x	0
-- > 1	127	abc	NULL	""	0
-- > 2	0	""	0000-00-00	""	254
update lu set a = 300 where id = 1;
-- > ERROR 1264 (22003)
update lu set b = 'abcdef' where id = 1;
-- > ERROR 1406 (22001)
update lu set a = null where id = 1;
-- > ERROR 1048 (23000)
update lu set e = 'q' where id = 1;
-- > ERROR 1265 (01000)
insert into lu (id, a, b, e) values (1, 5, 'x', 'x') on duplicate key update a = 999;
-- > ERROR 1264 (22003)
create trigger lub before update on lu for each row set new.a = new.a + 1;
set sql_mode = '';
update lu set a = 126 where id = 1;
-- > rows affected: 0
update lu set a = 400 where id = 2;
-- > ERROR 1264 (22003)
select id, a from lu order by id;
-- > 0	127
-- > 1	127
-- > 2	0
