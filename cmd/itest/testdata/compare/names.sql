-- The names of columns of results.
CREATE TABLE t (n INT, a INT, s VARCHAR(9), d DATE);
INSERT INTO t VALUES (1,1,'x','2020-01-01');
SELECT n , COUNT(*) FROM t GROUP BY n;
SELECT n, COUNT(*) FROM t GROUP BY n;
SELECT n ,COUNT(*) ,SUM( a ) FROM t GROUP BY n;
SELECT a IS NULL, not a is null, NOT a, ! a, !a, -a, - a, ~a, +a FROM t;
SELECT n > ANY (SELECT a FROM t), n = ANY (SELECT a FROM t), n <> ALL (SELECT a FROM t), n >= SOME (SELECT 1) FROM t;
SELECT a  +  n, a+n, (a), ((a)), (a + n), a + (n) FROM t;
SELECT /* c */ a /* d */ , n /* e */ + 1 , COUNT( * ) FROM t GROUP BY a, n;
SELECT a -- comment
 , n FROM t;
SELECT a + 1 -- comment
 , n # other
 , n + 2 FROM t;
SELECT CAST(a AS CHAR), CONVERT(a, SIGNED), CONVERT(s USING utf8mb4), BINARY s, CAST( a  AS  DECIMAL(5,2) ) FROM t;
SELECT d + INTERVAL 1 DAY, DATE_ADD(d, INTERVAL 2 MONTH), INTERVAL 1 DAY + d, EXTRACT(YEAR FROM d) FROM t;
SELECT (SELECT 1), (SELECT MAX(a) FROM t), ( SELECT a FROM t ) , EXISTS (SELECT 1), EXISTS(SELECT 1 FROM t) , NOT EXISTS (SELECT 1) FROM t;
SELECT a IN (1,2), a NOT IN (1, 2), a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, s LIKE 'x%', s NOT LIKE 'x', s REGEXP 'x' FROM t;
SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END , IF(a, 1, 2), IFNULL(a,1), COALESCE( a , n ) FROM t;
SELECT t.a, t . a, `t`.`a`, `a`, t.a + 1, `t`.`a` + 1, t.* FROM t;
SELECT a AND n, a && n, a OR n, a || n, a XOR n, a <=> n, a <> n, a != n, a DIV 2, a % 2, a MOD 2, a << 1 FROM t;
SELECT ROW_NUMBER() OVER (ORDER BY a), SUM(a) OVER (PARTITION BY n ORDER BY a) , RANK() OVER w FROM t WINDOW w AS (ORDER BY a);
SELECT SUBSTRING(s FROM 1 FOR 2), TRIM(s), TRIM(BOTH 'x' FROM s), TRIM(LEADING 'a' FROM s), POSITION('x' IN s), CHAR(65 USING utf8mb4) FROM t;
SELECT a = 1 AND n = 1 OR NOT a = 2 FROM t;
SELECT   a   ,   a   +   1   FROM t;
SELECT DISTINCT a + 1, a FROM t;
SELECT ALL a + 1 FROM t;
SELECT DISTINCTROW a+ 2 FROM t;
SELECT SQL_NO_CACHE a + 3 FROM t;
SELECT a+1, a FROM t UNION SELECT 1, 2;
SELECT (a)+1 , (a) FROM t WHERE a = 1 ORDER BY a;
SELECT n+1 FROM (SELECT n FROM t) AS q;
SELECT * FROM (SELECT n + 1, COUNT( * ) FROM t GROUP BY n) AS q;
SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', TIME'10:00:00' FROM t;
SELECT a	+	n, LENGTH(	s	) FROM t;
SELECT max( a ), Max(a), mAX(a) FROM t;
SELECT NULL IS NULL, 1 IS NULL, NOT NULL, NOT 1 FROM t;
SELECT 'a' = 'b' , 'a'<'b','c' FROM t;
