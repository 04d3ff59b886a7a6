-- Collations that pad: spaces at the end do not count where texts are compared, and stay where they are stored.
CREATE TABLE p (id INT PRIMARY KEY, u VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin, g VARCHAR(20) COLLATE utf8mb4_general_ci, c CHAR(6), x TEXT, KEY (u), KEY bg (b, g), KEY (g(2)));
INSERT INTO p VALUES (1, 'a', 'a', 'a', 'a', 'a'), (2, 'a ', 'a ', 'a ', 'a ', 'a '), (3, 'A  ', 'A  ', 'A  ', 'A  ', 'A  '), (4, 'b', 'b', 'b', 'b', 'b'),
  (5, 'a b', 'a b', 'a b', 'a b', 'a b'), (6, '', '', '', '', ''), (7, '  ', '  ', '  ', '  ', '  '), (8, NULL, NULL, NULL, NULL, NULL), (9, 'ab', 'ab', 'ab', 'ab', 'ab'), (10, 'b ', 'b ', 'b ', 'b ', 'b ');
-- > rows affected: 10
SELECT id, CONCAT('[', u, ']'), LENGTH(u), CONCAT('[', b, ']'), CONCAT('[', c, ']'), CHAR_LENGTH(c), HEX(x) FROM p ORDER BY id;
-- > 1	[a]	1	[a]	[a]	1	61
-- > 2	[a ]	2	[a ]	[a]	1	6120
-- > 3	[A  ]	3	[A  ]	[A]	1	412020
-- > 4	[b]	1	[b]	[b]	1	62
-- > 5	[a b]	3	[a b]	[a b]	3	612062
-- > 6	[]	0	[]	[]	0	""
-- > 7	[  ]	2	[  ]	[]	0	2020
-- > 8	NULL	NULL	NULL	NULL	NULL	NULL
-- > 9	[ab]	2	[ab]	[ab]	2	6162
-- > 10	[b ]	2	[b ]	[b]	1	6220
SELECT id FROM p WHERE u = 'a' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE u = 'a  ' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE b = 'a ' ORDER BY id;
-- > 1
-- > 2
SELECT id FROM p WHERE g = 'A' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE c = 'a ' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE x = 'a    ' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE u <> 'a' ORDER BY id;
-- > 4
-- > 5
-- > 6
-- > 7
-- > 9
-- > 10
SELECT id FROM p WHERE u > 'a' ORDER BY id;
-- > 4
-- > 5
-- > 9
-- > 10
SELECT id FROM p WHERE u >= 'a ' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
-- > 9
-- > 10
SELECT id FROM p WHERE u < 'a b' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 6
-- > 7
SELECT id FROM p WHERE u <= 'a   ' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 6
-- > 7
SELECT id FROM p WHERE u = '' ORDER BY id;
-- > 6
-- > 7
SELECT id FROM p WHERE b BETWEEN 'a ' AND 'a' ORDER BY id;
-- > 1
-- > 2
SELECT id FROM p WHERE b >= 'a ' AND b <= 'a' AND id > 1 ORDER BY id;
-- > 2
SELECT id FROM p WHERE u IN ('a ', 'zz') ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE u NOT IN ('a ', 'zz') ORDER BY id;
-- > 4
-- > 5
-- > 6
-- > 7
-- > 9
-- > 10
SELECT id FROM p WHERE x IN ('a ', 'zz') ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE (u, b) IN (('a', 'A'), ('b', 'b  ')) ORDER BY id;
-- > 3
-- > 4
-- > 10
SELECT id FROM p WHERE (x, b) = ('a', 'a') ORDER BY id;
-- > 1
-- > 2
SELECT id FROM p WHERE u <=> 'b   ' ORDER BY id;
-- > 4
-- > 10
SELECT id FROM p WHERE u LIKE 'a' ORDER BY id;
-- > 1
SELECT id FROM p WHERE u LIKE 'a ' ORDER BY id;
-- > 2
SELECT id FROM p WHERE u LIKE 'a%' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
SELECT id FROM p WHERE u LIKE 'a %' ORDER BY id;
-- > 2
-- > 3
-- > 5
SELECT id FROM p WHERE b LIKE 'a%' ORDER BY id;
-- > 1
-- > 2
-- > 5
-- > 9
SELECT id FROM p WHERE b LIKE 'a_' ORDER BY id;
-- > 2
-- > 9
SELECT id FROM p WHERE u NOT LIKE 'a%' ORDER BY id;
-- > 4
-- > 6
-- > 7
-- > 10
SELECT id FROM p WHERE u LIKE '' ORDER BY id;
-- > 6
SELECT id FROM p WHERE c LIKE 'a%' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
SELECT 'a' = 'a ', 'a' < 'a ', 'a' <=> 'a ', 'a' LIKE 'a ', 'a ' BETWEEN 'a' AND 'a', 'a ' IN ('b', 'a'), STRCMP('a', 'a '), NULLIF('a', 'a '), CASE 'a ' WHEN 'a' THEN 'yes' ELSE 'no' END;
-- > 1	0	1	0	1	1	0	NULL	yes
SELECT 'a\t' < 'a', 'a\t' < 'a ', 'a' > 'a\n', 'a!' > 'a', 'a \t' < 'a';
-- > 1	1	1	1	1
SELECT 'a' = _binary'a ', CAST('a' AS BINARY) = 'a ', 'a' COLLATE utf8mb4_bin = 'a ', 'a' COLLATE utf8mb4_bin = 'A ';
-- > 0	0	1	0
SELECT COUNT(*), COUNT(DISTINCT u), COUNT(DISTINCT b), COUNT(DISTINCT g), COUNT(DISTINCT x), COUNT(DISTINCT u, b) FROM p;
-- > 10	5	6	5	5	6
SELECT LOWER(RTRIM(u)) AS v, COUNT(*), SUM(id) FROM p GROUP BY u ORDER BY v;
-- > NULL	1	8
-- > ""	2	13
-- > a	3	6
-- > a b	1	5
-- > ab	1	9
-- > b	2	14
SELECT RTRIM(b) AS v, COUNT(*), SUM(id) FROM p GROUP BY b ORDER BY v;
-- > NULL	1	8
-- > ""	2	13
-- > A	1	3
-- > a	2	3
-- > a b	1	5
-- > ab	1	9
-- > b	2	14
SELECT LOWER(RTRIM(x)) AS v, COUNT(*), SUM(id) FROM p GROUP BY x ORDER BY v;
-- > NULL	1	8
-- > ""	2	13
-- > a	3	6
-- > a b	1	5
-- > ab	1	9
-- > b	2	14
SELECT COUNT(*) FROM (SELECT DISTINCT u FROM p) d;
-- > 6
SELECT COUNT(*) FROM (SELECT DISTINCT u, b FROM p) d;
-- > 7
SELECT COUNT(*) FROM (SELECT u FROM p UNION SELECT x FROM p) d;
-- > 6
SELECT id FROM p ORDER BY u, id;
-- > 8
-- > 6
-- > 7
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
-- > 4
-- > 10
SELECT id FROM p ORDER BY u DESC, id LIMIT 5;
-- > 4
-- > 10
-- > 9
-- > 5
-- > 1
SELECT id FROM p ORDER BY b, id;
-- > 8
-- > 6
-- > 7
-- > 3
-- > 1
-- > 2
-- > 5
-- > 9
-- > 4
-- > 10
SELECT id FROM p ORDER BY b, g, id LIMIT 3;
-- > 8
-- > 6
-- > 7
SELECT id FROM p ORDER BY g, id;
-- > 8
-- > 6
-- > 7
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
-- > 4
-- > 10
SELECT id FROM p ORDER BY x, id;
-- > 8
-- > 6
-- > 7
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
-- > 4
-- > 10
SELECT id FROM p ORDER BY c, id;
-- > 8
-- > 6
-- > 7
-- > 1
-- > 2
-- > 3
-- > 5
-- > 9
-- > 4
-- > 10
SELECT a.id, b.id FROM p a JOIN p b ON a.u = b.u ORDER BY a.id, b.id;
-- > 1	1
-- > 1	2
-- > 1	3
-- > 2	1
-- > 2	2
-- > 2	3
-- > 3	1
-- > 3	2
-- > 3	3
-- > 4	4
-- > 4	10
-- > 5	5
-- > 6	6
-- > 6	7
-- > 7	6
-- > 7	7
-- > 9	9
-- > 10	4
-- > 10	10
SELECT a.id, b.id FROM p a JOIN p b ON a.x = b.x ORDER BY a.id, b.id;
-- > 1	1
-- > 1	2
-- > 1	3
-- > 2	1
-- > 2	2
-- > 2	3
-- > 3	1
-- > 3	2
-- > 3	3
-- > 4	4
-- > 4	10
-- > 5	5
-- > 6	6
-- > 6	7
-- > 7	6
-- > 7	7
-- > 9	9
-- > 10	4
-- > 10	10
SELECT a.id, b.id FROM p a JOIN p b ON a.x = b.x AND a.c = b.c ORDER BY a.id, b.id;
-- > 1	1
-- > 1	2
-- > 1	3
-- > 2	1
-- > 2	2
-- > 2	3
-- > 3	1
-- > 3	2
-- > 3	3
-- > 4	4
-- > 4	10
-- > 5	5
-- > 6	6
-- > 6	7
-- > 7	6
-- > 7	7
-- > 9	9
-- > 10	4
-- > 10	10
SELECT a.id, b.id FROM p a LEFT JOIN p b ON a.b = b.b AND a.g = b.g AND b.id > 3 ORDER BY a.id, b.id;
-- > 1	NULL
-- > 2	NULL
-- > 3	NULL
-- > 4	4
-- > 4	10
-- > 5	5
-- > 6	6
-- > 6	7
-- > 7	6
-- > 7	7
-- > 8	NULL
-- > 9	9
-- > 10	4
-- > 10	10
SELECT id FROM p WHERE u IN (SELECT x FROM p WHERE id = 2) ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE x NOT IN (SELECT u FROM p WHERE id IN (2, 4)) ORDER BY id;
-- > 5
-- > 6
-- > 7
-- > 9
SELECT id FROM p a WHERE EXISTS (SELECT 1 FROM p b WHERE a.u = b.x AND b.id = 2) ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM p WHERE u = ANY (SELECT x FROM p WHERE id IN (2, 4)) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 10
SELECT id FROM p WHERE x >= ALL (SELECT u FROM p WHERE id IN (2, 3)) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
-- > 9
-- > 10
SELECT id, RANK() OVER (ORDER BY u), COUNT(*) OVER (PARTITION BY b), ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) FROM p ORDER BY id;
-- > 1	4	2	1
-- > 2	4	2	2
-- > 3	4	1	3
-- > 4	9	2	1
-- > 5	7	1	1
-- > 6	2	2	1
-- > 7	2	2	2
-- > 8	1	1	1
-- > 9	8	1	1
-- > 10	9	2	2
SELECT LENGTH(MAX(id)), LOWER(RTRIM(MIN(u))), RTRIM(MAX(u)) FROM p WHERE id < 10;
-- > 1	""	b
SELECT u = 'a' AS e, COUNT(*) FROM p GROUP BY u = 'a' ORDER BY 1;
-- > NULL	1
-- > 0	6
-- > 1	3
SELECT id FROM p WHERE id = (SELECT MIN(id) FROM p WHERE u = 'b  ') ORDER BY id;
-- > 4
UPDATE p SET x = 'found' WHERE u = 'b ';
-- > rows affected: 2
SELECT id, x FROM p WHERE x = 'found ' ORDER BY id;
-- > 4	found
-- > 10	found
UPDATE p SET u = 'a' WHERE id = 2;
-- > rows affected: 1
SELECT id, LENGTH(u) FROM p WHERE id = 2;
-- > 2	1
UPDATE p SET u = 'a  ' WHERE id = 2;
-- > rows affected: 1
SELECT id, LENGTH(u) FROM p WHERE id = 2;
-- > 2	3
DELETE FROM p WHERE b = 'b  ';
-- > rows affected: 2
SELECT COUNT(*) FROM p;
-- > 8
CREATE TABLE k (name VARCHAR(20) PRIMARY KEY, v INT);
INSERT INTO k VALUES ('a', 1), ('b ', 2);
-- > rows affected: 2
INSERT INTO k VALUES ('a ', 3);
-- > ERROR 1062 (23000)
INSERT INTO k VALUES ('B', 3);
-- > ERROR 1062 (23000)
INSERT IGNORE INTO k VALUES ('a   ', 3), ('c  ', 4);
-- > rows affected: 1
INSERT INTO k VALUES ('b', 5) ON DUPLICATE KEY UPDATE v = v + 10;
-- > rows affected: 2
REPLACE INTO k VALUES ('C', 6);
-- > rows affected: 2
SELECT CONCAT('[', name, ']'), v FROM k ORDER BY name;
-- > [a]	1
-- > [b ]	12
-- > [C]	6
SELECT v FROM k WHERE name = 'a  ';
-- > 1
SELECT v FROM k WHERE name IN ('a  ', 'c');
-- > 1
-- > 6
UPDATE k SET name = 'a  ' WHERE name = 'a';
-- > rows affected: 1
UPDATE k SET name = 'a  ' WHERE name = 'b';
-- > ERROR 1062 (23000)
SELECT CONCAT('[', name, ']'), v FROM k ORDER BY name;
-- > [a  ]	1
-- > [b ]	12
-- > [C]	6
DELETE FROM k WHERE name = 'a';
-- > rows affected: 1
SELECT CONCAT('[', name, ']'), v FROM k ORDER BY name;
-- > [b ]	12
-- > [C]	6
CREATE TABLE uk (id INT PRIMARY KEY, t TEXT COLLATE utf8mb4_general_ci, UNIQUE KEY (t(4)));
INSERT INTO uk VALUES (1, 'ab'), (2, 'ab!');
-- > rows affected: 2
INSERT INTO uk VALUES (3, 'ab   ');
-- > ERROR 1062 (23000)
INSERT INTO uk VALUES (3, 'ab!  xyz');
-- > ERROR 1062 (23000)
INSERT INTO uk VALUES (3, 'ab   xyz');
-- > ERROR 1062 (23000)
SELECT id FROM uk WHERE t = 'ab ' ORDER BY id;
-- > 1
SELECT id FROM uk WHERE t > 'ab' ORDER BY id;
-- > 2
CREATE TABLE pa (code VARCHAR(10) PRIMARY KEY);
CREATE TABLE ch (id INT PRIMARY KEY, code VARCHAR(10), FOREIGN KEY (code) REFERENCES pa (code) ON DELETE CASCADE);
INSERT INTO pa VALUES ('x '), ('y');
-- > rows affected: 2
INSERT INTO ch VALUES (1, 'x'), (2, 'X   '), (3, 'y ');
-- > rows affected: 3
INSERT INTO ch VALUES (4, 'z');
-- > ERROR 1452 (23000)
DELETE FROM pa WHERE code = 'x';
-- > rows affected: 1
SELECT id, CONCAT('[', code, ']') FROM ch ORDER BY id;
-- > 3	[y ]
CREATE TABLE co (id INT PRIMARY KEY, v VARCHAR(9), CHECK (v <> 'no'));
-- differs: MariaDB has another number for it
INSERT INTO co VALUES (1, 'no  ');
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
INSERT INTO co VALUES (1, 'yes ');
-- > rows affected: 1
SET @v = 'a ';
SELECT @v = 'a', @v LIKE 'a';
-- > 1	0
CREATE TABLE l1 (id INT PRIMARY KEY, s VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci, KEY (s)) CHARACTER SET latin1;
INSERT INTO l1 VALUES (1, 'å '), (2, 'Å'), (3, 'a\t'), (4, 'a'), (5, 'a '), (6, 'b');
-- > rows affected: 6
SELECT id FROM l1 WHERE s = 'å' ORDER BY id;
-- > 1
-- > 2
SELECT id FROM l1 ORDER BY s, id;
-- > 3
-- > 4
-- > 5
-- > 6
-- > 1
-- > 2
SELECT id FROM l1 WHERE s < 'a' ORDER BY id;
-- > 3
SELECT id FROM l1 WHERE s > 'a\t' ORDER BY id;
-- > 1
-- > 2
-- > 4
-- > 5
-- > 6
SELECT id FROM l1 WHERE s LIKE 'a%' ORDER BY id;
-- > 3
-- > 4
-- > 5
CREATE TABLE ct (id INT PRIMARY KEY, t VARCHAR(9) COLLATE utf8mb4_general_ci, KEY (t));
INSERT INTO ct VALUES (1, 'x\ty'), (2, 'x'), (3, 'x '), (4, 'xa'), (5, 'x \t'), (6, 'w');
-- > rows affected: 6
SELECT id FROM ct ORDER BY t, id;
-- > 6
-- > 1
-- > 5
-- > 2
-- > 3
-- > 4
SELECT id FROM ct WHERE t LIKE 'x%' ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT id FROM ct WHERE t < 'x' ORDER BY id;
-- > 1
-- > 5
-- > 6
SELECT id FROM ct WHERE t >= 'x' ORDER BY id;
-- > 2
-- > 3
-- > 4
SELECT id FROM ct WHERE t > 'w' AND t < 'x' ORDER BY id;
-- > 1
-- > 5
SELECT t = 'x' AS same, COUNT(*) FROM ct GROUP BY t = 'x' ORDER BY same;
-- > 0	4
-- > 1	2
