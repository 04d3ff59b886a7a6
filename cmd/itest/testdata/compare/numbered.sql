-- A column with numbers of its own for a table that has rows: ALTER TABLE … ADD id INT AUTO_INCREMENT.
CREATE TABLE w (a INT);
INSERT INTO w VALUES (5), (6);
-- > rows affected: 2
ALTER TABLE w ADD id INT AUTO_INCREMENT PRIMARY KEY;
SELECT id, a FROM w ORDER BY id;
-- > 1	5
-- > 2	6
INSERT INTO w (a) VALUES (7);
-- > rows affected: 1
SELECT id, a FROM w ORDER BY id;
-- > 1	5
-- > 2	6
-- > 3	7
SELECT auto_increment FROM information_schema.tables WHERE table_schema = 'cmp' AND table_name = 'w';
-- > 4
CREATE TABLE u (a INT PRIMARY KEY, b INT, KEY (b));
INSERT INTO u VALUES (5, 1), (6, 2), (9, 3);
-- > rows affected: 3
ALTER TABLE u ADD id INT NOT NULL AUTO_INCREMENT UNIQUE FIRST;
SELECT * FROM u ORDER BY a;
-- > 1	5	1
-- > 2	6	2
-- > 3	9	3
INSERT INTO u (a, b) VALUES (1, 1);
-- > rows affected: 1
SELECT * FROM u ORDER BY id;
-- > 1	5	1
-- > 2	6	2
-- > 3	9	3
-- > 4	1	1
SELECT b FROM u WHERE b > 1 ORDER BY b;
-- > 2
-- > 3
CREATE TABLE s (a INT);
INSERT INTO s VALUES (5), (6);
-- > rows affected: 2
ALTER TABLE s ADD id SERIAL;
INSERT INTO s (a) VALUES (8);
-- > rows affected: 1
SELECT a, id FROM s ORDER BY id;
-- > 5	1
-- > 6	2
-- > 8	3
CREATE TABLE k (a INT, b INT);
INSERT INTO k VALUES (5, 1), (6, 2);
-- > rows affected: 2
ALTER TABLE k ADD COLUMN n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT AFTER a, ADD KEY (n), DROP COLUMN b;
INSERT INTO k (a) VALUES (8);
-- > rows affected: 1
SELECT * FROM k ORDER BY n;
-- > 5	1
-- > 6	2
-- > 8	3
CREATE TABLE e (a INT);
ALTER TABLE e ADD id INT AUTO_INCREMENT PRIMARY KEY;
INSERT INTO e (a) VALUES (8);
-- > rows affected: 1
SELECT * FROM e;
-- > 8	1
ALTER TABLE w ADD second INT AUTO_INCREMENT;
-- > ERROR 1075 (42000)
CREATE TABLE g (a INT);
INSERT INTO g VALUES (1), (2);
-- > rows affected: 2
ALTER TABLE g ADD id INT AUTO_INCREMENT PRIMARY KEY, AUTO_INCREMENT = 100;
INSERT INTO g (a) VALUES (3);
-- > rows affected: 1
SELECT MAX(id) > 2, COUNT(*) FROM g;
-- > 1	3
