-- Clauses of ALTER TABLE that know what others do; names of columns of views; SET NAMES.
CREATE TABLE t (a INT, b INT, CONSTRAINT pos CHECK (b > 0));
INSERT INTO t VALUES (1, 2);
-- > rows affected: 1
ALTER TABLE t CHANGE a x BIGINT, ADD KEY by_x (x), ADD COLUMN y INT AFTER x;
SELECT x, y, b FROM t;
-- > 1	NULL	2
SELECT column_name, ordinal_position, data_type FROM information_schema.columns WHERE table_schema = 'cmp' AND table_name = 't' ORDER BY 2;
-- > x	1	bigint
-- > y	2	int
-- > b	3	int
SELECT index_name, column_name FROM information_schema.statistics WHERE table_schema = 'cmp' AND table_name = 't' ORDER BY 1;
-- > by_x	x
ALTER TABLE t RENAME COLUMN x TO X;
SELECT column_name FROM information_schema.columns WHERE table_schema = 'cmp' AND table_name = 't' ORDER BY ordinal_position;
-- > X
-- > y
-- > b
SELECT * FROM t;
-- > 1	NULL	2
ALTER TABLE t RENAME COLUMN X TO b;
-- > ERROR 1060 (42S21)
ALTER TABLE t ADD COLUMN c INT, ADD CHECK (c < 10);
-- differs: 3819
INSERT INTO t (b, c) VALUES (1, 11);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
INSERT INTO t (b, c) VALUES (1, 9);
-- > rows affected: 1
ALTER TABLE t ADD COLUMN d INT DEFAULT 1, ADD CONSTRAINT d_b CHECK (d < b + 5), ADD KEY (d);
-- differs: 3819
INSERT INTO t (b, d) VALUES (1, 11);
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- differs: MySQL 8 does not rename columns that a CHECK knows (3959)
ALTER TABLE t CHANGE d e INT;
-- mariadb> OK
-- moka> ERROR 3959 (HY000)
-- differs: it has been renamed there
ALTER TABLE t DROP CONSTRAINT d_b, CHANGE d e INT;
-- mariadb> ERROR 1054 (42S22)
-- moka> OK
ALTER TABLE t RENAME KEY nope TO other;
-- > ERROR 1176 (42000)
ALTER TABLE t CHANGE y z INT, ADD UNIQUE KEY (z);
UPDATE t SET z = b + e WHERE z IS NULL AND b = 2;
-- > rows affected: 1
DELETE FROM t WHERE z IS NULL;
-- > rows affected: 1
ALTER TABLE t CHANGE z `order` INT NOT NULL DEFAULT 3 FIRST, ADD KEY o (`order`, b);
SELECT * FROM t ORDER BY b;
-- > 3	1	2	NULL	1
CREATE TABLE t2 (a INT PRIMARY KEY, k INT, KEY (k));
ALTER TABLE t2 CHANGE k pk INT, ADD CONSTRAINT own FOREIGN KEY (pk) REFERENCES t2 (a);
INSERT INTO t2 VALUES (1, 2);
-- > ERROR 1452 (23000)
CREATE VIEW v1 AS SELECT b, b FROM t;
-- > ERROR 1060 (42S21)
CREATE VIEW v2 AS SELECT t.a, u.a FROM t2 t JOIN t2 u;
-- > ERROR 1060 (42S21)
CREATE VIEW v3 (x, x) AS SELECT b, e FROM t;
-- > ERROR 1060 (42S21)
CREATE VIEW v4 AS SELECT 1 AS q, 2 AS Q;
-- > ERROR 1060 (42S21)
CREATE VIEW v5 AS SELECT 1, 1;
CREATE VIEW v6 AS SELECT a, pk AS b FROM t2 UNION SELECT 1, 1;
SHOW CREATE VIEW t;
-- > ERROR 1347 (HY000)
SHOW CREATE VIEW nope;
-- > ERROR 1146 (42S02)
SET NAMES utf8mb4 COLLATE latin1_bin;
-- > ERROR 1253 (42000)
SET NAMES utf8mb4 COLLATE nope;
-- > ERROR 1273 (HY000)
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
SELECT @@collation_connection;
-- > utf8mb4_bin
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci';
SELECT @@collation_connection;
-- > utf8mb4_unicode_ci
CREATE TABLE chk (a INT, CONSTRAINT a1 CHECK (a > 0));
-- differs: MariaDB knows no checks that are not enforced
ALTER TABLE chk ALTER CHECK a1 NOT ENFORCED;
-- mariadb> ERROR 1064 (42000)
-- moka> OK
-- differs: the same
INSERT INTO chk VALUES (-1);
-- mariadb> ERROR 4025 (23000)
-- moka> rows affected: 1
INSERT INTO chk VALUES (1);
-- > rows affected: 1
