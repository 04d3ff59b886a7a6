-- ENUM and SET beside other types are texts, not the numbers that they are kept as.
CREATE TABLE e (id INT PRIMARY KEY, e ENUM('zeta','alpha','beta'), s SET('x','y','z'), n INT, t VARCHAR(10));
INSERT INTO e VALUES (1,'zeta','x,z',5,'q'), (2,'alpha','y',6,'alpha'), (3,'beta','',7,NULL), (4,NULL,NULL,8,'x');
-- > rows affected: 4
SELECT id, IF(id<3,e,n), IF(id<3,s,n), IF(id<3,e,1.5), IF(id<3,e,t) FROM e ORDER BY id;
-- > 1	zeta	x,z	zeta	zeta
-- > 2	alpha	y	alpha	alpha
-- > 3	7	7	1.5	NULL
-- > 4	8	8	1.5	x
SELECT id, CASE WHEN id<3 THEN e ELSE 9 END, CASE id WHEN 1 THEN e WHEN 2 THEN s ELSE n END FROM e ORDER BY id;
-- > 1	zeta	zeta
-- > 2	alpha	y
-- > 3	9	7
-- > 4	9	8
SELECT id, COALESCE(e,n), COALESCE(NULL,e), IFNULL(e,n), IFNULL(s,n), IFNULL(n,e) FROM e ORDER BY id;
-- > 1	zeta	zeta	zeta	x,z	5
-- > 2	alpha	alpha	alpha	y	6
-- > 3	beta	beta	beta	""	7
-- > 4	8	NULL	8	8	8
SELECT id, IF(id<3,e,CAST('2020-01-01' AS DATE)), IF(id<3,e,s) FROM e ORDER BY id;
-- > 1	zeta	zeta
-- > 2	alpha	alpha
-- > 3	2020-01-01	""
-- > 4	2020-01-01	NULL
SELECT id, CONCAT(IF(id<3,e,n)), CAST(COALESCE(e,n) AS CHAR) FROM e ORDER BY id;
-- > 1	zeta	zeta
-- > 2	alpha	alpha
-- > 3	7	beta
-- > 4	8	8
SELECT id FROM e WHERE IF(id<3,e,n) = 'zeta';
-- > 1
SELECT IF(id<3,e,n) x, COUNT(*) FROM e GROUP BY x ORDER BY x;
-- > 7	1
-- > 8	1
-- > alpha	1
-- > zeta	1
CREATE TABLE c AS SELECT id, IF(id<3,e,n) a, COALESCE(e,n) b, CASE WHEN id<3 THEN s ELSE n END d FROM e;
SELECT * FROM c ORDER BY id;
-- > 1	zeta	zeta	x,z
-- > 2	alpha	alpha	y
-- > 3	7	beta	7
-- > 4	8	8	8
