-- The names of columns of results.
-- prints: names of columns
CREATE TABLE t (n INT, a INT, s VARCHAR(9), d DATE);
INSERT INTO t VALUES (1,1,'x','2020-01-01');
-- > rows affected: 1
SELECT n , COUNT(*) FROM t GROUP BY n;
-- > # n	COUNT(*)
-- > 1	1
SELECT n, COUNT(*) FROM t GROUP BY n;
-- > # n	COUNT(*)
-- > 1	1
SELECT n ,COUNT(*) ,SUM( a ) FROM t GROUP BY n;
-- > # n	COUNT(*)	SUM( a )
-- > 1	1	1
SELECT a IS NULL, not a is null, NOT a, ! a, !a, -a, - a, ~a, +a FROM t;
-- > # a IS NULL	not a is null	NOT a	! a	!a	-a	- a	~a	a
-- > 0	1	0	0	0	-1	-1	18446744073709551614	1
SELECT n > ANY (SELECT a FROM t), n = ANY (SELECT a FROM t), n <> ALL (SELECT a FROM t), n >= SOME (SELECT 1) FROM t;
-- > # n > ANY (SELECT a FROM t)	n = ANY (SELECT a FROM t)	n <> ALL (SELECT a FROM t)	n >= SOME (SELECT 1)
-- > 0	1	0	1
SELECT a  +  n, a+n, (a), ((a)), (a + n), a + (n) FROM t;
-- > # a  +  n	a+n	a	a	(a + n)	a + (n)
-- > 2	2	1	1	2	2
SELECT /* c */ a /* d */ , n /* e */ + 1 , COUNT( * ) FROM t GROUP BY a, n;
-- > # a	n /* e */ + 1	COUNT( * )
-- > 1	2	1
SELECT a -- comment
 , n FROM t;
-- > # a	n
-- > 1	1
SELECT a + 1 -- comment
 , n # other
 , n + 2 FROM t;
-- > # a + 1	n	n + 2
-- > 2	1	3
SELECT CAST(a AS CHAR), CONVERT(a, SIGNED), CONVERT(s USING utf8mb4), BINARY s, CAST( a  AS  DECIMAL(5,2) ) FROM t;
-- > # CAST(a AS CHAR)	CONVERT(a, SIGNED)	CONVERT(s USING utf8mb4)	BINARY s	CAST( a  AS  DECIMAL(5,2) )
-- > 1	1	x	x	1.00
SELECT d + INTERVAL 1 DAY, DATE_ADD(d, INTERVAL 2 MONTH), INTERVAL 1 DAY + d, EXTRACT(YEAR FROM d) FROM t;
-- > # d + INTERVAL 1 DAY	DATE_ADD(d, INTERVAL 2 MONTH)	INTERVAL 1 DAY + d	EXTRACT(YEAR FROM d)
-- > 2020-01-02	2020-03-01	2020-01-02	2020
SELECT (SELECT 1), (SELECT MAX(a) FROM t), ( SELECT a FROM t ) , EXISTS (SELECT 1), EXISTS(SELECT 1 FROM t) , NOT EXISTS (SELECT 1) FROM t;
-- > # (SELECT 1)	(SELECT MAX(a) FROM t)	( SELECT a FROM t )	EXISTS (SELECT 1)	EXISTS(SELECT 1 FROM t)	NOT EXISTS (SELECT 1)
-- > 1	1	1	1	1	0
SELECT a IN (1,2), a NOT IN (1, 2), a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, s LIKE 'x%', s NOT LIKE 'x', s REGEXP 'x' FROM t;
-- > # a IN (1,2)	a NOT IN (1, 2)	a BETWEEN 1 AND 2	a NOT BETWEEN 1 AND 2	s LIKE 'x%'	s NOT LIKE 'x'	s REGEXP 'x'
-- > 1	0	1	0	1	0	1
SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END , IF(a, 1, 2), IFNULL(a,1), COALESCE( a , n ) FROM t;
-- > # CASE WHEN a THEN 1 ELSE 2 END	CASE a WHEN 1 THEN 'x' END	IF(a, 1, 2)	IFNULL(a,1)	COALESCE( a , n )
-- > 1	x	1	1	1
SELECT t.a, t . a, `t`.`a`, `a`, t.a + 1, `t`.`a` + 1, t.* FROM t;
-- > # a	a	a	a	t.a + 1	`t`.`a` + 1	n	a	s	d
-- > 1	1	1	1	2	2	1	1	x	2020-01-01
SELECT a AND n, a && n, a OR n, a || n, a XOR n, a <=> n, a <> n, a != n, a DIV 2, a % 2, a MOD 2, a << 1 FROM t;
-- > # a AND n	a && n	a OR n	a || n	a XOR n	a <=> n	a <> n	a != n	a DIV 2	a % 2	a MOD 2	a << 1
-- > 1	1	1	1	0	1	0	0	0	1	1	2
SELECT ROW_NUMBER() OVER (ORDER BY a), SUM(a) OVER (PARTITION BY n ORDER BY a) , RANK() OVER w FROM t WINDOW w AS (ORDER BY a);
-- > # ROW_NUMBER() OVER (ORDER BY a)	SUM(a) OVER (PARTITION BY n ORDER BY a)	RANK() OVER w
-- > 1	1	1
SELECT SUBSTRING(s FROM 1 FOR 2), TRIM(s), TRIM(BOTH 'x' FROM s), TRIM(LEADING 'a' FROM s), POSITION('x' IN s), CHAR(65 USING utf8mb4) FROM t;
-- > # SUBSTRING(s FROM 1 FOR 2)	TRIM(s)	TRIM(BOTH 'x' FROM s)	TRIM(LEADING 'a' FROM s)	POSITION('x' IN s)	CHAR(65 USING utf8mb4)
-- > x	x	""	x	1	A
SELECT a = 1 AND n = 1 OR NOT a = 2 FROM t;
-- > # a = 1 AND n = 1 OR NOT a = 2
-- > 1
SELECT   a   ,   a   +   1   FROM t;
-- > # a	a   +   1
-- > 1	2
SELECT DISTINCT a + 1, a FROM t;
-- > # a + 1	a
-- > 2	1
SELECT ALL a + 1 FROM t;
-- > # a + 1
-- > 2
SELECT DISTINCTROW a+ 2 FROM t;
-- > # a+ 2
-- > 3
SELECT SQL_NO_CACHE a + 3 FROM t;
-- > # a + 3
-- > 4
SELECT a+1, a FROM t UNION SELECT 1, 2;
-- > # a+1	a
-- > 1	2
-- > 2	1
SELECT (a)+1 , (a) FROM t WHERE a = 1 ORDER BY a;
-- > # (a)+1	a
-- > 2	1
SELECT n+1 FROM (SELECT n FROM t) AS q;
-- > # n+1
-- > 2
SELECT * FROM (SELECT n + 1, COUNT( * ) FROM t GROUP BY n) AS q;
-- > # n + 1	COUNT( * )
-- > 2	1
SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', TIME'10:00:00' FROM t;
-- > # DATE '2020-01-01'	TIMESTAMP '2020-01-01 00:00:00'	TIME'10:00:00'
-- > 2020-01-01	2020-01-01 00:00:00	10:00:00
SELECT a	+	n, LENGTH(	s	) FROM t;
-- > # a	+	n	LENGTH(	s	)
-- > 2	1
SELECT max( a ), Max(a), mAX(a) FROM t;
-- > # max( a )	Max(a)	mAX(a)
-- > 1	1	1
SELECT NULL IS NULL, 1 IS NULL, NOT NULL, NOT 1 FROM t;
-- > # NULL IS NULL	1 IS NULL	NOT NULL	NOT 1
-- > 1	0	NULL	0
SELECT 'a' = 'b' , 'a'<'b','c' FROM t;
-- > # 'a' = 'b'	'a'<'b'	c
-- > 0	1	c
