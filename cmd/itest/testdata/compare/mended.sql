-- What the random scripts have found, one of each.
CREATE TABLE e (id INT PRIMARY KEY, i ENUM('red','green','blue') DEFAULT 'red', s SET('a','b') DEFAULT 'b', KEY (i));
INSERT INTO e VALUES (1, 'red', 'a'), (2, 'green', 'a,b'), (3, 'blue', ''), (4, NULL, NULL);
-- > rows affected: 4
-- An ENUM is compared with text as text, and sorted by its number.
SELECT id FROM e WHERE i < 'green';
-- > 3
SELECT id FROM e WHERE i > 'blue';
-- > 1
-- > 2
SELECT id FROM e WHERE i BETWEEN 'blue' AND 'green';
-- > 2
-- > 3
SELECT id FROM e WHERE i NOT BETWEEN 'blue' AND 'green';
-- > 1
SELECT id FROM e WHERE i >= 2;
-- > 2
-- > 3
SELECT id FROM e WHERE i = 'GREEN';
-- > 2
SELECT id FROM e ORDER BY i, id;
-- > 4
-- > 1
-- > 2
-- > 3
SELECT MIN(s), MAX(s) FROM e;
-- > ""	a,b
-- differs: MySQL's manual has MIN and MAX of an ENUM go by its text, MariaDB goes by its number
SELECT MIN(i), MAX(i) FROM e;
-- mariadb> red	blue
-- moka> blue	red
SELECT id FROM e WHERE id IN (SELECT id FROM e WHERE i < 'red');
-- > 2
-- > 3
-- <=> has a collation.
CREATE TABLE c (id INT PRIMARY KEY, v VARCHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin);
INSERT INTO c VALUES (1, 'ann', 'ann'), (2, 'Ann', 'Ann'), (3, NULL, NULL);
-- > rows affected: 3
SELECT id FROM c WHERE v <=> 'ANN';
-- > 1
-- > 2
SELECT id FROM c WHERE b <=> 'Ann';
-- > 2
SELECT id FROM c WHERE NOT (v <=> 'ann');
-- > 3
SELECT id FROM c WHERE v <=> NULL;
-- > 3
-- A column has an end, in an UPDATE as in an INSERT.
CREATE TABLE r (id INT PRIMARY KEY, h TINYINT UNSIGNED NOT NULL DEFAULT 1, d DECIMAL(4,1), n SMALLINT);
INSERT INTO r (id) VALUES (1), (2);
-- > rows affected: 2
UPDATE r SET h = 300 WHERE id = 1;
-- > ERROR 1264 (22003)
UPDATE r SET h = -1 WHERE id = 1;
-- > ERROR 1264 (22003)
UPDATE r SET n = 40000;
-- > ERROR 1264 (22003)
UPDATE r SET d = 12345 WHERE id = 2;
-- > ERROR 1264 (22003)
UPDATE r SET n = 2.5 WHERE id = 1;
-- > rows affected: 1
UPDATE r SET h = h + 254 WHERE id = 1;
-- > rows affected: 1
UPDATE r SET h = h + 1 WHERE id = 1;
-- > ERROR 1264 (22003)
INSERT INTO r (id) VALUES (2) ON DUPLICATE KEY UPDATE h = 256;
-- > ERROR 1264 (22003)
INSERT INTO r (id) VALUES (2) ON DUPLICATE KEY UPDATE h = NULL;
-- > ERROR 1048 (23000)
SELECT * FROM r;
-- > 1	255	NULL	3
-- > 2	1	NULL	NULL
UPDATE IGNORE r SET h = 300 WHERE id = 2;
-- > rows affected: 1
SELECT * FROM r;
-- > 1	255	NULL	3
-- > 2	255	NULL	NULL
-- NULL NOT IN (SELECT …) is not true, whichever way the rows are found.
CREATE TABLE x (id INT PRIMARY KEY, b BIGINT);
CREATE TABLE y (id INT PRIMARY KEY, b BIGINT, h INT, KEY (b));
INSERT INTO x VALUES (1, 1), (2, NULL), (3, 3), (4, 7), (5, NULL), (6, 9), (7, 10), (8, 11), (9, NULL);
-- > rows affected: 9
INSERT INTO y VALUES (1, 1, 7), (2, 5, 8), (3, NULL, 9), (4, -4, 1), (5, 6, 3), (6, -3, 1);
-- > rows affected: 6
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE NOT (h NOT IN (7, 4, 7)));
-- > 3
-- > 4
-- > 6
-- > 7
-- > 8
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE h = 8);
-- > 1
-- > 3
-- > 4
-- > 6
-- > 7
-- > 8
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y WHERE h = 100);
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
-- > 6
-- > 7
-- > 8
-- > 9
SELECT id FROM x WHERE b NOT IN (SELECT b FROM y);
-- > (no rows)
-- A function does not change the row that it looks at.
CREATE TABLE f (id INT PRIMARY KEY, d DECIMAL(8,2));
INSERT INTO f VALUES (1, 2.75), (2, -5.25), (3, 5.25);
-- > rows affected: 3
SELECT id, d, FLOOR(d), CEIL(d), d FROM f ORDER BY id;
-- > 1	2.75	2	3	2.75
-- > 2	-5.25	-6	-5	-5.25
-- > 3	5.25	5	6	5.25
SELECT CEIL(d) AS c, SUM(d) FROM f GROUP BY CEIL(d);
-- > -5	-5.25
-- > 3	2.75
-- > 6	5.25
SELECT d FROM f WHERE FLOOR(d) IS NOT NULL;
-- > -5.25
-- > 2.75
-- > 5.25
-- Moments and intervals.
CREATE TABLE m (id INT PRIMARY KEY, e DATE, f DATETIME, g DATETIME(3), n INT);
INSERT INTO m VALUES (1, '2020-01-31', '2020-01-31 10:00:00', '2020-01-31 10:00:00.123', 2);
-- > rows affected: 1
SELECT e + INTERVAL 1 MONTH, e - INTERVAL 1 DAY, INTERVAL 2 DAY + e, e + INTERVAL 1 HOUR, e + INTERVAL n DAY FROM m;
-- > 2020-02-29	2020-01-30	2020-02-02	2020-01-31 01:00:00	2020-02-02
SELECT f + INTERVAL 1 MONTH, f - INTERVAL 90 MINUTE, DATE_ADD(f, INTERVAL 1 DAY), DATE_SUB(f, INTERVAL n HOUR), f + INTERVAL 1 MICROSECOND FROM m;
-- > 2020-02-29 10:00:00	2020-01-31 08:30:00	2020-02-01 10:00:00	2020-01-31 08:00:00	2020-01-31 10:00:00.000001
SELECT g + INTERVAL 1 MONTH, DATE_ADD(g, INTERVAL 1 SECOND), ADDDATE(e, 3), SUBDATE(f, 3), DATE_ADD(NULL, INTERVAL 1 DAY) FROM m;
-- > 2020-02-29 10:00:00.123	2020-01-31 10:00:01.123	2020-02-03	2020-01-28 10:00:00	NULL
