-- GROUP BY … WITH ROLLUP.
CREATE TABLE s (id INT PRIMARY KEY, year INT NOT NULL, country VARCHAR(20), product VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, profit DECIMAL(8,2));
INSERT INTO s VALUES (1, 2000, 'Finland', 'Computer', 1500), (2, 2000, 'finland', 'Phone', 100.5), (3, 2001, 'Finland', 'Phone', 10), (4, 2000, 'India', 'Calculator', 150), (5, 2000, 'India', 'Computer', 1200), (6, 2001, 'USA', 'TV', 100), (7, 2001, NULL, 'TV', 7), (8, 2000, 'India ', 'Computer', 1);
-- > rows affected: 8
SELECT year, SUM(profit), COUNT(*) FROM s GROUP BY year WITH ROLLUP;
-- > 2000	2951.50	5
-- > 2001	117.00	3
-- > NULL	3068.50	8
SELECT year, LOWER(RTRIM(country)) AS c, product, SUM(profit), COUNT(*), MIN(id), MAX(profit), AVG(profit) FROM s GROUP BY year, c, product WITH ROLLUP;
-- > 2000	NULL	NULL	2951.50	5	1	1500.00	590.300000
-- > 2000	finland	Computer	1500.00	1	1	1500.00	1500.000000
-- > 2000	finland	NULL	1600.50	2	1	1500.00	800.250000
-- > 2000	finland	Phone	100.50	1	2	100.50	100.500000
-- > 2000	india	Calculator	150.00	1	4	150.00	150.000000
-- > 2000	india	Computer	1201.00	2	5	1200.00	600.500000
-- > 2000	india	NULL	1351.00	3	4	1200.00	450.333333
-- > 2001	NULL	NULL	117.00	3	3	100.00	39.000000
-- > 2001	NULL	NULL	7.00	1	7	7.00	7.000000
-- > 2001	NULL	TV	7.00	1	7	7.00	7.000000
-- > 2001	finland	NULL	10.00	1	3	10.00	10.000000
-- > 2001	finland	Phone	10.00	1	3	10.00	10.000000
-- > 2001	usa	NULL	100.00	1	6	100.00	100.000000
-- > 2001	usa	TV	100.00	1	6	100.00	100.000000
-- > NULL	NULL	NULL	3068.50	8	1	1500.00	383.562500
SELECT year, product, SUM(profit) FROM s GROUP BY year, product WITH ROLLUP HAVING SUM(profit) > 100;
-- > 2000	Calculator	150.00
-- > 2000	Computer	2701.00
-- > 2000	NULL	2951.50
-- > 2000	Phone	100.50
-- > 2001	NULL	117.00
-- > 2001	TV	107.00
-- > NULL	NULL	3068.50
SELECT product, COUNT(DISTINCT year), GROUP_CONCAT(id ORDER BY id) FROM s GROUP BY product WITH ROLLUP;
-- > Calculator	1	4
-- > Computer	1	1,5,8
-- > Phone	2	2,3
-- > TV	1	6,7
-- > NULL	2	1,2,3,4,5,6,7,8
SELECT IFNULL(product, 'all') AS p, SUM(profit) FROM s GROUP BY product WITH ROLLUP;
-- > Calculator	150.00
-- > Computer	2701.00
-- > Phone	110.50
-- > TV	107.00
-- > all	3068.50
SELECT year + 1 AS y, COUNT(*) FROM s GROUP BY y WITH ROLLUP;
-- > 2001	5
-- > 2002	3
-- > NULL	8
SELECT year AS y, COUNT(*) FROM s WHERE id > 100 GROUP BY year WITH ROLLUP;
-- > (no rows)
SELECT COUNT(*) FROM (SELECT year, product, SUM(profit) AS p FROM s GROUP BY year, product WITH ROLLUP) d;
-- > 8
SELECT d.p FROM (SELECT year, SUM(profit) AS p FROM s GROUP BY year WITH ROLLUP) d WHERE d.year IS NULL;
-- > 3068.50
SELECT COUNT(*), SUM(profit) FROM s GROUP BY year, product WITH ROLLUP;
-- > 1	10.00
-- > 1	100.50
-- > 1	150.00
-- > 2	107.00
-- > 3	117.00
-- > 3	2701.00
-- > 5	2951.50
-- > 8	3068.50
SELECT x.year, y.product, COUNT(*) FROM s x JOIN s y ON x.year = y.year GROUP BY x.year, y.product WITH ROLLUP;
-- > 2000	Calculator	5
-- > 2000	Computer	15
-- > 2000	NULL	25
-- > 2000	Phone	5
-- > 2001	NULL	9
-- > 2001	Phone	3
-- > 2001	TV	6
-- > NULL	NULL	34
SELECT year, country FROM s GROUP BY year, country WITH ROLLUP LIMIT 2;
-- > 2000	Finland
-- > 2000	India
SELECT d.p FROM (SELECT country, SUM(profit) AS p FROM s GROUP BY country WITH ROLLUP) d WHERE d.country = 'india';
-- > 1351.00
SELECT d.p FROM (SELECT country, SUM(profit) AS p FROM s GROUP BY country WITH ROLLUP) d WHERE d.country IS NULL ORDER BY p;
-- > 7.00
-- > 3068.50
INSERT INTO s SELECT 100 + COUNT(*), 9999, 'sum', 'sum', SUM(profit) FROM s WHERE id < 100 GROUP BY country WITH ROLLUP HAVING COUNT(*) > 2;
-- > ERROR 1062 (23000)
SELECT * FROM s WHERE id > 100 ORDER BY id;
-- > (no rows)
