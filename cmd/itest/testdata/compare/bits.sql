-- b'…' and 0x… are bytes beside texts, and numbers beside numbers.
CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, v BIT(10) DEFAULT b'101', n TINYINT DEFAULT b'11', s VARCHAR(10), d DECIMAL(10,2), y VARBINARY(10), o BIT(1) NOT NULL DEFAULT b'0', g INT AS (n + b'1') STORED, KEY (v), CHECK (n < b'1100100'));
INSERT INTO b (v, n, s, d, y) VALUES (b'101', b'101', b'1000001', b'101', b'1000001');
-- > rows affected: 1
INSERT INTO b (v, n, s, d, y) VALUES (0x05, 0x05, 0x41, 0x05, 0x41);
-- > rows affected: 1
INSERT INTO b (s) VALUES (b'0100000101000010');
-- > rows affected: 1
INSERT INTO b SET v = b'1', o = b'1', n = 0x3;
-- > rows affected: 1
UPDATE b SET n = b'111', d = 0x02 WHERE v = b'101' AND id = 1;
-- > rows affected: 1
UPDATE b SET o = b'1', s = b'01000011' WHERE id = 2;
-- > rows affected: 1
SELECT id, v + 0, n, s, d, y, o + 0, g FROM b ORDER BY id;
-- > 1	5	7	A	2.00	A	0	8
-- > 2	5	5	C	5.00	A	1	6
-- > 3	5	3	AB	NULL	NULL	0	4
-- > 4	1	3	NULL	NULL	NULL	1	4
SELECT id FROM b WHERE v = 0x05 ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM b WHERE v = b'101' ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM b WHERE v IN (b'101', b'1') ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
SELECT id FROM b WHERE v > 0x04 ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT id FROM b WHERE n = 0x07;
-- > 1
SELECT id FROM b WHERE n IN (0x07, 0x03) ORDER BY id;
-- > 1
-- > 3
-- > 4
SELECT id FROM b WHERE n BETWEEN 0x01 AND 0x10 ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
SELECT id FROM b WHERE s = 0x41;
-- > 1
SELECT id FROM b WHERE s = b'1000001';
-- > 1
SELECT id FROM b WHERE y = b'1000001' ORDER BY id;
-- > 1
-- > 2
SELECT id FROM b WHERE d = 0x05;
-- > 2
SELECT id FROM b WHERE o = b'1' ORDER BY id;
-- > 2
-- > 4
SELECT id FROM b WHERE o = b'0' AND n <> b'11' ORDER BY id;
-- > 1
SELECT v & 0x01, v | b'10', n & 0x03, 0x05 & 0x03, b'101' | b'10', ~0x05, 0x05 << 1, -0x05, -b'101', 0x05 * 2, b'101' / 2, 0x05 % 2, 0x07 DIV 2 FROM b ORDER BY id;
-- > 1	7	3	1	7	18446744073709551610	10	-5	-5	10	2.5000	1	3
-- > 1	7	1	1	7	18446744073709551610	10	-5	-5	10	2.5000	1	3
-- > 1	7	3	1	7	18446744073709551610	10	-5	-5	10	2.5000	1	3
-- > 1	3	3	1	7	18446744073709551610	10	-5	-5	10	2.5000	1	3
SELECT 0x05 = 5, b'101' = 5, 0x05 < 6, 0x05 IN (5), IF(0x01, 'y', 'n'), IF(b'0', 'y', 'n'), NOT 0x01, b'1' AND 1, COALESCE(b'1000001', 'x'), CASE b'1000001' WHEN 'A' THEN 1 END, GREATEST(b'1000001', 'B'), BIN(b'101' + 0), CAST(b'1000001' AS UNSIGNED), BIT_COUNT(b'111');
-- > 1	1	1	1	y	n	0	1	A	1	B	101	65	3
SELECT SUM(0x05), SUM(b'101'), MAX(0x41) FROM b;
-- > 20	20	A
SELECT b'101' BETWEEN 1 AND 9, b'1000001' LIKE 'A', ROUND(0x05, 1), ABS(b'101'), b'101' + 0.5, 0x05 + 1e0, MOD(b'101', 3), EXPORT_SET(b'101', '1', '0', ',', 4);
-- > 1	1	5	5	5.5	6	2	1,0,1,0
SELECT HEX(CONCAT(b'01000001', 'b')), CONCAT(b'01000001', 'b'), LENGTH(b'01000001'), b'01000001' = 'A', UPPER(b'01100001'), HEX(b'1111'), LEFT(b'0100000101000010', 1), b'0100000101000010', REVERSE(b'0100000101000010'), INSTR('xAB', b'0100000101000010'), ASCII(b'01000001'), REPLACE('xAx', b'01000001', 'q'), CAST(b'01000001' AS CHAR);
-- > 4162	Ab	1	1	a	0F	A	AB	BA	2	65	xqx	A
SET @x = b'01000001';
SELECT @x, HEX(@x);
-- > A	41
SELECT LENGTH(b'1'), LENGTH(b'100000000'), HEX(b'100000000'), HEX(0x0102), 0xFFFFFFFFFFFFFFFF + 0, b'1111111111111111111111111111111111111111111111111111111111111111' + 0;
-- > 1	2	0100	0102	18446744073709551615	18446744073709551615
