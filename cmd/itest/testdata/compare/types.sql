-- What goes in comes out, for every type, at its bounds and beyond them.
CREATE TABLE ints (id INT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT, i INT, b BIGINT, bu BIGINT UNSIGNED);
INSERT INTO ints VALUES (1, -128, 0, -32768, -8388608, -2147483648, -9223372036854775808, 0), (2, 127, 255, 32767, 8388607, 2147483647, 9223372036854775807, 18446744073709551615), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- > rows affected: 3
SELECT * FROM ints ORDER BY id;
-- > 1	-128	0	-32768	-8388608	-2147483648	-9223372036854775808	0
-- > 2	127	255	32767	8388607	2147483647	9223372036854775807	18446744073709551615
-- > 3	NULL	NULL	NULL	NULL	NULL	NULL	NULL
INSERT INTO ints (id, t) VALUES (4, 128);
-- > ERROR 1264 (22003)
INSERT INTO ints (id, tu) VALUES (4, -1);
-- > ERROR 1264 (22003)
INSERT INTO ints (id, b) VALUES (4, 9223372036854775808);
-- > ERROR 1264 (22003)
INSERT INTO ints (id, bu) VALUES (4, 18446744073709551616);
-- > ERROR 1264 (22003)
INSERT INTO ints (id, i) VALUES (4, '12');
-- > rows affected: 1
INSERT INTO ints (id, i) VALUES (5, 1.5), (6, 2.5), (7, -1.5);
-- > rows affected: 3
-- differs: MySQL's state for 1366 is HY000
INSERT INTO ints (id, i) VALUES (8, 'abc');
-- mariadb> ERROR 1366 (22007)
-- moka> ERROR 1366 (HY000)
SELECT id, i FROM ints WHERE id > 3 ORDER BY id;
-- > 4	12
-- > 5	2
-- > 6	3
-- > 7	-2
SELECT id FROM ints WHERE bu > 9223372036854775807;
-- > 2
SELECT MIN(b), MAX(b), MIN(bu), MAX(bu) FROM ints;
-- > -9223372036854775808	9223372036854775807	0	18446744073709551615
CREATE TABLE decs (id INT PRIMARY KEY, d DECIMAL(10,2), e DECIMAL(30,10), f FLOAT, g DOUBLE);
INSERT INTO decs VALUES (1, 1.005, 1234567890.0123456789, 1.5, 0.1), (2, -99999999.99, -0.0000000001, -2.25, 1e100), (3, 0, 0, 0, 0);
-- > rows affected: 3
SELECT * FROM decs ORDER BY id;
-- > 1	1.01	1234567890.0123456789	1.5	0.1
-- > 2	-99999999.99	-0.0000000001	-2.25	1e+100
-- > 3	0.00	0.0000000000	0	0
INSERT INTO decs (id, d) VALUES (4, 100000000);
-- > ERROR 1264 (22003)
SELECT d + 1, d * 2, d / 3, -d, e * 2 FROM decs ORDER BY id;
-- > 2.01	2.02	0.336667	-1.01	2469135780.0246913578
-- > -99999998.99	-199999999.98	-33333333.330000	99999999.99	-0.0000000002
-- > 1.00	0.00	0.000000	0.00	0.0000000000
SELECT SUM(d), AVG(d), SUM(e), MIN(g), MAX(g) FROM decs;
-- > -99999998.98	-33333332.993333	1234567890.0123456788	0	1e+100
SELECT 1e14, 1e15, 1.5e20, 123456789012.5, 1e-5, 0.1 + 0.2, 0.1e0 + 0.2e0;
-- > 1e+14	1e+15	1.5e+20	123456789012.5	1e-05	0.3	0.30000000000000004
CREATE TABLE strs (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(5), b BINARY(4), vb VARBINARY(4), x TEXT, y BLOB);
INSERT INTO strs VALUES (1, 'ab', 'ab', 'ab', 'ab', 'ab', 'ab'), (2, 'é€😀', 'é€😀', x'00ff', x'00ff', 'é€😀', x'00ff0a0d'), (3, '', '', '', '', '', '');
-- > rows affected: 3
SELECT id, c, v, HEX(b), HEX(vb), x, HEX(y), LENGTH(c), CHAR_LENGTH(v), LENGTH(x) FROM strs ORDER BY id;
-- > 1	ab	ab	61620000	6162	ab	6162	2	2	2
-- > 2	é€😀	é€😀	00FF0000	00FF	é€😀	00FF0A0D	9	3	9
-- > 3	""	""	00000000	""	""	""	0	0	0
INSERT INTO strs (id, v) VALUES (4, 'abcdef');
-- > ERROR 1406 (22001)
INSERT INTO strs (id, vb) VALUES (4, 'abcde');
-- > ERROR 1406 (22001)
INSERT INTO strs (id, c) VALUES (4, 'abcdef');
-- > ERROR 1406 (22001)
SELECT 'a' = 'A', 'a' = 'á', 'a' < 'b', 'a' = 'b', BINARY 'a' = 'A', 'abc' LIKE 'A%', 'abc' LIKE '_b_', 'a%c' LIKE 'a\%c';
-- > 1	1	1	0	0	1	1	1
SELECT id FROM strs WHERE v = 'AB';
-- > 1
CREATE TABLE times (id INT PRIMARY KEY, d DATE, dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP NULL, t TIME, y YEAR);
INSERT INTO times VALUES (1, '2024-02-29', '2024-02-29 23:59:59', '2024-02-29 23:59:59.123456', '2024-02-29 23:59:59', '838:59:59', 2024), (2, '1000-01-01', '9999-12-31 23:59:59', '1000-01-01 00:00:00.000001', '1970-01-02 00:00:00', '-12:34:56', 1901);
-- > rows affected: 2
SELECT * FROM times ORDER BY id;
-- > 1	2024-02-29	2024-02-29 23:59:59	2024-02-29 23:59:59.123456	2024-02-29 23:59:59	838:59:59	2024
-- > 2	1000-01-01	9999-12-31 23:59:59	1000-01-01 00:00:00.000001	1970-01-02 00:00:00	-12:34:56	1901
INSERT INTO times (id, d) VALUES (3, '2023-02-29');
-- > ERROR 1292 (22007)
INSERT INTO times (id, d) VALUES (3, 'nonsense');
-- > ERROR 1292 (22007)
INSERT INTO times (id, dt) VALUES (3, '2024-01-01 25:00:00');
-- > ERROR 1292 (22007)
INSERT INTO times (id, dt) VALUES (4, '2024-01-01');
-- > rows affected: 1
SELECT dt FROM times WHERE id = 4;
-- > 2024-01-01 00:00:00
SELECT id FROM times WHERE d > '2000-01-01';
-- > 1
SELECT YEAR(d), MONTH(d), DAY(d), HOUR(dt), MINUTE(dt), SECOND(dt), DAYOFWEEK(d), DAYOFYEAR(d), WEEKDAY(d), QUARTER(d) FROM times WHERE id = 1;
-- > 2024	2	29	23	59	59	5	60	3	1
CREATE TABLE kinds (id INT PRIMARY KEY, e ENUM('small','big'), s SET('a','b','c'), j JSON, bi BIT(8), bo BOOLEAN);
INSERT INTO kinds VALUES (1, 'big', 'a,c', '{"a": 1}', b'10100101', TRUE), (2, 1, 3, '[1, 2]', 1, FALSE);
-- > rows affected: 2
SELECT id, e, e + 0, s, s + 0, HEX(bi), bo FROM kinds ORDER BY id;
-- > 1	big	2	a,c	5	A5	1
-- > 2	small	1	a,b	3	1	0
INSERT INTO kinds (id, e) VALUES (3, 'huge');
-- > ERROR 1265 (01000)
SELECT id, JSON_EXTRACT(j, '$.a'), JSON_LENGTH(j), JSON_TYPE(j), JSON_VALID(j) FROM kinds ORDER BY id;
-- > 1	1	1	OBJECT	1
-- > 2	NULL	2	ARRAY	1
SELECT e FROM kinds ORDER BY e;
-- > small
-- > big
CREATE TABLE defaults (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL DEFAULT 7, b VARCHAR(10) DEFAULT 'x', c INT NOT NULL, g INT AS (a * 2) STORED);
INSERT INTO defaults (c) VALUES (1), (2);
-- > rows affected: 2
INSERT INTO defaults (a) VALUES (1);
-- > ERROR 1364 (HY000)
INSERT INTO defaults (c) VALUES (NULL);
-- > ERROR 1048 (23000)
INSERT INTO defaults (id, c) VALUES (100, 3);
-- > rows affected: 1
INSERT INTO defaults (c, a) VALUES (4, DEFAULT);
-- > rows affected: 1
SELECT id, a, b, c, g FROM defaults ORDER BY id;
-- > 1	7	x	1	14
-- > 2	7	x	2	14
-- > 100	7	x	3	14
-- > 101	7	x	4	14
SELECT LAST_INSERT_ID();
-- > 101
-- NULL has no type, a JSON null has one.
SELECT JSON_TYPE(NULL) IS NULL, JSON_TYPE('null') = 'NULL', JSON_TYPE(JSON_EXTRACT('{"a": null}', '$.a')), JSON_TYPE('[1]');
-- > 1	1	"NULL"	ARRAY
SELECT id, JSON_TYPE(j) IS NULL FROM kinds ORDER BY id;
-- > 1	0
-- > 2	0
