-- Operators and functions.
SELECT 1 + 1, 7 / 2, 7 DIV 2, 7 % 3, -7 % 3, 2 * 3.5, 1 - 2, 5 & 3, 5 | 3, 5 ^ 3, 1 << 4, 256 >> 2;
-- > 2	3.5000	3	1	-1	7.0	-1	1	7	6	16	64
SELECT 1 / 0, 1 % 0, NULL + 1, 1 = NULL, NULL <=> NULL, 1 <=> NULL, NOT NULL, NULL AND FALSE, NULL OR TRUE;
-- > NULL	NULL	NULL	NULL	1	0	NULL	0	1
SELECT 9223372036854775807 + 0, 18446744073709551615 + 0;
-- > 9223372036854775807	18446744073709551615
SELECT 9223372036854775807 + 1;
-- > ERROR 1690 (22003)
SELECT '3' + 4, '3abc' + 4, 'abc' + 4, '1.5' * 2;
-- > 7	7	4	3
SELECT 1 BETWEEN 0 AND 2, 3 NOT BETWEEN 0 AND 2, 2 IN (1, 2, 3), 2 NOT IN (1, NULL), 2 IN (1, NULL);
-- > 1	1	1	NULL	NULL
SELECT CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'more' END, CASE WHEN 1 > 2 THEN 'x' END, IF(1 > 2, 'a', 'b'), IFNULL(NULL, 5), NULLIF(3, 3), COALESCE(NULL, NULL, 'c');
-- > two	NULL	b	5	NULL	c
SELECT ABS(-5), CEIL(1.2), FLOOR(-1.2), ROUND(2.5), ROUND(-2.5), ROUND(1.2345, 2), ROUND(1234.5, -2), TRUNCATE(1.999, 2), SIGN(-3), MOD(10, 3), POW(2, 10), SQRT(16);
-- > 5	2	-2	3	-3	1.23	1200	1.99	-1	1	1024	4
SELECT GREATEST(1, 5, 3), LEAST('b', 'a'), GREATEST(1, NULL);
-- > 5	a	NULL
SELECT CONCAT('a', 1, NULL), CONCAT('a', 'b', 1), CONCAT_WS('-', 'a', NULL, 'b'), UPPER('aé'), LOWER('AÉ'), LENGTH('é'), CHAR_LENGTH('é'), REVERSE('abc'), REPEAT('ab', 3), REPEAT('x', 0), REPEAT('x', -1);
-- > NULL	ab1	a-b	AÉ	aé	2	1	cba	ababab	""	""
SELECT SUBSTRING('hello', 2, 3), SUBSTRING('hello', -3), SUBSTR('hello', 10), LEFT('hello', 2), RIGHT('hello', 2), LOCATE('l', 'hello'), LOCATE('l', 'hello', 4), INSTR('hello', 'z'), REPLACE('aXbX', 'X', '-'), TRIM('  a '), TRIM(BOTH 'x' FROM 'xxaxx'), LTRIM(' a'), RTRIM('a ');
-- > ell	llo	""	he	lo	3	4	0	a-b-	a	a	a	a
-- differs: MySQL 8 answers an empty string to LPAD with an empty pad
SELECT LPAD('5', 3, '0'), RPAD('ab', 1, 'x'), LPAD('a', 5, ''), SPACE(3), INSERT('Quadratic', 3, 4, 'What'), FIELD('b', 'a', 'b'), FIND_IN_SET('b', 'a,b,c'), ELT(2, 'a', 'b'), SUBSTRING_INDEX('a.b.c', '.', 2), SUBSTRING_INDEX('a.b.c', '.', -1), STRCMP('a', 'b'), ASCII('a'), HEX('abc'), HEX(255), UNHEX('616263'), QUOTE("it's");
-- mariadb> 005	a	NULL	"   "	QuWhattic	2	2	b	a.b	c	-1	97	616263	FF	abc	'it\'s'
-- moka> 005	a	""	"   "	QuWhattic	2	2	b	a.b	c	-1	97	616263	FF	abc	'it\'s'
SELECT MD5('a'), SHA1('a'), SHA2('a', 256), CRC32('abc'), TO_BASE64('abc'), FROM_BASE64('YWJj'), BIN(5), OCT(8), CONV('ff', 16, 10);
-- > 0cc175b9c0f1b6a831c399e269772661	86f7e437faa5a7fce15d1ddcb9eaeaea377667b8	ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb	891568578	YWJj	abc	101	10	255
SELECT CAST('12' AS SIGNED), CAST('12.7' AS DECIMAL(5,1)), CAST(12.7 AS SIGNED), CAST('2024-02-29' AS DATE), CAST(-1 AS UNSIGNED), CAST(12 AS CHAR), CONVERT('7', UNSIGNED);
-- > 12	12.7	13	2024-02-29	18446744073709551615	12	7
SELECT DATE_ADD('2024-01-31', INTERVAL 1 MONTH), DATE_SUB('2024-03-31', INTERVAL 1 MONTH), '2024-01-01' + INTERVAL 1 DAY, DATEDIFF('2024-03-01', '2024-02-28'), TIMESTAMPDIFF(HOUR, '2024-01-01', '2024-01-02 03:00:00'), LAST_DAY('2024-02-01');
-- > 2024-02-29	2024-02-29	2024-01-02	2	27	2024-02-29
SELECT DATE_FORMAT('2024-02-29 13:14:15', '%Y-%m-%d %H:%i:%s %W %M %j %b %e'), STR_TO_DATE('01,5,2013', '%d,%m,%Y'), UNIX_TIMESTAMP('2024-01-01 00:00:00'), FROM_UNIXTIME(86400), TIME_FORMAT('13:14:15', '%H.%i'), SEC_TO_TIME(3661), TIME_TO_SEC('01:01:01'), MAKEDATE(2024, 60), EXTRACT(YEAR_MONTH FROM '2024-02-29');
-- > 2024-02-29 13:14:15 Thursday February 060 Feb 29	2013-05-01	1704067200	1970-01-02 00:00:00	13.14	01:01:01	3661	2024-02-29	202402
SELECT JSON_OBJECT('a', 1, 'b', 'x'), JSON_ARRAY(1, 'a', NULL), JSON_EXTRACT('{"a": [1, 2]}', '$.a[1]'), JSON_UNQUOTE('"x"'), JSON_CONTAINS('[1,2]', '1'), JSON_KEYS('{"a":1,"b":2}'), JSON_SET('{"a":1}', '$.b', 2);
-- > {"a": 1, "b": "x"}	[1, "a", null]	2	x	1	["a", "b"]	{"a": 1, "b": 2}
SELECT 'abc' REGEXP '^a.c$', 'abc' RLIKE 'B', 'abc' NOT REGEXP 'z', REGEXP_REPLACE('abc', 'b', 'X'), REGEXP_SUBSTR('abc123', '[0-9]+');
-- > 1	1	1	aXc	123
-- differs: known gap: IS UNKNOWN is not in the grammar
SELECT ISNULL(NULL), 1 IS NULL, NULL IS NOT NULL, TRUE IS TRUE, 0 IS FALSE, NULL IS UNKNOWN, 1 XOR 1, !0, NOT 1;
-- mariadb> 1	0	0	1	1	1	0	1	0
-- moka> ERROR 1064 (42000)
SELECT INET_ATON('10.0.0.1'), INET_NTOA(167772161), FORMAT(1234567.891, 2), CHARSET('a'), DATABASE(), ROW_COUNT();
-- > 167772161	10.0.0.1	1,234,567.89	utf8mb4	cmp	-1
SELECT (1, 2) = (1, 2), (1, 2) < (1, 3), (1, 2) IN ((1, 2), (3, 4));
-- > 1	1	1
-- differs: known gap: N'…' and adjacent strings
SELECT 0x41, x'4142', b'1000001', 0x41 + 0, 'a' 'b', N'x', _utf8mb4'y';
-- mariadb> A	AB	A	65	ab	x	y
-- moka> ERROR 1054 (42S22)
SELECT ~5, 5 IN (SELECT 5), EXISTS (SELECT 1), (SELECT 7);
-- > 18446744073709551610	1	1	7
SELECT INTERVAL(23, 1, 15, 17, 30, 44, 200);
-- > 3
SET @a = 5, @b = 'x';
SELECT @a + 1, @b, @nothing;
-- > 6	x	NULL
SELECT @c := 7;
-- > 7
-- differs: known gap: PI() shows all its digits
SELECT BIT_COUNT(7), LN(1), LOG(2, 8), LOG10(100), EXP(0), PI(), DEGREES(PI()), SIN(0), COS(0), ATAN2(1, 1) > 0.78;
-- mariadb> 3	0	3	2	1	3.141593	180	0	1	1
-- moka> 3	0	3	2	1	3.141592653589793	180	0	1	1
SELECT REPEAT('x', 10000000000), SPACE(3000000000), LPAD('a', 3000000000, 'b'), RPAD('a', 3000000000, 'b'), LENGTH(REPEAT('ab', 1000000)), REPEAT(NULL, 2), REPEAT('a', NULL), LENGTH(SPACE(100000));
-- > NULL	NULL	NULL	NULL	2000000	NULL	NULL	100000
