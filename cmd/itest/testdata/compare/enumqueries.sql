-- ENUM and SET beside subqueries are their texts.
CREATE TABLE t (id INT PRIMARY KEY, e ENUM('zeta','alpha','mid'), s SET('z','a','m'), v VARCHAR(10), n INT, KEY (v));
INSERT INTO t VALUES (1,'zeta','z','zeta',1),(2,'alpha','a','alpha',2),(3,'mid','z,a','mid',3),(4,NULL,NULL,NULL,NULL),(5,'zeta','','x',0);
-- > rows affected: 5
CREATE TABLE w (f ENUM('mid','alpha','zeta'), g SET('a','z'), v VARCHAR(10));
INSERT INTO w VALUES ('mid','a','mid'),('zeta','z','alpha'),(NULL,NULL,NULL);
-- > rows affected: 3
SELECT id FROM t WHERE e >= (SELECT MAX(e) FROM t) ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE e >= (SELECT MIN(e) FROM t) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 5
SELECT id FROM t WHERE e < (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 2
SELECT id FROM t WHERE e > (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE e <> (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 1
-- > 2
-- > 5
SELECT id FROM t WHERE e = (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 3
SELECT id FROM t WHERE (SELECT e FROM t WHERE id = 3) < e ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE (SELECT e FROM t WHERE id = 3) = e ORDER BY id;
-- > 3
SELECT id FROM t WHERE e > (SELECT f FROM w WHERE v = 'mid') ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE s > (SELECT s FROM t WHERE id = 2) ORDER BY id;
-- > 1
-- > 3
SELECT id FROM t WHERE s >= (SELECT MAX(s) FROM t) ORDER BY id;
-- > 3
SELECT id FROM t WHERE s = (SELECT MAX(s) FROM t) ORDER BY id;
-- > 3
SELECT id FROM t WHERE s = (SELECT g FROM w WHERE v = 'mid') ORDER BY id;
-- > 2
SELECT id FROM t WHERE s = (SELECT s FROM t WHERE id = 3) ORDER BY id;
-- > 3
SELECT id FROM t WHERE 'alpha' < (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT id FROM t WHERE 'n' < (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > (no rows)
SELECT 'alpha' < (SELECT e FROM t WHERE id = 3), 'zzz' > (SELECT e FROM t WHERE id = 1), (SELECT e FROM t WHERE id = 1) > 'b', 'zeta' = (SELECT e FROM t WHERE id = 1), 'ZETA ' = (SELECT e FROM t WHERE id = 1);
-- > 1	1	1	1	1
SELECT (SELECT e FROM t WHERE id = 3) BETWEEN 'a' AND 'n', (SELECT e FROM t WHERE id = 3) IN ('mid', 'x'), (SELECT e FROM t WHERE id = 3) < (SELECT e FROM t WHERE id = 1);
-- > 1	1	1
SELECT id FROM t WHERE v < (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 2
SELECT id FROM t WHERE v = (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 3
SELECT id FROM t WHERE e = (SELECT v FROM t WHERE id = 3) ORDER BY id;
-- > 3
SELECT id FROM t WHERE e < (SELECT v FROM t WHERE id = 3) ORDER BY id;
-- > 2
SELECT id FROM t WHERE e < (SELECT n FROM t WHERE id = 3) ORDER BY id;
-- > 1
-- > 2
-- > 5
SELECT id FROM t WHERE e = (SELECT f FROM w WHERE v = 'mid') ORDER BY id;
-- > 3
SELECT id FROM t WHERE e <> (SELECT f FROM w WHERE v = 'alpha') ORDER BY id;
-- > 2
-- > 3
SELECT id FROM t WHERE e > ALL (SELECT f FROM w WHERE f = 'mid') ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE e > ANY (SELECT f FROM w) ORDER BY id;
-- > 1
-- > 5
SELECT id FROM t WHERE e <= ANY (SELECT e FROM t WHERE id < 3) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 5
SELECT id FROM t WHERE e BETWEEN (SELECT MIN(e) FROM t) AND (SELECT e FROM t WHERE id = 3) ORDER BY id;
-- > 2
-- > 3
SELECT id FROM t x WHERE e > (SELECT MIN(e) FROM t y WHERE y.id < x.id) ORDER BY id;
-- > 3
-- > 5
SELECT id FROM t x WHERE e <= (SELECT e FROM t y WHERE y.id = x.id + 1) ORDER BY id;
-- > 2
SELECT id, (SELECT MAX(e) FROM t) = e, (SELECT MAX(e) FROM t) < e, (SELECT MAX(e) FROM t) > e FROM t ORDER BY id;
-- > 1	1	0	0
-- > 2	0	0	1
-- > 3	0	0	1
-- > 4	NULL	NULL	NULL
-- > 5	1	0	0
SELECT id FROM t WHERE (e, id) = (SELECT v, id FROM t WHERE id = 3) ORDER BY id;
-- > 3
SELECT CASE WHEN e > (SELECT e FROM t WHERE id = 3) THEN 'y' ELSE 'n' END FROM t ORDER BY id;
-- > y
-- > n
-- > n
-- > n
-- > y
SELECT e, COUNT(*) FROM t GROUP BY e HAVING e >= (SELECT MAX(e) FROM t) ORDER BY e;
-- > zeta	2
SELECT MAX(e) FROM t HAVING MAX(e) > (SELECT e FROM t WHERE id = 3);
-- > zeta
SELECT x.m > 'b', x.m >= (SELECT MAX(e) FROM t) FROM (SELECT MAX(e) m FROM t) x;
-- > 1	1
SELECT UPPER((SELECT s FROM t WHERE id = 3)), UPPER(s), UPPER(e), UPPER((SELECT e FROM t WHERE id = 3)), LOWER(e), CONCAT((SELECT e FROM t WHERE id = 3), 'x') FROM t ORDER BY id;
-- > Z,A	Z	ZETA	MID	zeta	midx
-- > Z,A	A	ALPHA	MID	alpha	midx
-- > Z,A	Z,A	MID	MID	mid	midx
-- > Z,A	NULL	NULL	MID	NULL	midx
-- > Z,A	""	ZETA	MID	zeta	midx
SELECT x.id FROM t x JOIN t y ON x.e > (SELECT e FROM t WHERE id = 3) AND y.id = x.id ORDER BY 1;
-- > 1
-- > 5
SELECT (SELECT e FROM t WHERE id = 1) = (SELECT f FROM w WHERE v = 'alpha'), (SELECT s FROM t WHERE id = 3) > (SELECT s FROM t WHERE id = 2);
-- > 1	1
UPDATE t SET n = 77 WHERE e >= (SELECT * FROM (SELECT MAX(e) FROM t) q);
-- > rows affected: 2
SELECT id FROM t WHERE n = 77 ORDER BY id;
-- > 1
-- > 5
SELECT 'ZETA' = (SELECT e FROM t WHERE id = 1), 'zeta ' = (SELECT e FROM t WHERE id = 1), (SELECT e FROM t WHERE id = 1) = 'zeta ', (SELECT e FROM t WHERE id = 1) IN ('zeta ');
-- > 1	1	1	1
DELETE FROM t WHERE e < (SELECT f FROM w WHERE v = 'mid');
-- > rows affected: 1
SELECT id FROM t ORDER BY id;
-- > 1
-- > 3
-- > 4
-- > 5
