-- What bodies of triggers may consist of.
CREATE TABLE t (id INT PRIMARY KEY, k INT, v VARCHAR(10), d DECIMAL(6,2));
CREATE TABLE u (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, v VARCHAR(10) UNIQUE);
CREATE TABLE w (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, what VARCHAR(60));
INSERT INTO u VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three');
-- > rows affected: 3
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW UPDATE u JOIN w ON w.a = u.id SET u.n = u.n + NEW.k, w.b = NEW.id WHERE w.a = NEW.id;
INSERT INTO w (a) VALUES (1), (2);
-- > rows affected: 2
INSERT INTO t VALUES (1, 5, 'x', 1.5), (2, 7, 'y', 2.5), (9, 1, 'z', 0);
-- > rows affected: 3
SELECT * FROM u ORDER BY id;
-- > 1	15	one
-- > 2	27	two
-- > 3	30	three
SELECT a, b FROM w ORDER BY id;
-- > 1	1
-- > 2	2
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE m INT DEFAULT (SELECT MAX(n) FROM u WHERE n < 100); DECLARE o INT DEFAULT m + 1; SET NEW.k = m, NEW.d = o; END;
INSERT INTO t (id) VALUES (10), (11);
-- > rows affected: 2
SELECT * FROM t WHERE id >= 10 ORDER BY id;
-- > 10	30	NULL	31.00
-- > 11	30	NULL	31.00
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE x INT; DECLARE y VARCHAR(10); SELECT id, v INTO x, y FROM u WHERE n > NEW.k ORDER BY n DESC, v LIMIT 1; SET NEW.k = x; SET NEW.v = y; END;
INSERT INTO t VALUES (20, 12, 'old', 1), (21, 99, 'old', 1);
-- > rows affected: 2
-- differs: warnings of a trigger are seen, as in MySQL
SHOW WARNINGS;
-- mariadb> (no rows)
-- moka> Warning	1329	No data - zero rows fetched, selected, or processed
SELECT * FROM t WHERE id >= 20 ORDER BY id;
-- > 20	3	three	1.00
-- > 21	NULL	NULL	1.00
DROP TRIGGER t1;
-- Handlers.
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW BEGIN DECLARE n INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR 1062 SET n = n + 1; INSERT INTO u (id, v) VALUES (NEW.id, NEW.v); INSERT INTO u (id, v) VALUES (NEW.id + 100, NEW.v), (NEW.id + 101, NEW.v); INSERT INTO w (a, b) VALUES (NEW.id, n); END;
INSERT INTO t VALUES (30, 1, 'one', 1), (31, 2, 'new', 1);
-- > rows affected: 2
SELECT * FROM u WHERE id >= 30 ORDER BY id;
-- > 31	0	new
SELECT a, b FROM w WHERE a >= 30 ORDER BY id;
-- > 30	2
-- > 31	1
DROP TRIGGER t1;
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION INSERT INTO w (a, what) VALUES (NEW.id, 'handled'); INSERT INTO w (a, what) VALUES (NEW.id, 'before'); INSERT INTO u (id, v) VALUES (NEW.id, 'one'); INSERT INTO w (a, what) VALUES (NEW.id, 'not reached'); END;
INSERT INTO t VALUES (40, 1, 'a', 1);
-- > rows affected: 1
SELECT a, what FROM w WHERE a = 40 ORDER BY id;
-- > 40	before
-- > 40	handled
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE none INT DEFAULT 0; DECLARE x INT DEFAULT 7; DECLARE CONTINUE HANDLER FOR NOT FOUND SET none = 1; SELECT n INTO x FROM u WHERE id = NEW.k; SET NEW.d = x + none; END;
INSERT INTO t VALUES (50, 1, 'a', 0), (51, -1, 'a', 0);
-- > rows affected: 2
SELECT id, d FROM t WHERE id >= 50 ORDER BY id;
-- > 50	15.00
-- > 51	8.00
DROP TRIGGER t1;
-- Loops, CASE, cursors, blocks.
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW BEGIN DECLARE i INT DEFAULT 0; l: LOOP SET i = i + 1; IF i = 2 THEN ITERATE l; END IF; IF i > NEW.k THEN LEAVE l; END IF; INSERT INTO w (a, b) VALUES (NEW.id, i); END LOOP; REPEAT SET i = i - 1; UPDATE u SET n = n + 1 WHERE id = 1; UNTIL i <= 0 END REPEAT; WHILE i < 2 DO SET i = i + 1; DELETE FROM w WHERE a = NEW.id AND b = i; END WHILE; END;
INSERT INTO t VALUES (60, 4, 'a', 0), (61, 0, 'a', 0);
-- > rows affected: 2
SELECT a, b FROM w WHERE a >= 60 ORDER BY id;
-- > 60	3
-- > 60	4
SELECT n FROM u WHERE id = 1;
-- > 21
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN CASE NEW.k WHEN 1 THEN SET NEW.v = 'one'; WHEN 2 THEN SET NEW.v = 'two'; ELSE SET NEW.v = 'many'; END CASE; CASE WHEN NEW.d IS NULL THEN SET NEW.d = -1; WHEN NEW.d > 5 THEN SET NEW.d = 5; ELSE BEGIN END; END CASE; END;
INSERT INTO t VALUES (70, 1, 'a', NULL), (71, 2, 'a', 9), (72, NULL, 'a', 4);
-- > rows affected: 3
SELECT * FROM t WHERE id >= 70 ORDER BY id;
-- > 70	1	one	-1.00
-- > 71	2	two	5.00
-- > 72	NULL	many	4.00
DROP TRIGGER t1;
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW BEGIN DECLARE done INT DEFAULT 0; DECLARE x INT; DECLARE total INT DEFAULT 0; DECLARE c CURSOR FOR SELECT n FROM u WHERE id <= NEW.k ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c; read_it: LOOP FETCH c INTO x; IF done THEN LEAVE read_it; END IF; SET total = total * 2 + x; END LOOP; CLOSE c; INSERT INTO w (a, b) VALUES (NEW.id, total); END;
INSERT INTO t VALUES (80, 2, 'a', 0), (81, 3, 'a', 0), (82, 0, 'a', 0);
-- > rows affected: 3
SELECT a, b FROM w WHERE a >= 80 ORDER BY id;
-- > 80	69
-- > 81	168
-- > 82	0
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE UPDATE ON t FOR EACH ROW BEGIN DECLARE v VARCHAR(10) DEFAULT 'outer'; BEGIN DECLARE v VARCHAR(10) DEFAULT 'inner'; SET NEW.v = CONCAT(v, OLD.k); END; INSERT INTO w (a, what) VALUES (OLD.id, CONCAT(v, ' ', NEW.v)); END;
UPDATE t SET d = d + 1 WHERE id IN (80, 81);
-- > rows affected: 2
SELECT a, what FROM w WHERE a >= 80 AND what IS NOT NULL ORDER BY id;
-- > 80	outer inner2
-- > 81	outer inner3
SELECT * FROM t WHERE id >= 80 ORDER BY id;
-- > 80	2	inner2	1.00
-- > 81	3	inner3	1.00
-- > 82	0	a	0.00
DROP TRIGGER t1;
-- Errors undo the statement, and the statement that fires.
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO w (a, what) VALUES (NEW.id, 'first'); IF NEW.k = 13 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'thirteen', MYSQL_ERRNO = 3333; END IF; INSERT INTO u (id, v) VALUES (NEW.id, NEW.v); END;
INSERT INTO t VALUES (90, 1, 'p', 0), (91, 13, 'q', 0);
-- > ERROR 3333 (45000)
SELECT COUNT(*) FROM t WHERE id >= 90;
-- > 0
SELECT COUNT(*) FROM w WHERE a >= 90;
-- > 0
INSERT INTO t VALUES (92, 1, 'p', 0), (93, 1, 'p', 0);
-- > ERROR 1062 (23000)
SELECT COUNT(*) FROM w WHERE a >= 90;
-- > 0
START TRANSACTION;
INSERT INTO t VALUES (94, 1, 'r', 0);
-- > rows affected: 1
INSERT INTO t VALUES (95, 13, 's', 0);
-- > ERROR 3333 (45000)
SELECT id FROM t WHERE id >= 90 ORDER BY id;
-- > 94
SELECT a FROM w WHERE a >= 90 ORDER BY id;
-- > 94
COMMIT;
DROP TRIGGER t1;
-- Values that do not fit.
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW INSERT INTO u (id, n, v) VALUES (NEW.id, NEW.k, CONCAT(NEW.v, NEW.v));
INSERT INTO t VALUES (100, 1, 'abcdef', 0);
-- > ERROR 1406 (22001)
INSERT INTO t VALUES (101, NULL, 'abc', 0);
-- > ERROR 1048 (23000)
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW SET NEW.v = CONCAT(NEW.v, '0123456789');
INSERT INTO t VALUES (104, 1, 'abcdef', 0);
-- > ERROR 1406 (22001)
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NULL;
INSERT INTO t VALUES (105, 1, 'abcdef', 0);
-- > ERROR 1048 (23000)
DROP TRIGGER t1;
-- Cascades.
CREATE TRIGGER u1 AFTER UPDATE ON u FOR EACH ROW INSERT INTO w (a, b, what) VALUES (OLD.id, NEW.n, 'u');
CREATE TRIGGER w1 BEFORE INSERT ON w FOR EACH ROW SET NEW.what = CONCAT(NEW.what, '!');
CREATE TRIGGER t1 AFTER UPDATE ON t FOR EACH ROW UPDATE u SET n = n + NEW.k WHERE id IN (1, 2, OLD.id);
DELETE FROM w;
-- > rows affected: 14
UPDATE t SET k = 1 WHERE id IN (1, 2);
-- > rows affected: 2
SELECT a, b, what FROM w ORDER BY id;
-- > 1	22	u!
-- > 2	28	u!
-- > 1	23	u!
-- > 2	29	u!
CREATE TRIGGER w2 AFTER INSERT ON w FOR EACH ROW UPDATE t SET d = 0 WHERE id = NEW.a;
UPDATE t SET k = 2 WHERE id IN (1, 2);
-- > ERROR 1442 (HY000)
SELECT COUNT(*) FROM w;
-- > 4
DROP TRIGGER w2;
DROP TRIGGER u1;
-- What the statement itself uses must not be written.
DROP TRIGGER t1;
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW DELETE FROM t WHERE id = NEW.id - 1;
INSERT INTO t VALUES (110, 1, 'a', 0);
-- > ERROR 1442 (HY000)
DROP TRIGGER t1;
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW UPDATE u SET n = n + 1 WHERE id = NEW.id;
INSERT INTO t SELECT id + 200, n, v, 0 FROM u WHERE id < 3;
-- > ERROR 1442 (HY000)
DROP TRIGGER t1;
-- ROW_COUNT and LAST_INSERT_ID.
CREATE TRIGGER t1 AFTER UPDATE ON t FOR EACH ROW BEGIN DECLARE a, b INT; UPDATE u SET n = n + 1 WHERE id < 3; SET a = ROW_COUNT(); INSERT INTO w (a, what) VALUES (0, 'id'); SET b = LAST_INSERT_ID(); INSERT INTO w (a, b, what) VALUES (a, b > 0, 'counts'); END;
UPDATE t SET k = k + 1 WHERE id IN (1, 2);
-- > rows affected: 2
SELECT ROW_COUNT();
-- > 2
SELECT a, b, what FROM w WHERE what LIKE 'counts%' ORDER BY id;
-- > 2	1	counts!
-- > 2	1	counts!
DROP TRIGGER t1;
-- Names: a variable goes before a column, a column of NEW is no column of the table.
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE n INT DEFAULT 1; DECLARE id INT DEFAULT 3; DECLARE k INT; SELECT u.n + n INTO k FROM u WHERE u.id = id; SET NEW.k = k; SET NEW.d = n + id; END;
INSERT INTO t VALUES (120, 0, 'a', 0);
-- > rows affected: 1
SELECT * FROM t WHERE id = 120;
-- > 120	31	a	4.00
DROP TRIGGER t1;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW SET NEW.nothing = 1;
-- > ERROR 1054 (42S22)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW SET NEW.k = OLD.k;
-- > ERROR 1363 (HY000)
CREATE TRIGGER t1 BEFORE DELETE ON t FOR EACH ROW SET @x = NEW.k;
-- > ERROR 1363 (HY000)
-- differs: the grammar refuses it
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW SELECT 1;
-- mariadb> ERROR 1415 (0A000)
-- moka> ERROR 1064 (42000)
-- differs: the grammar refuses it
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW COMMIT;
-- mariadb> ERROR 1422 (HY000)
-- moka> ERROR 1064 (42000)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN SELECT 1; END;
-- > ERROR 1415 (0A000)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE x INT; DROP TABLE u; END;
-- > ERROR 1422 (HY000)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE x INT; COMMIT; END;
-- > ERROR 1422 (HY000)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN RETURN 1; END;
-- > ERROR 1313 (42000)
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN LEAVE nowhere; END;
-- > ERROR 1308 (42000)
-- User variables and procedures.
CREATE PROCEDURE add_w(x INT, OUT y INT) BEGIN INSERT INTO w (a, what) VALUES (x, 'p'); SET y = x * 2; END;
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE y INT; CALL add_w(NEW.id, y); SET NEW.k = y, @seen = CONCAT_WS(',', @seen, NEW.id); END;
SET @seen = NULL;
INSERT INTO t VALUES (130, 0, 'a', 0), (131, 0, 'b', 0);
-- > rows affected: 2
SELECT @seen;
-- > 130,131
SELECT id, k FROM t WHERE id >= 130 ORDER BY id;
-- > 130	260
-- > 131	262
SELECT a, what FROM w WHERE a >= 130 ORDER BY id;
-- > 130	p!
-- > 131	p!
DROP TRIGGER t1;
DROP TRIGGER w1;
-- Temporary tables.
CREATE TRIGGER t1 AFTER INSERT ON t FOR EACH ROW INSERT INTO w (a, what) VALUES (NEW.id, 'base');
CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, k INT, v VARCHAR(10), d DECIMAL(6,2));
INSERT INTO t VALUES (140, 0, 'a', 0);
-- > rows affected: 1
SELECT COUNT(*) FROM w WHERE a = 140;
-- > 0
DROP TEMPORARY TABLE t;
INSERT INTO t VALUES (140, 0, 'a', 0);
-- > rows affected: 1
SELECT COUNT(*) FROM w WHERE a = 140;
-- > 1
DROP TRIGGER t1;
-- The SQL mode is that of the creation.
CREATE TABLE z (id INT AUTO_INCREMENT PRIMARY KEY, a INT);
SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,PIPES_AS_CONCAT';
CREATE TRIGGER t1 BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.v = NEW.v || '!', @mode = @@sql_mode; INSERT INTO z VALUES (0, NEW.id); END;
CREATE PROCEDURE pz(x INT) BEGIN INSERT INTO z VALUES (x, x); SET @pmode = @@sql_mode; END;
SET SESSION sql_mode = 'STRICT_TRANS_TABLES';
CREATE TRIGGER t2 AFTER INSERT ON t FOR EACH ROW BEGIN SET @mode2 = @@sql_mode; INSERT INTO z (a) VALUES (NEW.id), (NEW.id || 0); END;
INSERT INTO t VALUES (150, 0, 'a', 0);
-- > rows affected: 1
INSERT INTO t VALUES (151, 0, 'a', 0);
-- > ERROR 1062 (23000)
DELETE FROM z WHERE id = 0;
-- > rows affected: 1
INSERT INTO t VALUES (151, 0, 'a', 0);
-- > rows affected: 1
CALL pz(0);
-- > ERROR 1062 (23000)
SELECT @@sql_mode, @mode LIKE '%PIPES%', @mode2, @pmode;
-- > STRICT_TRANS_TABLES	1	STRICT_TRANS_TABLES	NULL
INSERT INTO z VALUES (0, 7);
-- > rows affected: 1
SELECT id = 0, a FROM z ORDER BY id;
-- > 1	151
-- > 0	150
-- > 0	1
-- > 0	151
-- > 0	1
-- > 0	7
SELECT id, v FROM t WHERE id >= 150 ORDER BY id;
-- > 150	a!
-- > 151	a!
-- A function must not write to what its statement uses.
DROP TRIGGER t1;
DROP TRIGGER t2;
CREATE TABLE fx (id INT PRIMARY KEY, v INT);
CREATE TABLE fy (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO fx VALUES (1, 1), (2, 2);
-- > rows affected: 2
CREATE FUNCTION touch(x INT) RETURNS INT BEGIN UPDATE fx SET v = v + 10 WHERE id = x; INSERT INTO fy (v) VALUES (x); RETURN x; END;
CREATE FUNCTION outer_touch(x INT) RETURNS INT BEGIN DECLARE r INT; SELECT touch(x) INTO r; RETURN r; END;
SELECT touch(1);
-- > 1
SELECT touch(v) FROM (SELECT 2 AS v) z;
-- > 2
SELECT id, touch(id) FROM fx ORDER BY id;
-- > ERROR 1442 (HY000)
INSERT INTO fx VALUES (3, touch(1));
-- > ERROR 1442 (HY000)
UPDATE fx SET v = touch(2) WHERE id = 1;
-- > ERROR 1442 (HY000)
DELETE FROM fx WHERE id = touch(1);
-- > ERROR 1442 (HY000)
SELECT outer_touch(1);
-- > 1
SELECT outer_touch(id) FROM fx ORDER BY id;
-- > ERROR 1442 (HY000)
SELECT * FROM fx ORDER BY id;
-- > 1	21
-- > 2	12
INSERT INTO fy (v) VALUES (touch(1));
-- > ERROR 1442 (HY000)
CREATE TRIGGER fx1 AFTER INSERT ON fx FOR EACH ROW SET @r = touch(NEW.id);
INSERT INTO fx VALUES (4, 4);
-- > ERROR 1442 (HY000)
INSERT INTO z (a) VALUES (outer_touch(2));
-- > rows affected: 1
SELECT COUNT(*), MAX(a) FROM z;
-- > 7	151
SELECT * FROM fx ORDER BY id;
-- > 1	21
-- > 2	22
-- A view whose function is gone.
CREATE FUNCTION gone(x INT) RETURNS INT DETERMINISTIC RETURN x + 1;
CREATE VIEW calls_gone AS SELECT id, gone(id) AS g FROM fx;
SELECT * FROM calls_gone WHERE id = 1;
-- > 1	2
DROP FUNCTION gone;
SELECT * FROM calls_gone WHERE id = 1;
-- > ERROR 1356 (HY000)
SELECT id FROM calls_gone;
-- > ERROR 1356 (HY000)
SELECT gone(1);
-- > ERROR 1305 (42000)
CREATE FUNCTION gone(x INT) RETURNS INT DETERMINISTIC RETURN x + 2;
SELECT * FROM calls_gone WHERE id = 1;
-- > 1	3
