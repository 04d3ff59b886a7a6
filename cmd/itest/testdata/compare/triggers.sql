-- What REPLACE and ON DUPLICATE KEY UPDATE set off, row by row, and what they count.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), UNIQUE KEY (a), UNIQUE KEY (b));
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100));
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'before insert', NEW.id, NEW.a, NEW.b, NEW.c));
CREATE TRIGGER t2 AFTER INSERT ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'after insert', NEW.id, NEW.a, NEW.b, NEW.c));
CREATE TRIGGER t3 BEFORE UPDATE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'before update', OLD.id, OLD.c, 'to', NEW.id, NEW.c));
CREATE TRIGGER t4 AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'after update', OLD.id, OLD.c, 'to', NEW.id, NEW.c));
CREATE TRIGGER t5 BEFORE DELETE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'before delete', OLD.id, OLD.a, OLD.b, OLD.c));
CREATE TRIGGER t6 AFTER DELETE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT_WS(' ', 'after delete', OLD.id, OLD.a, OLD.b, OLD.c));
INSERT INTO t VALUES (1, 1, 1, 'one'), (2, 2, 2, 'two'), (3, 3, 3, 'three'), (4, 4, 4, 'four');
-- > rows affected: 4
SELECT what FROM log ORDER BY n;
-- > before insert 1 1 1 one
-- > after insert 1 1 1 one
-- > before insert 2 2 2 two
-- > after insert 2 2 2 two
-- > before insert 3 3 3 three
-- > after insert 3 3 3 three
-- > before insert 4 4 4 four
-- > after insert 4 4 4 four
DELETE FROM log WHERE n > 0;
-- > rows affected: 8
INSERT INTO t VALUES (1, 10, 10, 'x') ON DUPLICATE KEY UPDATE c = 'uno';
-- > rows affected: 2
INSERT INTO t VALUES (5, 5, 5, 'five') ON DUPLICATE KEY UPDATE c = 'cinco';
-- > rows affected: 1
INSERT INTO t VALUES (6, 2, 6, 'x'), (7, 7, 7, 'seven'), (8, 8, 3, 'y') ON DUPLICATE KEY UPDATE c = CONCAT(c, VALUES(c));
-- > rows affected: 5
INSERT INTO t VALUES (1, 1, 1, 'x') ON DUPLICATE KEY UPDATE c = 'uno';
-- > rows affected: 0
INSERT INTO t SELECT id, a + 100, b + 100, 'again' FROM t WHERE id < 3 ON DUPLICATE KEY UPDATE c = 'again';
-- > rows affected: 4
SELECT what FROM log ORDER BY n;
-- > before insert 1 10 10 x
-- > before update 1 one to 1 uno
-- > after update 1 one to 1 uno
-- > before insert 5 5 5 five
-- > after insert 5 5 5 five
-- > before insert 6 2 6 x
-- > before update 2 two to 2 twox
-- > after update 2 two to 2 twox
-- > before insert 7 7 7 seven
-- > after insert 7 7 7 seven
-- > before insert 8 8 3 y
-- > before update 3 three to 3 threey
-- > after update 3 three to 3 threey
-- > before insert 1 1 1 x
-- > before update 1 uno to 1 uno
-- > after update 1 uno to 1 uno
-- > before insert 1 101 101 again
-- > before update 1 uno to 1 again
-- > after update 1 uno to 1 again
-- > before insert 2 102 102 again
-- > before update 2 twox to 2 again
-- > after update 2 twox to 2 again
SELECT * FROM t ORDER BY id;
-- > 1	1	1	again
-- > 2	2	2	again
-- > 3	3	3	threey
-- > 4	4	4	four
-- > 5	5	5	five
-- > 7	7	7	seven
DELETE FROM log WHERE n > 0;
-- > rows affected: 22
REPLACE INTO t VALUES (1, 1, 1, 'I');
-- > rows affected: 2
REPLACE INTO t VALUES (9, 9, 9, 'nine');
-- > rows affected: 1
REPLACE INTO t VALUES (2, 3, 4, 'many');
-- > rows affected: 4
REPLACE INTO t VALUES (10, 10, 10, 'ten'), (9, 5, 11, 'nine'), (10, 10, 10, 'ten');
-- > rows affected: 6
REPLACE INTO t (id, a, b, c) SELECT 20 + id, a, b, 'moved' FROM t WHERE id IN (1, 7);
-- > rows affected: 4
SELECT ROW_COUNT();
-- > 4
SELECT what FROM log ORDER BY n;
-- > before insert 1 1 1 I
-- > before delete 1 1 1 again
-- > after delete 1 1 1 again
-- > after insert 1 1 1 I
-- > before insert 9 9 9 nine
-- > after insert 9 9 9 nine
-- > before insert 2 3 4 many
-- > before delete 2 2 2 again
-- > after delete 2 2 2 again
-- > before delete 3 3 3 threey
-- > after delete 3 3 3 threey
-- > before delete 4 4 4 four
-- > after delete 4 4 4 four
-- > after insert 2 3 4 many
-- > before insert 10 10 10 ten
-- > after insert 10 10 10 ten
-- > before insert 9 5 11 nine
-- > before delete 9 9 9 nine
-- > after delete 9 9 9 nine
-- > before delete 5 5 5 five
-- > after delete 5 5 5 five
-- > after insert 9 5 11 nine
-- > before insert 10 10 10 ten
-- > before delete 10 10 10 ten
-- > after delete 10 10 10 ten
-- > after insert 10 10 10 ten
-- > before insert 21 1 1 moved
-- > before delete 1 1 1 I
-- > after delete 1 1 1 I
-- > after insert 21 1 1 moved
-- > before insert 27 7 7 moved
-- > before delete 7 7 7 seven
-- > after delete 7 7 7 seven
-- > after insert 27 7 7 moved
SELECT * FROM t ORDER BY id;
-- > 2	3	4	many
-- > 9	5	11	nine
-- > 10	10	10	ten
-- > 21	1	1	moved
-- > 27	7	7	moved
-- Triggers that change the row.
CREATE TABLE s (id INT PRIMARY KEY, v INT NOT NULL, w INT, CHECK (v < 100));
CREATE TRIGGER s1 BEFORE INSERT ON s FOR EACH ROW SET NEW.w = NEW.v * 2;
CREATE TRIGGER s2 BEFORE UPDATE ON s FOR EACH ROW SET NEW.v = NEW.v + 1, NEW.w = OLD.v;
INSERT INTO s (id, v) VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE v = 50;
-- > rows affected: 2
INSERT INTO s (id, v) VALUES (1, 5), (3, 3) ON DUPLICATE KEY UPDATE v = VALUES(v) + VALUES(w);
-- > rows affected: 3
SELECT * FROM s ORDER BY id;
-- > 1	16	1
-- > 2	2	4
-- > 3	3	6
INSERT INTO s (id, v) VALUES (2, 5) ON DUPLICATE KEY UPDATE v = 1;
-- > rows affected: 2
SELECT * FROM s ORDER BY id;
-- > 1	16	1
-- > 2	2	2
-- > 3	3	6
-- differs: MySQL's number of a violated CHECK
INSERT INTO s (id, v) VALUES (2, 5) ON DUPLICATE KEY UPDATE v = 99;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
REPLACE INTO s (id, v) VALUES (1, 7), (4, 4);
-- > rows affected: 3
SELECT * FROM s ORDER BY id;
-- > 1	7	14
-- > 2	2	2
-- > 3	3	6
-- > 4	4	8
-- A trigger that fails takes the statement with it.
CREATE TABLE f (id INT PRIMARY KEY, v INT);
CREATE TABLE seen (id INT);
CREATE TRIGGER f1 AFTER DELETE ON f FOR EACH ROW INSERT INTO seen VALUES (OLD.id);
CREATE TRIGGER f2 AFTER INSERT ON f FOR EACH ROW BEGIN IF NEW.v = 13 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'thirteen'; END IF; END;
CREATE TRIGGER f3 AFTER UPDATE ON f FOR EACH ROW BEGIN IF NEW.v = 13 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'thirteen'; END IF; END;
INSERT INTO f VALUES (1, 1), (2, 2);
-- > rows affected: 2
REPLACE INTO f VALUES (1, 11), (2, 13);
-- > ERROR 1644 (45000)
INSERT INTO f VALUES (1, 12), (2, 2) ON DUPLICATE KEY UPDATE v = 13;
-- > ERROR 1644 (45000)
SELECT * FROM f ORDER BY id;
-- > 1	1
-- > 2	2
SELECT * FROM seen;
-- > (no rows)
REPLACE INTO f VALUES (1, 11), (3, 3);
-- > rows affected: 3
SELECT * FROM f ORDER BY id;
-- > 1	11
-- > 2	2
-- > 3	3
SELECT * FROM seen;
-- > 1
-- A trigger must not write to its own table.
CREATE TABLE own (id INT PRIMARY KEY, v INT);
CREATE TRIGGER o1 AFTER DELETE ON own FOR EACH ROW UPDATE own SET v = 0 WHERE id = 1;
INSERT INTO own VALUES (1, 1), (2, 2);
-- > rows affected: 2
REPLACE INTO own VALUES (2, 3);
-- > ERROR 1442 (HY000)
DELETE FROM own WHERE id = 2;
-- > ERROR 1442 (HY000)
DELETE FROM own WHERE id = 3;
-- > rows affected: 0
CREATE TRIGGER o2 BEFORE UPDATE ON own FOR EACH ROW SET OLD.v = 1;
-- > ERROR 1362 (HY000)
CREATE TRIGGER o2 AFTER UPDATE ON own FOR EACH ROW SET NEW.v = 1;
-- > ERROR 1362 (HY000)
SELECT * FROM own ORDER BY id;
-- > 1	1
-- > 2	2
-- REPLACE counts without triggers.
CREATE TABLE r (id INT PRIMARY KEY, a INT UNIQUE, b INT UNIQUE);
INSERT INTO r VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
-- > rows affected: 3
REPLACE INTO r VALUES (1, 2, 3);
-- > rows affected: 4
REPLACE INTO r VALUES (1, 2, 3);
-- > rows affected: 2
REPLACE INTO r VALUES (1, 5, 6), (7, 5, 8), (9, 9, 8);
-- > rows affected: 6
SELECT * FROM r ORDER BY id;
-- > 9	9	8
-- LAST_INSERT_ID() does not show what a trigger inserts, but inside of it.
CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, num INT, last INT) AUTO_INCREMENT = 1000;
CREATE TRIGGER n1 AFTER INSERT ON numbered FOR EACH ROW BEGIN INSERT INTO audit (num) VALUES (NEW.id); UPDATE audit SET last = LAST_INSERT_ID() WHERE num = NEW.id; END;
CREATE TRIGGER n2 AFTER UPDATE ON numbered FOR EACH ROW INSERT INTO audit (num) VALUES (NEW.id);
INSERT INTO numbered (v) VALUES (1);
-- > rows affected: 1
SELECT LAST_INSERT_ID();
-- > 1
INSERT INTO numbered (v) VALUES (2), (3);
-- > rows affected: 2
SELECT LAST_INSERT_ID();
-- > 2
UPDATE numbered SET v = 5 WHERE id = 1;
-- > rows affected: 1
SELECT LAST_INSERT_ID();
-- > 2
SELECT num, last = id FROM audit ORDER BY id;
-- > 1	1
-- > 2	1
-- > 3	1
-- > 1	NULL
-- Several triggers of one event.
CREATE TABLE m (id INT PRIMARY KEY, v INT);
CREATE TABLE trail (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TRIGGER m1 AFTER INSERT ON m FOR EACH ROW INSERT INTO trail (what) VALUES ('first');
CREATE TRIGGER m2 AFTER INSERT ON m FOR EACH ROW INSERT INTO trail (what) VALUES ('second');
CREATE TRIGGER m0 AFTER INSERT ON m FOR EACH ROW PRECEDES m2 INSERT INTO trail (what) VALUES ('between');
INSERT INTO m VALUES (1, 1);
-- > rows affected: 1
INSERT INTO m VALUES (2, 1);
-- > rows affected: 1
REPLACE INTO m VALUES (3, 1);
-- > rows affected: 1
INSERT INTO m VALUES (4, 1) ON DUPLICATE KEY UPDATE v = 2;
-- > rows affected: 1
INSERT INTO m VALUES (5, 1);
-- > rows affected: 1
SELECT what FROM trail ORDER BY n;
-- > first
-- > between
-- > second
-- > first
-- > between
-- > second
-- > first
-- > between
-- > second
-- > first
-- > between
-- > second
-- > first
-- > between
-- > second
-- From another database.
CREATE DATABASE cmp_other;
USE cmp_other;
INSERT INTO cmp.m VALUES (6, 1);
-- > rows affected: 1
INSERT INTO cmp.m VALUES (6, 1) ON DUPLICATE KEY UPDATE v = 2;
-- > rows affected: 2
REPLACE INTO cmp.m VALUES (7, 1);
-- > rows affected: 1
SELECT COUNT(*) FROM cmp.trail;
-- > 21
USE cmp;
DROP DATABASE cmp_other;
-- Subqueries of a body are asked again for each row and each statement.
CREATE TABLE q (id INT PRIMARY KEY, v INT);
CREATE TABLE counted (id INT PRIMARY KEY, before_it INT, known INT, greatest INT);
CREATE TRIGGER q1 AFTER INSERT ON q FOR EACH ROW INSERT INTO counted VALUES (NEW.id, (SELECT COUNT(*) FROM counted), EXISTS (SELECT 1 FROM counted WHERE before_it = 2), 0);
CREATE TRIGGER q2 AFTER INSERT ON q FOR EACH ROW BEGIN DECLARE n INT; SET n = (SELECT MAX(v) FROM q); UPDATE counted SET greatest = n WHERE id = NEW.id; END;
INSERT INTO q VALUES (1, 10), (2, 30), (3, 20);
-- > rows affected: 3
INSERT INTO q VALUES (4, 40);
-- > rows affected: 1
INSERT INTO q VALUES (5, 50);
-- > rows affected: 1
INSERT INTO q VALUES (6, 45);
-- > rows affected: 1
SELECT * FROM counted ORDER BY id;
-- > 1	0	0	10
-- > 2	1	0	30
-- > 3	2	0	30
-- > 4	3	1	40
-- > 5	4	1	50
-- > 6	5	1	50
CREATE TRIGGER q3 BEFORE DELETE ON q FOR EACH ROW DELETE FROM counted WHERE id IN (SELECT v DIV 10 FROM q WHERE v < 40) AND id >= OLD.id - 1;
DELETE FROM q WHERE id = 3;
-- > rows affected: 1
DELETE FROM q WHERE id = 2;
-- > rows affected: 1
SELECT * FROM counted ORDER BY id;
-- > 4	3	1	40
-- > 5	4	1	50
-- > 6	5	1	50
-- What a trigger BEFORE the change has made of a row is what STORED generated columns are computed of.
create table tg (id int primary key, n int, twice int generated always as (n * 2) stored, v int generated always as (n * 3) virtual, key (twice));
create trigger tgi before insert on tg for each row set new.n = new.n + 1;
create trigger tgu before update on tg for each row set new.n = new.n + 1;
insert into tg (id, n) values (1, 1), (2, 5);
-- > rows affected: 2
insert into tg (id, n) values (3, 7);
-- > rows affected: 1
insert into tg (id, n) select 4, 8;
-- > rows affected: 1
select * from tg order by id;
-- > 1	2	4	6
-- > 2	6	12	18
-- > 3	8	16	24
-- > 4	9	18	27
update tg set n = 10 where id = 1;
-- > rows affected: 1
replace into tg (id, n) values (3, 30);
-- > rows affected: 2
select * from tg order by id;
-- > 1	11	22	33
-- > 2	6	12	18
-- > 3	31	62	93
-- > 4	9	18	27
select id from tg where twice = 62;
-- > 3
-- What ON DUPLICATE KEY UPDATE and UPDATE by a subquery make of generated columns when a trigger BEFORE UPDATE has had its say.
insert into tg (id, n) values (1, 0) on duplicate key update n = 20;
-- > rows affected: 2
insert into tg (id, n) values (2, 0), (9, 90) on duplicate key update n = tg.n + values(n) + 1;
-- > rows affected: 3
select * from tg order by id;
-- > 1	21	42	63
-- > 2	9	18	27
-- > 3	31	62	93
-- > 4	9	18	27
-- > 9	91	182	273
select id from tg where twice = 42;
-- > 1
update tg set n = 50 where id in (select x from (select 1 as x union select 3) s);
-- > rows affected: 2
create table tgk (k int primary key);
insert into tgk values (2), (4);
-- > rows affected: 2
update tg set n = 70 where id in (select k from tgk);
-- > rows affected: 2
select * from tg order by id;
-- > 1	51	102	153
-- > 2	71	142	213
-- > 3	51	102	153
-- > 4	71	142	213
-- > 9	91	182	273
create table tv (id int primary key, n int, v int generated always as (n * 3) virtual, key (v));
create trigger tvi before insert on tv for each row set new.n = new.n + 1;
create trigger tvu before update on tv for each row set new.n = new.n + 1;
insert into tv (id, n) values (1, 1), (2, 5);
-- > rows affected: 2
update tv set n = 10 where id = 1;
-- > rows affected: 1
insert into tv (id, n) values (2, 1) on duplicate key update n = 20;
-- > rows affected: 2
select id from tv where v = 33;
-- > 1
select id from tv where v = 63;
-- > 2
select id from tv where v > 0 order by id;
-- > 1
-- > 2
