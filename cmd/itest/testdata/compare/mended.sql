-- What the random scripts have found, one of each.
CREATE TABLE e (id INT PRIMARY KEY, i ENUM('red','green','blue') DEFAULT 'red', s SET('a','b') DEFAULT 'b', KEY (i));
INSERT INTO e VALUES (1, 'red', 'a'), (2, 'green', 'a,b'), (3, 'blue', ''), (4, NULL, NULL);
-- An ENUM is compared with text as text, and sorted by its number.
SELECT id FROM e WHERE i < 'green';
SELECT id FROM e WHERE i > 'blue';
SELECT id FROM e WHERE i BETWEEN 'blue' AND 'green';
SELECT id FROM e WHERE i NOT BETWEEN 'blue' AND 'green';
SELECT id FROM e WHERE i >= 2;
SELECT id FROM e WHERE i = 'GREEN';
SELECT id FROM e ORDER BY i, id;
SELECT MIN(s), MAX(s) FROM e;
-- differs: MySQL's manual has MIN and MAX of an ENUM go by its text, MariaDB goes by its number
SELECT MIN(i), MAX(i) FROM e;
SELECT id FROM e WHERE id IN (SELECT id FROM e WHERE i < 'red');
-- <=> has a collation.
CREATE TABLE c (id INT PRIMARY KEY, v VARCHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin);
INSERT INTO c VALUES (1, 'ann', 'ann'), (2, 'Ann', 'Ann'), (3, NULL, NULL);
SELECT id FROM c WHERE v <=> 'ANN';
SELECT id FROM c WHERE b <=> 'Ann';
SELECT id FROM c WHERE NOT (v <=> 'ann');
SELECT id FROM c WHERE v <=> NULL;
-- A column has an end, in an UPDATE as in an INSERT.
CREATE TABLE r (id INT PRIMARY KEY, h TINYINT UNSIGNED NOT NULL DEFAULT 1, d DECIMAL(4,1), n SMALLINT);
INSERT INTO r (id) VALUES (1), (2);
UPDATE r SET h = 300 WHERE id = 1;
UPDATE r SET h = -1 WHERE id = 1;
UPDATE r SET n = 40000;
UPDATE r SET d = 12345 WHERE id = 2;
UPDATE r SET n = 2.5 WHERE id = 1;
UPDATE r SET h = h + 254 WHERE id = 1;
UPDATE r SET h = h + 1 WHERE id = 1;
INSERT INTO r (id) VALUES (2) ON DUPLICATE KEY UPDATE h = 256;
INSERT INTO r (id) VALUES (2) ON DUPLICATE KEY UPDATE h = NULL;
SELECT * FROM r;
UPDATE IGNORE r SET h = 300 WHERE id = 2;
SELECT * FROM r;
-- NULL NOT IN (SELECT …) is not true, whichever way the rows are found.
CREATE TABLE x (id INT PRIMARY KEY, b BIGINT);
CREATE TABLE y (id INT PRIMARY KEY, b BIGINT, h INT, KEY (b));
INSERT INTO x VALUES (1, 1), (2, NULL), (3, 3), (4, 7), (5, NULL), (6, 9), (7, 10), (8, 11), (9, NULL);
INSERT INTO y VALUES (1, 1, 7), (2, 5, 8), (3, NULL, 9), (4, -4, 1), (5, 6, 3), (6, -3, 1);
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE NOT (h NOT IN (7, 4, 7)));
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE h = 8);
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE h = 100);
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y);
-- A function does not change the row that it looks at.
CREATE TABLE f (id INT PRIMARY KEY, d DECIMAL(8,2));
INSERT INTO f VALUES (1, 2.75), (2, -5.25), (3, 5.25);
SELECT id, d, FLOOR(d), CEIL(d), d FROM f ORDER BY id;
SELECT CEIL(d) AS c, SUM(d) FROM f GROUP BY CEIL(d);
SELECT d FROM f WHERE FLOOR(d) IS NOT NULL;
-- Moments and intervals.
CREATE TABLE m (id INT PRIMARY KEY, e DATE, f DATETIME, g DATETIME(3), n INT);
INSERT INTO m VALUES (1, '2020-01-31', '2020-01-31 10:00:00', '2020-01-31 10:00:00.123', 2);
SELECT e + INTERVAL 1 MONTH, e - INTERVAL 1 DAY, INTERVAL 2 DAY + e, e + INTERVAL 1 HOUR, e + INTERVAL n DAY FROM m;
SELECT f + INTERVAL 1 MONTH, f - INTERVAL 90 MINUTE, DATE_ADD(f, INTERVAL 1 DAY), DATE_SUB(f, INTERVAL n HOUR), f + INTERVAL 1 MICROSECOND FROM m;
SELECT g + INTERVAL 1 MONTH, DATE_ADD(g, INTERVAL 1 SECOND), ADDDATE(e, 3), SUBDATE(f, 3), DATE_ADD(NULL, INTERVAL 1 DAY) FROM m;
