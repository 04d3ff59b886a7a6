-- Views that are written through: names and conditions are the view's, rows are the table's.
CREATE DATABASE views_cmp;
USE views_cmp;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL DEFAULT 7, b VARCHAR(20), c INT DEFAULT 1, UNIQUE KEY (b));
CREATE TABLE u (id INT PRIMARY KEY, x INT, a INT, nr INT);
INSERT INTO u VALUES (1, 10, 10, 2), (2, 20, 20, 1), (3, 30, 30, 9);
-- > rows affected: 3
CREATE VIEW v AS SELECT id AS nr, b AS name, c FROM t WHERE c > 0;
INSERT INTO v (name, c) VALUES ('one', 1), ('two', 2);
-- > rows affected: 2
SELECT LAST_INSERT_ID();
-- > 1
INSERT INTO v VALUES (10, 'ten', 10);
-- > rows affected: 1
INSERT INTO v (name) VALUES ('default');
-- > rows affected: 1
INSERT INTO v SET name = 'set', c = 5;
-- > rows affected: 1
INSERT INTO v (name, c) SELECT CONCAT('u', x), x FROM u ORDER BY id;
-- > rows affected: 3
SELECT * FROM t ORDER BY id;
-- > 1	7	one	1
-- > 2	7	two	2
-- > 10	7	ten	10
-- > 11	7	default	1
-- > 12	7	set	5
-- > 13	7	u10	10
-- > 14	7	u20	20
-- > 15	7	u30	30
-- without a check option rows may leave the view, and come from outside of it
INSERT INTO v (name, c) VALUES ('outside', -1);
-- > rows affected: 1
SELECT * FROM v ORDER BY nr;
-- > 1	one	1
-- > 2	two	2
-- > 10	ten	10
-- > 11	default	1
-- > 12	set	5
-- > 13	u10	10
-- > 14	u20	20
-- > 15	u30	30
UPDATE v SET c = 100;
-- > rows affected: 8
SELECT id, c FROM t ORDER BY id;
-- > 1	100
-- > 2	100
-- > 10	100
-- > 11	100
-- > 12	100
-- > 13	100
-- > 14	100
-- > 15	100
-- > 16	-1
UPDATE v SET c = c + nr WHERE name = 'two';
-- > rows affected: 1
UPDATE v SET v.c = v.c * 2 WHERE v.nr = 2;
-- > rows affected: 1
UPDATE v AS w SET w.c = w.c + 1 WHERE w.nr = 2 ORDER BY w.nr LIMIT 1;
-- > rows affected: 1
UPDATE views_cmp.v SET c = 3 WHERE views_cmp.v.nr = 10;
-- > rows affected: 1
UPDATE v SET c = -5 WHERE nr = 1;
-- > rows affected: 1
UPDATE v SET c = 5 WHERE nr = 1;
-- > rows affected: 0
SELECT id, c FROM t ORDER BY id;
-- > 1	-5
-- > 2	205
-- > 10	3
-- > 11	100
-- > 12	100
-- > 13	100
-- > 14	100
-- > 15	100
-- > 16	-1
SELECT * FROM v ORDER BY nr;
-- > 2	two	205
-- > 10	ten	3
-- > 11	default	100
-- > 12	set	100
-- > 13	u10	100
-- > 14	u20	100
-- > 15	u30	100
DELETE FROM v WHERE nr = 1;
-- > rows affected: 0
DELETE FROM v WHERE name LIKE 'u%' ORDER BY nr LIMIT 2;
-- > rows affected: 2
SELECT id, b FROM t ORDER BY id;
-- > 1	one
-- > 2	two
-- > 10	ten
-- > 11	default
-- > 12	set
-- > 15	u30
-- > 16	outside
-- subqueries: a bare name is the subquery's if it has it
UPDATE v SET c = (SELECT x FROM u WHERE u.nr = v.nr) WHERE nr IN (1, 2);
-- > rows affected: 1
UPDATE v SET c = (SELECT x FROM u WHERE id = 2) WHERE EXISTS (SELECT 1 FROM u WHERE u.id = v.nr);
-- > rows affected: 1
UPDATE v SET name = 'TWO' WHERE nr IN (SELECT nr FROM u WHERE x = 10);
-- > rows affected: 1
UPDATE v SET name = CONCAT(name, '!') WHERE (SELECT MAX(x) FROM u WHERE name = 'TWO') IS NOT NULL;
-- > rows affected: 1
SELECT * FROM t ORDER BY id;
-- > 1	7	one	-5
-- > 2	7	TWO!	20
-- > 10	7	ten	3
-- > 11	7	default	100
-- > 12	7	set	100
-- > 15	7	u30	100
-- > 16	7	outside	-1
DELETE FROM v WHERE c IN (SELECT x FROM u);
-- > rows affected: 1
SELECT * FROM t ORDER BY id;
-- > 1	7	one	-5
-- > 10	7	ten	3
-- > 11	7	default	100
-- > 12	7	set	100
-- > 15	7	u30	100
-- > 16	7	outside	-1
-- upserts
INSERT INTO v (name, c) VALUES ('ten', 1) ON DUPLICATE KEY UPDATE c = c + VALUES(c), name = CONCAT(v.name, '+');
-- > rows affected: 2
INSERT INTO v (nr, name) VALUES (10, 'x') ON DUPLICATE KEY UPDATE name = VALUES(name);
-- > rows affected: 2
INSERT IGNORE INTO v (nr, name) VALUES (10, 'y');
-- > rows affected: 0
REPLACE INTO v (nr, name, c) VALUES (10, 'replaced', 4), (77, 'new', 5);
-- > rows affected: 3
INSERT INTO v (nr, name, c) SELECT id + 8, CONCAT('s', x), x FROM u ON DUPLICATE KEY UPDATE c = x + v.c;
-- > rows affected: 5
SELECT * FROM t ORDER BY id;
-- > 1	7	one	-5
-- > 9	7	s10	10
-- > 10	7	replaced	24
-- > 11	7	default	130
-- > 12	7	set	100
-- > 15	7	u30	100
-- > 16	7	outside	-1
-- > 77	7	new	5
-- hidden columns, names of the table, errors
UPDATE v SET a = 1;
-- > ERROR 1054 (42S22)
UPDATE v SET id = 1;
-- > ERROR 1054 (42S22)
UPDATE v SET c = 1 WHERE a = 7;
-- > ERROR 1054 (42S22)
UPDATE v SET c = b;
-- > ERROR 1054 (42S22)
DELETE FROM v WHERE id = 1;
-- > ERROR 1054 (42S22)
DELETE FROM v ORDER BY id;
-- > ERROR 1054 (42S22)
INSERT INTO v (id) VALUES (1);
-- > ERROR 1054 (42S22)
INSERT INTO v (a, name) VALUES (1, 'n');
-- > ERROR 1054 (42S22)
INSERT INTO v VALUES (1);
-- > ERROR 1136 (21S01)
-- differs: MySQL says 1110
INSERT INTO v (name, name) VALUES ('a', 'b');
-- mariadb> ERROR 1471 (HY000)
-- moka> ERROR 1110 (42000)
UPDATE v SET c = 1 WHERE nr IN (SELECT u.id FROM u WHERE b = 1);
-- > ERROR 1054 (42S22)
INSERT INTO v (nr, name) VALUES (77, 'z');
-- > ERROR 1062 (23000)
-- expressions can be read, not written
CREATE VIEW e AS SELECT id, c, c * 2 AS twice, UPPER(b) AS big FROM t;
UPDATE e SET twice = 1;
-- > ERROR 1348 (HY000)
UPDATE e SET c = twice + 1 WHERE big = 'NEW';
-- > rows affected: 1
SELECT c FROM t WHERE id = 77;
-- > 11
DELETE FROM e WHERE twice = 22;
-- > rows affected: 1
SELECT COUNT(*) FROM t WHERE id = 77;
-- > 0
-- differs: MySQL inserts only through views of nothing but columns
INSERT INTO e (id, c) VALUES (200, 1);
-- mariadb> rows affected: 1
-- moka> ERROR 1471 (HY000)
-- the same column twice
CREATE VIEW dup AS SELECT id, c, c AS d FROM t;
-- differs: MySQL inserts only through views that have no column twice
INSERT INTO dup (id, c) VALUES (201, 1);
-- mariadb> rows affected: 1
-- moka> ERROR 1471 (HY000)
UPDATE dup SET c = 55 WHERE d = 4;
-- > rows affected: 0
SELECT c, d FROM dup WHERE c = 55;
-- > (no rows)
-- columns named by the view, stars, parentheses, ORDER BY
CREATE VIEW named (k, n) AS SELECT id, b FROM t WHERE c < 1000 ORDER BY id DESC;
INSERT INTO named (k, n) VALUES (300, 'named');
-- > rows affected: 1
UPDATE named SET n = 'renamed' WHERE k = 300;
-- > rows affected: 1
CREATE VIEW star AS SELECT * FROM t;
INSERT INTO star (b) VALUES ('star');
-- > rows affected: 1
UPDATE star SET a = 8 WHERE b = 'star';
-- > rows affected: 1
CREATE VIEW alias AS SELECT x.id, x.b FROM t AS x WHERE x.id >= 300;
DELETE FROM alias WHERE b = 'renamed';
-- > rows affected: 1
SELECT a, b FROM t WHERE id >= 300 ORDER BY id;
-- > 8	star
-- those that cannot be written
CREATE VIEW d1 AS SELECT DISTINCT c FROM t;
CREATE VIEW d2 AS SELECT c, COUNT(*) AS n FROM t GROUP BY c;
CREATE VIEW d3 AS SELECT MAX(c) AS m FROM t;
CREATE VIEW d4 AS SELECT id FROM t LIMIT 3;
CREATE VIEW d5 AS SELECT id FROM t UNION SELECT id FROM u;
CREATE VIEW d7 AS SELECT x.id FROM (SELECT id FROM t) x;
CREATE ALGORITHM = TEMPTABLE VIEW d8 AS SELECT id, c FROM t;
CREATE VIEW d9 AS SELECT id FROM d8;
CREATE VIEW d10 AS SELECT 1 AS one;
UPDATE d1 SET c = 1;
-- > ERROR 1288 (HY000)
DELETE FROM d1;
-- > ERROR 1288 (HY000)
INSERT INTO d1 VALUES (1);
-- > ERROR 1471 (HY000)
UPDATE d2 SET c = 1;
-- > ERROR 1288 (HY000)
INSERT INTO d2 VALUES (1, 1);
-- > ERROR 1471 (HY000)
DELETE FROM d3;
-- > ERROR 1288 (HY000)
UPDATE d4 SET id = 1;
-- > ERROR 1288 (HY000)
INSERT INTO d5 VALUES (1);
-- > ERROR 1471 (HY000)
DELETE FROM d5;
-- > ERROR 1288 (HY000)
UPDATE d7 SET id = 1;
-- > ERROR 1288 (HY000)
UPDATE d8 SET c = 1;
-- > ERROR 1288 (HY000)
INSERT INTO d8 VALUES (1, 2);
-- > ERROR 1471 (HY000)
DELETE FROM d9;
-- > ERROR 1288 (HY000)
REPLACE INTO d10 VALUES (1);
-- > ERROR 1471 (HY000)
-- WITH CHECK OPTION
CREATE VIEW k1 AS SELECT id, c FROM t WHERE c < 100 WITH CHECK OPTION;
INSERT INTO k1 (id, c) VALUES (400, 50);
-- > rows affected: 1
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k1 (id, c) VALUES (401, 100);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k1 (id, c) VALUES (401, NULL);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
UPDATE k1 SET c = 99 WHERE id = 400;
-- > rows affected: 1
-- differs: MySQL's SQLSTATE of 1369 is HY000
UPDATE k1 SET c = 100 WHERE id = 400;
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
INSERT IGNORE INTO k1 (id, c) VALUES (402, 100), (403, 3);
-- > rows affected: 1
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k1 (id, c) VALUES (400, 1) ON DUPLICATE KEY UPDATE c = 1000;
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
-- differs: MySQL's SQLSTATE of 1369 is HY000
REPLACE INTO k1 (id, c) VALUES (400, 1000);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
SELECT id, c FROM t WHERE id >= 400 ORDER BY id;
-- > 400	99
-- > 403	3
CREATE VIEW k2 AS SELECT id, c FROM v2base WHERE c > 0;
-- > ERROR 1146 (42S02)
CREATE VIEW low AS SELECT id, c FROM t WHERE c < 100;
CREATE VIEW k_local AS SELECT id, c FROM low WHERE c > 10 WITH LOCAL CHECK OPTION;
CREATE VIEW k_casc AS SELECT id, c FROM low WHERE c > 10 WITH CASCADED CHECK OPTION;
CREATE VIEW k_over AS SELECT id, c FROM k_local;
INSERT INTO k_local (id, c) VALUES (410, 500);
-- > rows affected: 1
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k_local (id, c) VALUES (411, 5);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k_casc (id, c) VALUES (412, 500);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
-- differs: MySQL's SQLSTATE of 1369 is HY000
INSERT INTO k_casc (id, c) VALUES (413, 5);
-- mariadb> ERROR 1369 (44000)
-- moka> ERROR 1369 (HY000)
INSERT INTO k_casc (id, c) VALUES (414, 50);
-- > rows affected: 1
-- differs: MySQL looks at the check options of the views below
INSERT INTO k_over (id, c) VALUES (415, 5);
-- mariadb> rows affected: 1
-- moka> ERROR 1369 (HY000)
UPDATE k_over SET c = 11 WHERE id = 414;
-- > rows affected: 1
-- differs: MySQL looks at the check options of the views below
UPDATE k_over SET c = 1 WHERE id = 414;
-- mariadb> rows affected: 1
-- moka> ERROR 1369 (HY000)
-- differs: it has let two rows pass
SELECT id, c FROM t WHERE id >= 410 ORDER BY id;
-- mariadb> 410	500
-- mariadb> 414	1
-- mariadb> 415	5
-- moka> 410	500
-- moka> 414	11
SELECT table_name, check_option FROM information_schema.views WHERE table_schema = 'views_cmp' AND table_name LIKE 'k\_%' ORDER BY table_name;
-- > k_casc	CASCADED
-- > k_local	LOCAL
-- > k_over	NONE
SELECT table_name, is_updatable FROM information_schema.views WHERE table_schema = 'views_cmp' AND table_name NOT IN ('d7', 'd9') ORDER BY table_name;
-- > alias	YES
-- > d1	NO
-- > d10	NO
-- > d2	NO
-- > d3	NO
-- > d4	NO
-- > d5	NO
-- > d8	NO
-- > dup	YES
-- > e	YES
-- > k1	YES
-- > k_casc	YES
-- > k_local	YES
-- > k_over	YES
-- > low	YES
-- > named	YES
-- > star	YES
-- > v	YES
-- columns that are not in the view
CREATE TABLE must (id INT PRIMARY KEY, needed INT NOT NULL, free INT);
CREATE VIEW m AS SELECT id, free FROM must;
INSERT INTO m VALUES (1, 2);
-- > ERROR 1423 (HY000)
INSERT INTO m (id) VALUES (1);
-- > ERROR 1423 (HY000)
SELECT COUNT(*) FROM must;
-- > 0
-- triggers, foreign keys, generated columns
CREATE TABLE g (id INT PRIMARY KEY, n INT, twice INT AS (n * 2) STORED, changed INT DEFAULT 0, CONSTRAINT pos CHECK (n >= 0));
CREATE TABLE child (id INT PRIMARY KEY, g INT, FOREIGN KEY (g) REFERENCES g (id) ON DELETE CASCADE);
CREATE TABLE log (what VARCHAR(40));
CREATE TRIGGER g_ai AFTER INSERT ON g FOR EACH ROW INSERT INTO log VALUES (CONCAT('inserted ', NEW.id));
CREATE TRIGGER g_bu BEFORE UPDATE ON g FOR EACH ROW SET NEW.changed = OLD.changed + 1;
CREATE TRIGGER g_ad AFTER DELETE ON g FOR EACH ROW INSERT INTO log VALUES (CONCAT('deleted ', OLD.id));
CREATE VIEW gv AS SELECT id AS k, n AS v, twice AS w FROM g WHERE n < 100;
CREATE VIEW cv AS SELECT id, g AS parent FROM child;
INSERT INTO gv (k, v) VALUES (1, 1), (2, 2);
-- > rows affected: 2
UPDATE gv SET v = v + 10 WHERE w > 2;
-- > rows affected: 1
-- differs: MySQL's number is 3819
UPDATE gv SET v = -1;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MySQL's number is 3105
UPDATE gv SET w = 1;
-- mariadb> ERROR 1906 (HY000)
-- moka> ERROR 3105 (HY000)
INSERT INTO cv VALUES (1, 2);
-- > rows affected: 1
INSERT INTO cv VALUES (2, 3);
-- > ERROR 1452 (23000)
DELETE FROM gv WHERE k = 2;
-- > rows affected: 1
SELECT * FROM g ORDER BY id;
-- > 1	1	2	0
SELECT * FROM child;
-- > (no rows)
SELECT * FROM log;
-- > deleted 2
-- > inserted 1
-- > inserted 2
-- transactions, prepared statements, a view that becomes another one
START TRANSACTION;
INSERT INTO cv VALUES (3, 1);
-- > rows affected: 1
UPDATE cv SET id = 4 WHERE parent = 1;
-- > rows affected: 1
SELECT * FROM cv;
-- > 4	1
ROLLBACK;
SELECT * FROM cv;
-- > (no rows)
PREPARE p FROM 'INSERT INTO cv (id, parent) VALUES (?, ?)';
SET @a = 5, @b = 1;
EXECUTE p USING @a, @b;
PREPARE q FROM 'UPDATE cv SET id = id + ? WHERE parent = ?';
SET @a = 1;
EXECUTE q USING @a, @b;
EXECUTE q USING @a, @b;
SELECT * FROM child;
-- > 7	1
CREATE OR REPLACE VIEW cv AS SELECT id, g AS parent FROM child WHERE id > 100;
EXECUTE q USING @a, @b;
SELECT * FROM child;
-- > 7	1
DROP VIEW cv;
EXECUTE q USING @a, @b;
-- > ERROR 1146 (42S02)
-- in routines
CREATE VIEW cv AS SELECT id AS k, g AS parent FROM child;
CREATE PROCEDURE pr(IN n INT) BEGIN INSERT INTO cv VALUES (n, 1); UPDATE cv SET k = k + 100 WHERE k = n; DELETE FROM cv WHERE k < 100; END;
CALL pr(20);
CALL pr(21);
SELECT * FROM child ORDER BY id;
-- > 120	1
-- > 121	1
CREATE TRIGGER log_bi AFTER INSERT ON log FOR EACH ROW UPDATE cv SET k = k + 1000 WHERE k = 120;
INSERT INTO log VALUES ('x');
-- > rows affected: 1
SELECT * FROM child ORDER BY id;
-- > 121	1
-- > 1120	1
DROP DATABASE views_cmp;
