CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT, c DECIMAL(8,2), s VARCHAR(10), KEY (a), KEY (s));
CREATE TABLE u (id INT PRIMARY KEY, a INT, c INT, d DOUBLE, g VARCHAR(10), KEY (a), UNIQUE KEY (id, a));
CREATE TABLE w (id INT PRIMARY KEY, a DOUBLE, f INT, g VARCHAR(5), KEY (f));
INSERT INTO t VALUES (0,4,NULL,1.3,'c'),(1,-1,-1,-1,'a'),(2,0,NULL,2.5,'b'),(3,3,2,0,'c'),(4,2,-1,3.3,NULL),(5,NULL,-1,1,'d'),(6,0,-1,-2.5,''),(7,NULL,NULL,NULL,'a');
-- > rows affected: 8
INSERT INTO u VALUES (0,1,1,0,'a'),(1,0,2,1,'b'),(2,NULL,-1,2,'c'),(3,4,0,-1,NULL),(4,3,NULL,2.5,'d'),(5,0,1,NULL,'a'),(6,-1,3,1,'');
-- > rows affected: 7
INSERT INTO w VALUES (1,0,NULL,'d'),(2,NULL,0,'c'),(3,-1,NULL,'a'),(4,1.5,0,NULL),(5,0,3,'b');
-- > rows affected: 5
CREATE VIEW vg AS SELECT COUNT(*) m, SUM(b) n, a, MAX(s) g FROM t GROUP BY a;
CREATE VIEW vu AS SELECT a, g FROM u UNION SELECT a, g FROM w;
CREATE VIEW vj AS SELECT t.id, t.a, u.d, t.s FROM t LEFT JOIN u ON t.a = u.a;
SELECT id FROM w x1 WHERE 'c' IN (SELECT x3.s FROM vj x2 JOIN t x3 WHERE x2.a = x1.a) ORDER BY id;
-- > 1
-- > 3
-- > 5
SELECT id FROM w x1 WHERE EXISTS (SELECT x3.s FROM vj x2 JOIN t x3 WHERE x2.a = x1.a AND x3.s = 'c') ORDER BY id;
-- > 1
-- > 3
-- > 5
SELECT id FROM w WHERE 'c' IN (SELECT x3.s FROM vj x2 JOIN t x3 WHERE x2.a = 3) AND 'c' NOT IN (SELECT '') ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT COUNT(*) FROM t x1 JOIN vj x2 JOIN u x3 WHERE CASE WHEN (x2.id IN (SELECT x5.p FROM (SELECT x4.b p FROM t x4) x5) OR x2.a >= x1.b) THEN x3.c END = -1;
-- > 43
SELECT COUNT(*) FROM t x1 CROSS JOIN u x2 LEFT JOIN w x3 ON x3.id = x1.id WHERE x1.a = x2.a OR x3.f = x2.c;
-- > 10
SELECT COUNT(*) FROM w x3 LEFT JOIN (t x1 CROSS JOIN u x2) ON x3.f = x1.id WHERE x1.a = x2.a OR x3.a = x2.c;
-- > 4
SELECT COUNT(*) FROM w x3 LEFT JOIN (t x1 CROSS JOIN u x2) ON x3.f = x1.id WHERE COALESCE(x1.a = x2.a, 1) = 1;
-- > 8
SELECT COUNT(*) FROM vg x1 JOIN u x2 ON x1.a = (SELECT COUNT(x3.a) FROM w x3 WHERE x1.g <> 'c') JOIN vu x4 ON 1 = 1;
-- > 0
SELECT COUNT(*) FROM t a JOIN u b JOIN w c ON a.a = (SELECT MAX(x.a) FROM u x WHERE x.c < b.c) AND c.f = b.a;
-- > 4
SELECT COUNT(*) FROM t a LEFT JOIN u b ON a.a = b.a LEFT JOIN w c ON c.f IN (SELECT x.id FROM t x WHERE x.a > b.c);
-- > 21
SELECT x1.a, x6.p FROM vu x1 LEFT JOIN (SELECT id p, id q FROM u GROUP BY id) x6 ON x1.a = x6.q WHERE x6.q NOT IN (SELECT x9.id FROM t x9 WHERE x6.p = x6.q * x6.q) ORDER BY x1.a, x6.p;
-- > NULL	NULL
-- > -1	NULL
-- > -1	NULL
-- > 1.5	NULL
-- > 3	3
-- > 4	4
SELECT id FROM t x WHERE EXISTS (SELECT 1 FROM u y LEFT JOIN (SELECT id FROM w) z ON y.id = z.id AND x.a = 0 WHERE z.id IS NULL AND y.a = x.a) ORDER BY id;
-- > 0
-- > 1
-- > 3
SELECT id FROM t x WHERE NOT EXISTS (SELECT 1 FROM w z WHERE x.id = x.a) ORDER BY id;
-- > 0
-- > 1
-- > 2
-- > 4
-- > 5
-- > 6
-- > 7
SELECT x1.id, x2.id FROM w x1 JOIN w x2 WHERE NOT EXISTS (SELECT x3.id FROM w x3 WHERE x2.id = x1.id) ORDER BY x1.id, x2.id;
-- > 1	2
-- > 1	3
-- > 1	4
-- > 1	5
-- > 2	1
-- > 2	3
-- > 2	4
-- > 2	5
-- > 3	1
-- > 3	2
-- > 3	4
-- > 3	5
-- > 4	1
-- > 4	2
-- > 4	3
-- > 4	5
-- > 5	1
-- > 5	2
-- > 5	3
-- > 5	4
SELECT x2.g, COUNT(x2.n), COUNT(*) FROM t x1 JOIN vg x2 ON x1.id = x2.a WHERE NOT EXISTS (SELECT x7.q FROM (SELECT id q FROM w WHERE a > a) x7 WHERE x1.b = x2.n AND x2.m = x2.n) GROUP BY x2.g ORDER BY x2.g;
-- > NULL	1	1
-- > b	1	1
-- > c	1	2
SELECT id FROM t x WHERE EXISTS (SELECT a FROM vu WHERE g = 'zz') ORDER BY id;
-- > (no rows)
SELECT id FROM t x WHERE NOT EXISTS (SELECT a FROM vu WHERE g = 'a') ORDER BY id;
-- > (no rows)
SELECT id FROM t x WHERE EXISTS (SELECT * FROM vu WHERE g = 'a') AND NOT EXISTS (SELECT a, TRUE, a * 7 FROM vj WHERE FALSE) ORDER BY id;
-- > 0
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
-- > 6
-- > 7
SELECT id, EXISTS (SELECT 1 FROM vg WHERE m > 1) e FROM t ORDER BY id;
-- > 0	1
-- > 1	1
-- > 2	1
-- > 3	1
-- > 4	1
-- > 5	1
-- > 6	1
-- > 7	1
SELECT p, q FROM (SELECT 1 p, m q FROM vg) x WHERE q <> p ORDER BY q;
-- > 1	2
-- > 1	2
SELECT p, q FROM (SELECT 'a' p, g q FROM vu) x WHERE q <> p AND p < 'b' ORDER BY q;
-- > a	""
-- > a	b
-- > a	c
-- > a	d
-- > a	d
SELECT COUNT(*) FROM (SELECT RAND() r FROM t a JOIN t b JOIN t c) x WHERE r < 0.5 AND r >= 0.5;
-- > 0
SELECT COUNT(*) FROM (SELECT x1.c q FROM t x1) x2 JOIN t x3 ON x2.q = x3.c WHERE EXISTS (SELECT 1 FROM t x7 JOIN w x8 ON x7.a = x8.f AND 3 IS NULL WHERE x8.id > x2.q);
-- > 0
SELECT COUNT(*) FROM t x1 LEFT JOIN u ON 1 = 0 JOIN w ON w.f = x1.a WHERE u.id IS NULL;
-- > 5
SELECT id, -1.00 * 0, c * a, CONCAT(c * 0) FROM t WHERE id IN (1, 3, 6) ORDER BY id;
-- > 1	0.00	1.00	0.00
-- > 3	0.00	0.00	0.00
-- > 6	0.00	0.00	0.00
SELECT c * a p, COUNT(*) FROM t GROUP BY p ORDER BY p;
-- > NULL	2
-- > 0.00	3
-- > 1.00	1
-- > 5.20	1
-- > 6.60	1
SELECT DISTINCT c * 0 FROM t WHERE c IS NOT NULL;
-- > 0.00
SELECT id FROM t x WHERE a IN (SELECT n FROM vg) ORDER BY id;
-- > 1
-- > 4
SELECT id FROM t x WHERE a NOT IN (SELECT a FROM vj WHERE d IS NOT NULL) ORDER BY id;
-- > 4
SELECT id FROM t x WHERE a IN (SELECT y.a FROM vg y JOIN u z ON y.a = z.a) ORDER BY id;
-- > 0
-- > 1
-- > 2
-- > 3
-- > 6
DELETE FROM w WHERE 'c' IN (SELECT x3.s FROM vj x2 JOIN t x3 WHERE x2.a = w.a);
-- > rows affected: 3
SELECT id FROM w ORDER BY id;
-- > 2
-- > 4
UPDATE u SET c = 9 WHERE NOT EXISTS (SELECT 1 FROM vg WHERE vg.a = u.a AND u.id <> u.c);
-- > rows affected: 3
SELECT id, c FROM u ORDER BY id;
-- > 0	9
-- > 1	2
-- > 2	9
-- > 3	0
-- > 4	9
-- > 5	1
-- > 6	3
SELECT a, SUM(b) FROM t GROUP BY a HAVING (SELECT COUNT(*) FROM u v WHERE v.id > SUM(t.b)) > 0 ORDER BY a;
-- > NULL	-1
-- > -1	-1
-- > 0	-1
-- > 2	-1
-- > 3	2
SELECT a, SUM(b) FROM t GROUP BY a HAVING EXISTS (SELECT 1 FROM u v WHERE v.id = SUM(t.b) + 5) ORDER BY a;
-- > NULL	-1
-- > -1	-1
-- > 0	-1
-- > 2	-1
