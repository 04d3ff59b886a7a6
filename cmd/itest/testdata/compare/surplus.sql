-- Texts that are too long by their spaces only.
CREATE TABLE ch (id INT PRIMARY KEY AUTO_INCREMENT, c CHAR(5), v VARCHAR(5), b BINARY(3), w VARBINARY(3), tt TINYTEXT);
INSERT INTO ch (c) VALUES ('abcde   ');
-- > rows affected: 1
SHOW WARNINGS;
-- > (no rows)
INSERT INTO ch (v) VALUES ('abcde   ');
-- > rows affected: 1
SHOW WARNINGS;
-- > Note	1265	Data truncated for column 'v' at row 1
INSERT INTO ch (c) VALUES ('abcdef   ');
-- > ERROR 1406 (22001)
INSERT INTO ch (v) VALUES ('abcdef   ');
-- > ERROR 1406 (22001)
INSERT INTO ch (b) VALUES ('abc   ');
-- > ERROR 1406 (22001)
INSERT INTO ch (w) VALUES ('abc   ');
-- > ERROR 1406 (22001)
INSERT INTO ch (tt) VALUES (CONCAT(REPEAT('a', 255), ' '));
-- > rows affected: 1
UPDATE ch SET v = 'vwxyz    ' WHERE id = 1;
-- > rows affected: 1
UPDATE ch SET v = 'vwxyzz    ' WHERE id = 1;
-- > ERROR 1406 (22001)
UPDATE ch SET c = 'äöü€é    ' WHERE id = 1;
-- > rows affected: 1
SELECT c, v, LENGTH(v), LENGTH(tt) FROM ch ORDER BY c, v, tt;
-- > NULL	NULL	NULL	255
-- > NULL	abcde	5	NULL
-- > äöü€é	vwxyz	5	NULL
INSERT INTO ch (c, v) SELECT 'abcde      ', 'abcde   ';
-- > rows affected: 1
INSERT INTO ch (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = 'fghij   ';
-- > rows affected: 2
REPLACE INTO ch (id, v) VALUES (2, 'klmno   ');
-- > rows affected: 2
SELECT c, v, LENGTH(v), LENGTH(tt) FROM ch ORDER BY c, v, tt;
-- > NULL	NULL	NULL	255
-- > NULL	klmno	5	NULL
-- > abcde	abcde	5	NULL
-- > äöü€é	fghij	5	NULL
CREATE TABLE k (v VARCHAR(3) PRIMARY KEY);
INSERT INTO k VALUES ('abc  ');
-- > rows affected: 1
INSERT INTO k VALUES ('abc');
-- > ERROR 1062 (23000)
SELECT * FROM k;
-- > abc
CREATE TABLE only (v VARCHAR(3));
INSERT INTO only VALUES ('abc  '), ('x'), ('yyy       ');
-- > rows affected: 3
SELECT v, LENGTH(v) FROM only ORDER BY 1;
-- > abc	3
-- > x	1
-- > yyy	3
