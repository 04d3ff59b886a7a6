-- Joins, grouping, subqueries, sets, windows, ordering.
CREATE TABLE dept (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE emp (id INT PRIMARY KEY, name VARCHAR(20), dept INT, boss INT, pay DECIMAL(8,2), hired DATE, KEY by_dept (dept), KEY by_pay (pay));
INSERT INTO dept VALUES (1, 'dev'), (2, 'ops'), (3, 'empty');
-- > rows affected: 3
INSERT INTO emp VALUES (1, 'ann', 1, NULL, 100, '2020-01-01'), (2, 'bob', 1, 1, 80.5, '2021-06-01'), (3, 'cat', 2, 1, 80.5, '2021-06-02'), (4, 'dan', 2, 3, NULL, NULL), (5, 'eve', NULL, 3, 60, '2022-02-02');
-- > rows affected: 5
SELECT e.name, d.name FROM emp e JOIN dept d ON d.id = e.dept ORDER BY e.id;
-- > ann	dev
-- > bob	dev
-- > cat	ops
-- > dan	ops
SELECT e.name, d.name FROM emp e LEFT JOIN dept d ON d.id = e.dept ORDER BY e.id;
-- > ann	dev
-- > bob	dev
-- > cat	ops
-- > dan	ops
-- > eve	NULL
SELECT d.name, e.name FROM emp e RIGHT JOIN dept d ON d.id = e.dept ORDER BY d.id, e.id;
-- > dev	ann
-- > dev	bob
-- > ops	cat
-- > ops	dan
-- > empty	NULL
SELECT d.name, COUNT(e.id), SUM(e.pay), AVG(e.pay), MIN(e.pay), MAX(e.name) FROM dept d LEFT JOIN emp e ON e.dept = d.id GROUP BY d.id, d.name ORDER BY d.id;
-- > dev	2	180.50	90.250000	80.50	bob
-- > ops	2	80.50	80.500000	80.50	dan
-- > empty	0	NULL	NULL	NULL	NULL
SELECT e.name, b.name FROM emp e LEFT JOIN emp b ON b.id = e.boss WHERE b.pay > 80 OR b.id IS NULL ORDER BY e.id;
-- > ann	NULL
-- > bob	ann
-- > cat	ann
-- > dan	cat
-- > eve	cat
SELECT dept, COUNT(*) c FROM emp GROUP BY dept HAVING c > 1 ORDER BY dept;
-- > 1	2
-- > 2	2
SELECT dept, COUNT(*), COUNT(pay), COUNT(DISTINCT pay), GROUP_CONCAT(name ORDER BY name DESC SEPARATOR '/') FROM emp GROUP BY dept ORDER BY dept;
-- > NULL	1	1	1	eve
-- > 1	2	2	2	bob/ann
-- > 2	2	1	1	dan/cat
SELECT COUNT(*), SUM(pay), AVG(pay) FROM emp WHERE id > 100;
-- > 0	NULL	NULL
SELECT DISTINCT pay FROM emp ORDER BY pay;
-- > NULL
-- > 60.00
-- > 80.50
-- > 100.00
SELECT pay FROM emp ORDER BY pay DESC, id LIMIT 2 OFFSET 1;
-- > 80.50
-- > 80.50
SELECT name FROM emp WHERE dept IN (SELECT id FROM dept WHERE name = 'ops') ORDER BY name;
-- > cat
-- > dan
SELECT name FROM emp e WHERE EXISTS (SELECT 1 FROM emp x WHERE x.boss = e.id) ORDER BY name;
-- > ann
-- > cat
SELECT name FROM emp e WHERE NOT EXISTS (SELECT 1 FROM emp x WHERE x.boss = e.id) ORDER BY name;
-- > bob
-- > dan
-- > eve
SELECT name FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE name = 'ops') ORDER BY name;
-- > ann
-- > bob
SELECT name, (SELECT COUNT(*) FROM emp x WHERE x.boss = e.id) n FROM emp e ORDER BY n DESC, name;
-- > ann	2
-- > cat	2
-- > bob	0
-- > dan	0
-- > eve	0
SELECT name FROM emp WHERE pay > ALL (SELECT pay FROM emp WHERE dept = 2 AND pay IS NOT NULL);
-- > ann
SELECT name FROM emp WHERE pay = ANY (SELECT pay FROM emp WHERE dept = 2) ORDER BY name;
-- > bob
-- > cat
SELECT t.d, t.n FROM (SELECT dept d, COUNT(*) n FROM emp GROUP BY dept) t WHERE t.n > 1 ORDER BY t.d;
-- > 1	2
-- > 2	2
SELECT 1 UNION SELECT 2 UNION SELECT 1;
-- > 1
-- > 2
SELECT 1 UNION ALL SELECT 1;
-- > 1
-- > 1
SELECT id FROM emp WHERE id < 3 UNION SELECT id FROM dept ORDER BY id DESC LIMIT 2;
-- > 3
-- > 2
SELECT id FROM emp INTERSECT SELECT id FROM dept;
-- > 1
-- > 2
-- > 3
SELECT id FROM emp EXCEPT SELECT id FROM dept;
-- > 4
-- > 5
WITH t AS (SELECT * FROM emp WHERE pay > 70) SELECT COUNT(*) FROM t;
-- > 3
WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT SUM(i), COUNT(*) FROM n;
-- > 15	5
WITH RECURSIVE up AS (SELECT id, name, boss, 0 lvl FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, e.name, e.boss, lvl + 1 FROM emp e JOIN up ON up.id = e.boss) SELECT name, lvl FROM up ORDER BY lvl, name;
-- > ann	0
-- > bob	1
-- > cat	1
-- > dan	2
-- > eve	2
SELECT name, ROW_NUMBER() OVER (ORDER BY id) FROM emp ORDER BY id;
-- > ann	1
-- > bob	2
-- > cat	3
-- > dan	4
-- > eve	5
SELECT name, RANK() OVER (PARTITION BY dept ORDER BY pay DESC), SUM(pay) OVER (PARTITION BY dept) FROM emp WHERE dept IS NOT NULL AND pay IS NOT NULL ORDER BY id;
-- > ann	1	180.50
-- > bob	2	180.50
-- > cat	1	80.50
SELECT name, LAG(name) OVER (ORDER BY id), LEAD(name) OVER (ORDER BY id) FROM emp ORDER BY id;
-- > ann	NULL	bob
-- > bob	ann	cat
-- > cat	bob	dan
-- > dan	cat	eve
-- > eve	dan	NULL
SELECT dept, SUM(pay) FROM emp GROUP BY dept WITH ROLLUP;
-- > 1	180.50
-- > 2	80.50
-- > NULL	321.00
-- > NULL	60.00
SELECT * FROM dept NATURAL JOIN (SELECT 1 id) x;
-- > 1	dev
SELECT name FROM emp JOIN dept USING (id);
-- > ERROR 1052 (23000)
SELECT e.name FROM emp e, dept d WHERE e.dept = d.id AND d.name LIKE 'd%' ORDER BY e.name;
-- > ann
-- > bob
SELECT COUNT(*) FROM emp CROSS JOIN dept;
-- > 15
SELECT name FROM emp WHERE hired BETWEEN '2021-01-01' AND '2021-12-31' ORDER BY hired;
-- > bob
-- > cat
SELECT YEAR(hired) y, COUNT(*) FROM emp GROUP BY y ORDER BY y;
-- > NULL	1
-- > 2020	1
-- > 2021	2
-- > 2022	1
SELECT name AS n FROM emp WHERE pay IS NULL;
-- > dan
SELECT MAX(pay), name FROM emp;
-- > ERROR 1140 (42000)
SELECT name, pay FROM emp GROUP BY dept;
-- > ERROR 1055 (42000)
UPDATE emp SET pay = pay + 1 WHERE dept = 1;
-- > rows affected: 2
UPDATE emp SET pay = pay WHERE dept = 1;
-- > rows affected: 0
UPDATE emp e JOIN dept d ON d.id = e.dept SET e.pay = 1 WHERE d.name = 'ops';
-- > rows affected: 2
DELETE FROM emp WHERE id = 5;
-- > rows affected: 1
DELETE e FROM emp e JOIN dept d ON d.id = e.dept WHERE d.name = 'ops' AND e.id = 4;
-- > rows affected: 1
DELETE FROM emp ORDER BY id DESC LIMIT 1;
-- > rows affected: 1
INSERT INTO emp (id, name) SELECT id + 100, name FROM dept;
-- > rows affected: 3
INSERT INTO dept VALUES (1, 'again') ON DUPLICATE KEY UPDATE name = 'again';
-- > rows affected: 2
INSERT INTO dept VALUES (1, 'again') ON DUPLICATE KEY UPDATE name = VALUES(name);
-- > rows affected: 0
INSERT IGNORE INTO dept VALUES (1, 'ignored'), (9, 'new');
-- > rows affected: 1
REPLACE INTO dept VALUES (1, 'replaced'), (10, 'ten');
-- > rows affected: 3
SELECT * FROM dept ORDER BY id;
-- > 1	replaced
-- > 2	ops
-- > 3	empty
-- > 9	new
-- > 10	ten
SELECT * FROM emp ORDER BY id;
-- > 1	ann	1	NULL	101.00	2020-01-01
-- > 2	bob	1	1	81.50	2021-06-01
-- > 101	dev	NULL	NULL	NULL	NULL
-- > 102	ops	NULL	NULL	NULL	NULL
-- > 103	empty	NULL	NULL	NULL	NULL
CREATE VIEW rich AS SELECT name, pay FROM emp WHERE pay > 50;
SELECT * FROM rich ORDER BY name;
-- > ann	101.00
-- > bob	81.50
START TRANSACTION;
DELETE FROM emp;
-- > rows affected: 5
SELECT COUNT(*) FROM emp;
-- > 0
SAVEPOINT s1;
INSERT INTO emp (id, name) VALUES (1, 'back');
-- > rows affected: 1
ROLLBACK TO SAVEPOINT s1;
SELECT COUNT(*) FROM emp;
-- > 0
ROLLBACK;
SELECT COUNT(*) FROM emp;
-- > 5
-- FOUND_ROWS counts what LIMIT leaves out before and behind, whichever way the rows are read.
CREATE TABLE found (a INT PRIMARY KEY, b INT, c INT, KEY (b, c));
INSERT INTO found VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 2, 4), (5, 3, 5), (6, 2, 3);
-- > rows affected: 6
SELECT SQL_CALC_FOUND_ROWS a FROM found LIMIT 2, 1;
-- > 3
SELECT FOUND_ROWS();
-- > 6
SELECT SQL_CALC_FOUND_ROWS c FROM found WHERE b = 2 ORDER BY c LIMIT 1, 1;
-- > 3
SELECT FOUND_ROWS();
-- > 3
SELECT SQL_CALC_FOUND_ROWS a FROM found ORDER BY a LIMIT 1, 2;
-- > 2
-- > 3
SELECT FOUND_ROWS();
-- > 6
SELECT SQL_CALC_FOUND_ROWS c FROM found WHERE b = 2 AND a > 1 ORDER BY c DESC LIMIT 1, 1;
-- > 3
SELECT FOUND_ROWS();
-- > 3
SELECT SQL_CALC_FOUND_ROWS b, COUNT(*) FROM found GROUP BY b ORDER BY b LIMIT 1, 1;
-- > 2	3
SELECT FOUND_ROWS();
-- > 3
SELECT SQL_CALC_FOUND_ROWS a FROM found LIMIT 5, 0;
-- > (no rows)
SELECT FOUND_ROWS();
-- > 6
SELECT SQL_CALC_FOUND_ROWS a FROM found LIMIT 9, 2;
-- > (no rows)
SELECT FOUND_ROWS();
-- > 6
-- BINARY behind a type of texts is the binary collation of the character set; PRIMARY is an index like others to DROP INDEX.
CREATE TABLE exact (a VARCHAR(9) BINARY PRIMARY KEY, b CHAR(3) BINARY, c TEXT BINARY, d VARCHAR(9));
INSERT INTO exact VALUES ('a', 'b', 'c', 'd'), ('A', 'B', 'C', 'D');
-- > rows affected: 2
SELECT a = 'A', b = 'B', c = 'C', d = 'D', a = 'a' FROM exact ORDER BY a;
-- > 1	1	1	1	0
-- > 0	0	0	1	1
DROP INDEX `PRIMARY` ON exact;
INSERT INTO exact VALUES ('a', 'b', 'c', 'd');
-- > rows affected: 1
SELECT COUNT(*) FROM exact WHERE a = 'a';
-- > 2
