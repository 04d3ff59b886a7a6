-- UPDATE and DELETE of several tables: each row once, whatever the join met of it, with triggers, keys and counts.
CREATE TABLE p (id INT PRIMARY KEY, a INT, b INT, t INT NOT NULL DEFAULT 0, ts TIMESTAMP DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP);
CREATE TABLE c (id INT PRIMARY KEY, pid INT, x INT, y INT);
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, w VARCHAR(99));
INSERT INTO p (id, a, b) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
-- > rows affected: 3
INSERT INTO c VALUES (1, 1, 10, 0), (2, 1, 20, 0), (3, 2, 30, 0);
-- > rows affected: 3
CREATE TRIGGER p1 BEFORE UPDATE ON p FOR EACH ROW BEGIN INSERT INTO log (w) VALUES (CONCAT_WS(' ', 'before p', OLD.id, OLD.a, NEW.a, NEW.b)); SET NEW.b = NEW.b + 100, NEW.t = OLD.t + 1; END;
CREATE TRIGGER p2 AFTER UPDATE ON p FOR EACH ROW INSERT INTO log (w) VALUES (CONCAT_WS(' ', 'after p', OLD.id, OLD.a, NEW.a, NEW.b));
CREATE TRIGGER c1 BEFORE UPDATE ON c FOR EACH ROW INSERT INTO log (w) VALUES (CONCAT_WS(' ', 'before c', OLD.id, OLD.x, NEW.x, NEW.y));
CREATE TRIGGER c2 AFTER UPDATE ON c FOR EACH ROW INSERT INTO log (w) VALUES (CONCAT_WS(' ', 'after c', OLD.id, OLD.x, NEW.x, NEW.y));
-- Nothing is assigned that is not there already: triggers fire, and what BEFORE sets is stored.
UPDATE p JOIN c ON c.pid = p.id SET p.a = p.a, c.x = c.x;
-- > rows affected: 2
SELECT w FROM log ORDER BY n;
-- > before p 1 1 1 1
-- > after p 1 1 1 101
-- > before p 2 2 2 2
-- > after p 2 2 2 102
-- > before c 1 10 10 0
-- > after c 1 10 10 0
-- > before c 2 20 20 0
-- > after c 2 20 20 0
-- > before c 3 30 30 0
-- > after c 3 30 30 0
SELECT id, a, b, t, ts > '2002-01-01' FROM p ORDER BY id;
-- > 1	1	101	1	1
-- > 2	2	102	1	1
-- > 3	3	3	0	0
SELECT * FROM c ORDER BY id;
-- > 1	1	10	0
-- > 2	1	20	0
-- > 3	2	30	0
DELETE FROM log WHERE n > 0;
-- > rows affected: 10
-- Values are those that were read: p.b is p.a as it was. The first match of a row counts.
UPDATE p JOIN c ON c.pid = p.id SET p.a = c.x, p.b = p.a, c.y = c.x + 1, c.x = c.y + 7 WHERE c.id <> 2;
-- > rows affected: 4
SELECT w FROM log ORDER BY n;
-- > before p 1 1 10 1
-- > after p 1 1 10 101
-- > before p 2 2 30 2
-- > after p 2 2 30 102
-- > before c 1 10 7 11
-- > after c 1 10 7 11
-- > before c 3 30 7 31
-- > after c 3 30 7 31
SELECT id, a, b, t FROM p ORDER BY id;
-- > 1	10	101	2
-- > 2	30	102	2
-- > 3	3	3	0
SELECT * FROM c ORDER BY id;
-- > 1	1	7	11
-- > 2	1	20	0
-- > 3	2	7	31
DELETE FROM log WHERE n > 0;
-- > rows affected: 8
-- A condition that becomes a join: this is an UPDATE of one table, from left to right.
UPDATE p SET a = 7, b = a WHERE id IN (SELECT pid FROM c);
-- > rows affected: 2
SELECT w FROM log ORDER BY n;
-- > before p 1 10 7 7
-- > after p 1 10 7 107
-- > before p 2 30 7 7
-- > after p 2 30 7 107
UPDATE p SET a = a + 1 WHERE EXISTS (SELECT 1 FROM c WHERE c.pid = p.id AND c.x < 20);
-- > rows affected: 2
UPDATE p SET a = a + 1 WHERE id NOT IN (SELECT pid FROM c);
-- > rows affected: 1
UPDATE p SET a = 9 WHERE id IN (SELECT pid FROM c) ORDER BY id DESC LIMIT 1;
-- > rows affected: 1
SELECT id, a, b, t FROM p ORDER BY id;
-- > 1	8	207	4
-- > 2	9	307	5
-- > 3	4	103	1
DELETE FROM log WHERE n > 0;
-- > rows affected: 12
-- Rows of NULLs of an outer join are none.
UPDATE p LEFT JOIN c ON c.pid = p.id SET c.y = 55, p.a = 8;
-- > rows affected: 6
SELECT w FROM log ORDER BY n;
-- > before p 1 8 8 207
-- > after p 1 8 8 307
-- > before p 2 9 8 307
-- > after p 2 9 8 407
-- > before p 3 4 8 103
-- > after p 3 4 8 203
-- > before c 1 7 7 55
-- > after c 1 7 7 55
-- > before c 2 20 20 55
-- > after c 2 20 20 55
-- > before c 3 7 7 55
-- > after c 3 7 7 55
UPDATE c RIGHT JOIN p ON c.pid = p.id AND c.id > 1 SET c.y = 56, p.a = 10 WHERE p.id > 1;
-- > rows affected: 3
UPDATE p NATURAL JOIN c SET a = x, y = b;
-- > rows affected: 6
UPDATE p JOIN c USING (id) SET y = 4 WHERE id = 2;
-- > rows affected: 1
SELECT id, a, b, t FROM p ORDER BY id;
-- > 1	7	407	6
-- > 2	20	607	8
-- > 3	7	403	4
SELECT * FROM c ORDER BY id;
-- > 1	1	7	307
-- > 2	1	20	4
-- > 3	2	7	303
DELETE FROM log WHERE n > 0;
-- > rows affected: 32
-- The same table under two names: what the second one is assigned goes into what the first one has made.
UPDATE c a JOIN c b ON a.id = b.id + 1 SET a.x = 1, b.y = 2;
-- > rows affected: 4
SELECT * FROM c ORDER BY id;
-- > 1	1	7	2
-- > 2	1	1	2
-- > 3	2	1	303
UPDATE p x JOIN p y ON x.id = y.id SET x.a = x.a + 1, y.b = 5;
-- > rows affected: 6
SELECT id, a, b, t FROM p ORDER BY id;
-- > 1	8	105	8
-- > 2	21	105	10
-- > 3	8	105	6
UPDATE c a JOIN c b ON a.id = b.id + 1 SET a.id = a.id + 10, b.y = 2;
-- > ERROR 1706 (HY000)
UPDATE c a JOIN c b ON a.id = b.id + 1 SET a.y = 3;
-- > rows affected: 2
-- differs: MariaDB has taken it since 10.3
UPDATE c a JOIN c b ON a.id = b.id + 1 SET a.x = 2 WHERE a.id < 0 ORDER BY a.id;
-- mariadb> rows affected: 0
-- moka> ERROR 1221 (HY000)
-- differs: MariaDB has taken it since 10.3
UPDATE c a, c b SET a.x = 2 WHERE a.id < 0 LIMIT 1;
-- mariadb> rows affected: 0
-- moka> ERROR 1221 (HY000)
SELECT id FROM c ORDER BY id;
-- > 1
-- > 2
-- > 3
UPDATE p, c SET p.a = 1 WHERE 1 = 0;
-- > rows affected: 0
UPDATE p JOIN c ON FALSE SET p.a = 1;
-- > rows affected: 0
UPDATE p JOIN (SELECT pid, COUNT(*) AS n FROM c GROUP BY pid) g ON g.pid = p.id SET p.a = g.n;
-- > rows affected: 2
UPDATE p JOIN (SELECT 1 AS id) d ON d.id = p.id SET p.a = 3, d.id = 4;
-- > ERROR 1288 (HY000)
UPDATE p, c SET nope = 1;
-- > ERROR 1054 (42S22)
UPDATE p, c SET id = 1;
-- > ERROR 1052 (23000)
UPDATE p x, p y SET p.a = 1;
-- > ERROR 1054 (42S22)
SELECT id, a, t FROM p ORDER BY id;
-- > 1	2	9
-- > 2	1	11
-- > 3	8	6
-- A table of a trigger may not be one of the statement's, nor may one of the statement's be written by a trigger.
UPDATE p JOIN log ON TRUE SET p.a = p.a;
-- > ERROR 1442 (HY000)
-- A trigger that fails undoes everything.
CREATE TRIGGER p3 BEFORE UPDATE ON p FOR EACH ROW FOLLOWS p1 BEGIN IF NEW.id = 2 THEN SIGNAL SQLSTATE '45000'; END IF; END;
DELETE FROM log WHERE n > 0;
-- > rows affected: 28
UPDATE p JOIN c ON c.pid = p.id SET p.a = 77, c.x = 77;
-- > ERROR 1644 (45000)
SELECT COUNT(*) FROM log;
-- > 0
SELECT COUNT(*) FROM p JOIN c WHERE a = 77 OR x = 77;
-- > 0
DROP TRIGGER p3;
-- DELETE
DELETE p, c FROM p JOIN c ON c.pid = p.id WHERE p.id = 1;
-- > rows affected: 3
SELECT id FROM p ORDER BY id;
-- > 2
-- > 3
SELECT id FROM c ORDER BY id;
-- > 3
CREATE TRIGGER pd BEFORE DELETE ON p FOR EACH ROW INSERT INTO log (w) VALUES (CONCAT('before delete p ', OLD.id));
CREATE TRIGGER cd AFTER DELETE ON c FOR EACH ROW INSERT INTO log (w) VALUES (CONCAT('after delete c ', OLD.id));
INSERT INTO c VALUES (7, 2, 1, 1), (8, 2, 1, 1), (9, 9, 9, 9);
-- > rows affected: 3
DELETE p, c FROM p JOIN c ON c.pid = p.id;
-- > rows affected: 4
SELECT w FROM log ORDER BY n;
-- > before delete p 2
-- > after delete c 3
-- > after delete c 7
-- > after delete c 8
DELETE p FROM p LEFT JOIN c ON c.pid = p.id WHERE c.id IS NULL;
-- > rows affected: 1
DELETE FROM x USING c AS x LEFT JOIN p ON p.id = x.pid WHERE p.id IS NULL;
-- > rows affected: 1
SELECT COUNT(*) FROM p, c;
-- > 0
-- What DELETE names is a name of FROM: an alias has no database, and hides the table's own name.
CREATE DATABASE IF NOT EXISTS cmp2;
CREATE TABLE cmp2.c (id INT PRIMARY KEY);
INSERT INTO cmp2.c VALUES (1), (2);
-- > rows affected: 2
DELETE cmp.c FROM cmp2.c AS c;
-- > ERROR 1109 (42S02)
DELETE cmp.x FROM cmp2.c AS x;
-- > ERROR 1109 (42S02)
DELETE cmp2.x FROM cmp2.c AS x;
-- > ERROR 1109 (42S02)
DELETE cmp2.c FROM cmp2.c AS x;
-- > ERROR 1109 (42S02)
DELETE c FROM cmp2.c AS x;
-- > ERROR 1109 (42S02)
DELETE c FROM cmp2.c;
-- > ERROR 1109 (42S02)
DELETE FROM cmp2.x USING cmp2.c AS x;
-- > ERROR 1109 (42S02)
DELETE d FROM (SELECT 1 AS id) d JOIN cmp2.c ON c.id = d.id;
-- > ERROR 1288 (HY000)
DELETE x FROM cmp2.c AS x WHERE x.id = 1;
-- > rows affected: 1
DELETE cmp2.c FROM cmp2.c WHERE id = 2;
-- > rows affected: 1
-- Two tables of one name.
INSERT INTO c VALUES (1, 1, 1, 1), (2, 2, 2, 2);
-- > rows affected: 2
INSERT INTO cmp2.c VALUES (1), (2);
-- > rows affected: 2
UPDATE cmp.c JOIN cmp2.c ON cmp.c.id = cmp2.c.id SET cmp.c.x = 5, cmp2.c.id = cmp2.c.id + 10;
-- > rows affected: 4
SELECT * FROM c ORDER BY id;
-- > 1	1	5	1
-- > 2	2	5	2
SELECT * FROM cmp2.c ORDER BY id;
-- > 11
-- > 12
DROP DATABASE cmp2;
-- Tables without a primary key; equal rows are changed together.
CREATE TABLE k (a INT, b INT);
INSERT INTO k VALUES (1, 1), (1, 1), (2, 2), (NULL, NULL), (NULL, NULL);
-- > rows affected: 5
CREATE TABLE o (id INT PRIMARY KEY, v INT);
INSERT INTO o VALUES (1, 1), (2, 1), (3, 3);
-- > rows affected: 3
UPDATE k JOIN o ON k.a = o.v SET k.b = k.b + 1, o.v = o.v;
-- > rows affected: 2
SELECT * FROM k ORDER BY a, b;
-- > NULL	NULL
-- > NULL	NULL
-- > 1	2
-- > 1	2
-- > 2	2
UPDATE o LEFT JOIN k ON k.a = o.id SET k.b = 50, o.v = o.v + 1;
-- > rows affected: 6
SELECT * FROM k ORDER BY a, b;
-- > NULL	NULL
-- > NULL	NULL
-- > 1	50
-- > 1	50
-- > 2	50
UPDATE k x JOIN k y ON x.a = y.a SET x.b = x.b + 1, y.a = 7;
-- > rows affected: 6
SELECT * FROM k ORDER BY a, b;
-- > NULL	NULL
-- > NULL	NULL
-- > 7	51
-- > 7	51
-- > 7	51
UPDATE k JOIN o ON k.a IS NULL SET k.b = 3;
-- > rows affected: 2
SELECT * FROM k ORDER BY a, b;
-- > NULL	3
-- > NULL	3
-- > 7	51
-- > 7	51
-- > 7	51
DELETE k, o FROM k JOIN o ON k.b = o.id;
-- > rows affected: 3
SELECT * FROM k ORDER BY a, b;
-- > 7	51
-- > 7	51
-- > 7	51
SELECT * FROM o ORDER BY id;
-- > 1	2
-- > 2	2
-- Keys, checks, generated columns, NULL.
CREATE TABLE par (id INT PRIMARY KEY, v INT, g INT AS (v * 2) STORED, h INT AS (v + 1) VIRTUAL, u INT UNIQUE, CHECK (v < 100));
CREATE TABLE chi (id INT PRIMARY KEY, pid INT, w INT NOT NULL DEFAULT 5, FOREIGN KEY (pid) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO par (id, v, u) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
-- > rows affected: 3
INSERT INTO chi VALUES (1, 1, 1), (2, 1, 1), (3, 2, 1);
-- > rows affected: 3
UPDATE par JOIN chi ON chi.pid = par.id SET par.id = par.id + 10, chi.w = chi.w + 1;
-- > rows affected: 5
SELECT * FROM par ORDER BY id;
-- > 3	3	6	4	3
-- > 11	1	2	2	1
-- > 12	2	4	3	2
SELECT * FROM chi ORDER BY id;
-- > 1	11	2
-- > 2	11	2
-- > 3	12	2
-- differs: the number of a CHECK is MySQL's
UPDATE par a JOIN chi b ON b.pid = a.id SET a.v = 200;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: the number of a CHECK is MySQL's
UPDATE par AS v JOIN chi AS u ON u.pid = v.id SET v.v = 101, u.w = 3;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
UPDATE par a JOIN chi b ON b.pid = a.id SET a.v = 20 + a.v, b.w = DEFAULT;
-- > rows affected: 5
UPDATE par a JOIN chi b ON b.pid = a.id SET b.w = NULL;
-- > ERROR 1048 (23000)
UPDATE par a JOIN chi b ON b.pid = a.id SET a.u = 3;
-- > ERROR 1062 (23000)
UPDATE par a JOIN chi b ON b.pid = a.id SET a.g = DEFAULT, b.w = 4;
-- > rows affected: 3
UPDATE chi JOIN par ON chi.pid = par.id SET chi.pid = 99;
-- > ERROR 1452 (23000)
UPDATE chi a JOIN par b ON a.pid = b.id SET a.pid = 3, b.u = b.u + 100;
-- > rows affected: 5
SELECT * FROM par ORDER BY id;
-- > 3	3	6	4	3
-- > 11	21	42	22	101
-- > 12	22	44	23	102
SELECT * FROM chi ORDER BY id;
-- > 1	3	4
-- > 2	3	4
-- > 3	3	4
UPDATE IGNORE par a JOIN chi b ON b.pid = a.id SET a.v = 200 + b.id, b.w = NULL;
-- > rows affected: 3
SELECT * FROM par ORDER BY id;
-- > 3	3	6	4	3
-- > 11	21	42	22	101
-- > 12	22	44	23	102
SELECT * FROM chi ORDER BY id;
-- > 1	3	0
-- > 2	3	0
-- > 3	3	0
DELETE a FROM par a JOIN chi b ON b.pid = a.id;
-- > rows affected: 1
SELECT * FROM chi ORDER BY id;
-- > (no rows)
CREATE TABLE tree (id INT PRIMARY KEY, up INT, n INT, FOREIGN KEY (up) REFERENCES tree (id) ON DELETE CASCADE);
INSERT INTO tree VALUES (1, NULL, 0), (2, 1, 0), (3, 2, 0), (4, NULL, 0);
-- > rows affected: 4
UPDATE tree a JOIN tree b ON a.up = b.id SET a.n = b.n + 1, b.n = 5;
-- > rows affected: 4
SELECT * FROM tree ORDER BY id;
-- > 1	NULL	5
-- > 2	1	5
-- > 3	2	1
-- > 4	NULL	0
DELETE a FROM tree a JOIN tree b ON a.up = b.id WHERE b.id = 1;
-- > rows affected: 1
SELECT * FROM tree ORDER BY id;
-- > 1	NULL	5
-- > 4	NULL	0
-- Values become those of their columns.
CREATE TABLE e (id INT PRIMARY KEY, c ENUM('a', 'b'), s VARCHAR(5), ch CHAR(4), d DECIMAL(5,2));
INSERT INTO e VALUES (1, 'a', 'x', 'q', 1.5), (2, 'b', 'y', 'r', 2.5);
-- > rows affected: 2
CREATE TABLE f (id INT PRIMARY KEY, v INT);
INSERT INTO f VALUES (1, 2), (2, 3);
-- > rows affected: 2
UPDATE e JOIN f ON f.id = e.id SET e.s = e.c, e.ch = CONCAT(e.s, ' '), e.d = f.v / 3, f.v = e.d;
-- > rows affected: 2
SELECT * FROM e ORDER BY id;
-- > 1	a	a	x	0.67
-- > 2	b	b	y	1.00
SELECT * FROM f ORDER BY id;
-- > 1	2
-- > 2	3
UPDATE e JOIN f ON f.id = e.id SET e.s = 'toolong';
-- > ERROR 1406 (22001)
UPDATE e JOIN f ON f.id = e.id SET e.s = UPPER(e.s), e.ch = 'x ';
-- > rows affected: 2
UPDATE e JOIN f ON f.id = e.id SET e.s = UPPER(e.s), e.ch = 'x';
-- > rows affected: 0
-- Views in joins are read; statements of routines and prepared ones are the same.
CREATE VIEW vw AS SELECT id, s FROM e WHERE id < 2;
UPDATE f JOIN vw ON vw.id = f.id SET f.v = 11;
-- > rows affected: 1
PREPARE s FROM 'UPDATE f JOIN e ON e.id = f.id SET f.v = ?, e.d = f.v WHERE f.id >= ?';
SET @a = 21, @b = 2;
EXECUTE s USING @a, @b;
SET @a = 31, @b = 1;
EXECUTE s USING @a, @b;
SELECT f.*, e.d FROM f JOIN e ON e.id = f.id ORDER BY f.id;
-- > 1	31	11.00
-- > 2	31	21.00
CREATE PROCEDURE pr(x INT) UPDATE f JOIN e ON e.id = f.id SET f.v = x + f.id, e.d = x;
CALL pr(5);
CALL pr(6);
SELECT f.*, e.d FROM f JOIN e ON e.id = f.id ORDER BY f.id;
-- > 1	7	6.00
-- > 2	8	6.00
BEGIN;
UPDATE f JOIN e ON e.id = f.id SET f.v = 0, e.d = 0;
-- > rows affected: 4
DELETE f, e FROM f JOIN e ON e.id = f.id;
-- > rows affected: 4
ROLLBACK;
SELECT f.*, e.d FROM f JOIN e ON e.id = f.id ORDER BY f.id;
-- > 1	7	6.00
-- > 2	8	6.00
UPDATE f JOIN e ON e.id = f.id SET f.v = LAST_INSERT_ID(f.id + 40) WHERE f.id = 1;
-- > rows affected: 1
SELECT LAST_INSERT_ID();
-- > 41
