-- What functions make of texts has the collation of the texts.
CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(20), b VARCHAR(30) COLLATE utf8mb4_bin, n INT);
INSERT INTO t VALUES (1, 'apple', 'apple', 3), (2, 'Banana', 'Banana', 1), (3, 'banana', 'banana', 2), (4, 'Apple', 'Apple', 9), (5, 'cherry', 'cherry', NULL), (6, 'Éclair', 'Éclair', 7), (7, NULL, NULL, 8), (8, 'eclair', 'eclair', 10);
-- > rows affected: 8
SELECT id FROM t ORDER BY LEFT(u, 3), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY CONCAT(u, '!'), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY CONCAT(b, '!'), id;
-- > 7
-- > 4
-- > 2
-- > 1
-- > 3
-- > 5
-- > 8
-- > 6
SELECT id FROM t ORDER BY REPLACE(u, 'a', 'A'), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY SUBSTRING(u, 1, 2), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY TRIM(u) DESC, id;
-- > 6
-- > 8
-- > 5
-- > 2
-- > 3
-- > 1
-- > 4
-- > 7
SELECT id FROM t ORDER BY REPEAT(u, 2), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY LPAD(u, 4, 'x'), id;
-- > 7
-- > 1
-- > 4
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY IFNULL(u, 'b'), id;
-- > 1
-- > 4
-- > 7
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY COALESCE(NULL, u, 'b'), id;
-- > 1
-- > 4
-- > 7
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY IF(id > 3, u, 'BANANA'), id;
-- > 7
-- > 4
-- > 1
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id FROM t ORDER BY CASE WHEN id > 3 THEN u ELSE 'BANANA' END, id;
-- > 7
-- > 4
-- > 1
-- > 2
-- > 3
-- > 5
-- > 6
-- > 8
SELECT id, LEFT(u, 3) AS l FROM t ORDER BY l, id;
-- > 7	NULL
-- > 1	app
-- > 4	App
-- > 2	Ban
-- > 3	ban
-- > 5	che
-- > 6	Écl
-- > 8	ecl
SELECT id, CONCAT(u, n) AS l FROM t ORDER BY l, id;
-- > 5	NULL
-- > 7	NULL
-- > 1	apple3
-- > 4	Apple9
-- > 2	Banana1
-- > 3	banana2
-- > 8	eclair10
-- > 6	Éclair7
SELECT LOWER(MIN(u)), COUNT(*) FROM t WHERE id < 6 GROUP BY LEFT(u, 3) ORDER BY 1;
-- > apple	2
-- > banana	2
-- > cherry	1
SELECT LOWER(MIN(u)), COUNT(*) FROM t WHERE id < 6 GROUP BY CONCAT(u, 'x') ORDER BY 1;
-- > apple	2
-- > banana	2
-- > cherry	1
SELECT COUNT(*) FROM (SELECT DISTINCT LEFT(u, 3) FROM t) d;
-- > 5
SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(u, '-') FROM t) d;
-- > 5
SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(b, '-') FROM t) d;
-- > 8
SELECT COUNT(DISTINCT u), COUNT(DISTINCT b), COUNT(DISTINCT LEFT(u, 2)), COUNT(DISTINCT UPPER(b)) FROM t;
-- > 4	7	4	5
SELECT LOWER(MIN(CONCAT(u, ''))), LOWER(MAX(CONCAT(u, ''))), MIN(CONCAT(b, '')), MAX(CONCAT(b, '')) FROM t WHERE id <> 6;
-- > apple	eclair	Apple	eclair
SELECT x.id, y.id FROM t x JOIN t y ON LEFT(x.u, 3) = LEFT(y.u, 3) ORDER BY x.id, y.id;
-- > 1	1
-- > 1	4
-- > 2	2
-- > 2	3
-- > 3	2
-- > 3	3
-- > 4	1
-- > 4	4
-- > 5	5
-- > 6	6
-- > 6	8
-- > 8	6
-- > 8	8
SELECT x.id, y.id FROM t x JOIN t y ON CONCAT(x.u, x.id) = CONCAT(y.u, y.id) ORDER BY x.id, y.id;
-- > 1	1
-- > 2	2
-- > 3	3
-- > 4	4
-- > 5	5
-- > 6	6
-- > 8	8
SELECT LOWER(v) FROM (SELECT u AS v FROM t WHERE id < 3 UNION SELECT 'APPLE') d ORDER BY v;
-- > apple
-- > banana
SELECT COUNT(*) FROM (SELECT u FROM t UNION SELECT CONCAT(u, '') FROM t) d;
-- > 5
SELECT COUNT(*) FROM (SELECT u FROM t INTERSECT SELECT UPPER(u) FROM t) d;
-- > 5
SELECT COUNT(*) FROM (SELECT u FROM t EXCEPT SELECT 'BANANA') d;
-- > 4
(SELECT LOWER(u) AS v FROM t WHERE id IN (2, 3, 5)) UNION (SELECT 'Apple') ORDER BY v;
-- > Apple
-- > banana
-- > cherry
SELECT u AS v FROM t WHERE id IN (1, 5) UNION ALL SELECT 'BANANA' ORDER BY v LIMIT 1 OFFSET 1;
-- > BANANA
SELECT id, RANK() OVER (ORDER BY LEFT(u, 3)) AS r FROM t ORDER BY id;
-- > 1	2
-- > 2	4
-- > 3	4
-- > 4	2
-- > 5	6
-- > 6	7
-- > 7	1
-- > 8	7
SELECT LOCATE('AN', u), LOCATE('an', b), LOCATE('e', u), LOCATE('n', u, 4), LOCATE('', u), LOCATE('', b, 1), LOCATE('a', u, 0), LOCATE('a', u, 99) FROM t ORDER BY id;
-- > 0	0	5	0	1	1	0	0
-- > 2	2	0	5	1	1	0	0
-- > 2	2	0	5	1	1	0	0
-- > 0	0	5	0	1	1	0	0
-- > 0	0	3	0	1	1	0	0
-- > 0	0	0	0	1	1	0	0
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > 0	0	1	0	1	1	0	0
SELECT INSTR(u, 'AN'), INSTR(b, 'AN'), INSTR('日本語', '語'), INSTR('日本語', ''), LOCATE('語', '日本語日本語', 4), POSITION('B' IN 'aab') FROM t WHERE id = 2;
-- > 2	0	3	1	6	3
SELECT INSTR(CAST('aAb' AS BINARY), 'A'), LOCATE('a ', 'a'), INSTR(12345, 34), LOCATE(NULL, 'a'), LOCATE('a', NULL);
-- > 2	0	3	NULL	NULL
SELECT FIELD('B', 'a', 'b', 'c'), FIELD('b ', 'a', 'b'), FIELD(NULL, 'a'), FIELD('é', 'f', 'e'), FIELD(2, 1, 2, 3), FIELD('2', 1, 2), FIELD(b, 'banana', 'Banana') FROM t WHERE id = 2;
-- > 2	2	0	2	2	2	2
SELECT FIND_IN_SET('B', 'a,b,c'), FIND_IN_SET('', 'a,,c'), FIND_IN_SET('a', ''), FIND_IN_SET('a,b', 'a,b'), FIND_IN_SET(b, 'banana,Banana'), FIND_IN_SET('é', 'f,e'), FIND_IN_SET(2, '1,2,3'), FIND_IN_SET(NULL, 'a') FROM t WHERE id = 2;
-- > 2	2	0	0	2	2	2	NULL
SELECT STRCMP('a', 'A'), STRCMP('a', 'b'), STRCMP('b', 'a'), STRCMP('a', 'a '), STRCMP(b, 'Apple'), STRCMP('é', 'e'), STRCMP(1, '1'), STRCMP(NULL, 'a') FROM t WHERE id = 1;
-- > 0	-1	1	0	1	0	0	NULL
SELECT LPAD('日本', 4, '語x'), RPAD('日本', 5, '語x'), LPAD('日本語', 2, 'x'), RPAD('é', 3, 'ü'), LPAD(5, 3, 0), RPAD('a', -1, 'x'), LPAD('a', 0, 'x'), LPAD('a', NULL, 'x');
-- > 語x日本	日本語x語	日本	éüü	005	NULL	""	NULL
SELECT INSERT('日本語文', 2, 2, 'xy'), INSERT('Quadratic', 3, 4, 'What'), INSERT('Quadratic', -1, 4, 'What'), INSERT('Quadratic', 3, 100, 'What'), INSERT('abc', 4, 1, 'x'), INSERT('abc', 3, -1, 'x'), INSERT('é', 1, 1, 'ü');
-- > 日xy文	QuWhattic	Quadratic	QuWhat	abc	abx	ü
SELECT REPLACE('aAa', 'a', 'x'), REPLACE('日本語', '本', 'b'), REPLACE('abc', '', 'x'), SUBSTRING_INDEX('a.B.c', 'b', 1), SUBSTRING_INDEX('日.本.語', '.', 2), SUBSTRING_INDEX('日.本.語', '.', -1);
-- > xAx	日b語	abc	a.B.c	日.本	語
SELECT REVERSE('日本語'), LEFT('日本語', 2), RIGHT('日本語', 2), SUBSTRING('日本語', 2), SUBSTRING('日本語', -2, 1), MID('日本語', 2, 1), CHAR_LENGTH('日本語'), LENGTH('日本語'), UPPER('éa'), TRIM('日' FROM '日本日'), TRIM(LEADING 'x' FROM 'xxaxx'), LTRIM('  a '), RTRIM(' a  ');
-- > 語本日	日本	本語	本語	本	本	3	9	ÉA	本	axx	"a "	" a"
SELECT COLLATION(LEFT(b, 2)), COLLATION(CONCAT(b, 'x')), COLLATION(UPPER(u)), COLLATION(CASE WHEN 1 THEN b END), COLLATION(IF(1, b, 'x')), COLLATION(CONCAT(1, 2)), COLLATION(LPAD(b, 3, 'x')) FROM t WHERE id = 1;
-- > utf8mb4_bin	utf8mb4_bin	utf8mb4_unicode_ci	utf8mb4_bin	utf8mb4_bin	utf8mb4_unicode_ci	utf8mb4_bin
SET @v = 'Abc';
SELECT @v = 'aBC', COLLATION(@v);
-- > 1	utf8mb4_unicode_ci
SELECT id FROM t WHERE u = @v OR CONCAT(u, '') = 'APPLE' ORDER BY id;
-- > 1
-- > 4
SELECT GROUP_CONCAT(DISTINCT LOWER(u) ORDER BY u SEPARATOR ' ') FROM t WHERE id NOT IN (6, 8);
-- > apple banana cherry
SELECT MAX(u) = 'ECLAIR', GREATEST('a', 'B'), LEAST('a', 'B'), GREATEST('b', 'A', 'C') FROM t;
-- > 1	B	a	C
