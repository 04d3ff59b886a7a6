-- GROUP BY … WITH ROLLUP.
CREATE TABLE s (id INT PRIMARY KEY, year INT NOT NULL, country VARCHAR(20), product VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, profit DECIMAL(8,2));
INSERT INTO s VALUES (1, 2000, 'Finland', 'Computer', 1500), (2, 2000, 'finland', 'Phone', 100.5), (3, 2001, 'Finland', 'Phone', 10), (4, 2000, 'India', 'Calculator', 150), (5, 2000, 'India', 'Computer', 1200), (6, 2001, 'USA', 'TV', 100), (7, 2001, NULL, 'TV', 7), (8, 2000, 'India ', 'Computer', 1);
SELECT year, SUM(profit), COUNT(*) FROM s GROUP BY year WITH ROLLUP;
SELECT year, LOWER(RTRIM(country)) AS c, product, SUM(profit), COUNT(*), MIN(id), MAX(profit), AVG(profit) FROM s GROUP BY year, c, product WITH ROLLUP;
SELECT year, product, SUM(profit) FROM s GROUP BY year, product WITH ROLLUP HAVING SUM(profit) > 100;
SELECT product, COUNT(DISTINCT year), GROUP_CONCAT(id ORDER BY id) FROM s GROUP BY product WITH ROLLUP;
SELECT IFNULL(product, 'all') AS p, SUM(profit) FROM s GROUP BY product WITH ROLLUP;
SELECT year + 1 AS y, COUNT(*) FROM s GROUP BY y WITH ROLLUP;
SELECT year AS y, COUNT(*) FROM s WHERE id > 100 GROUP BY year WITH ROLLUP;
SELECT COUNT(*) FROM (SELECT year, product, SUM(profit) AS p FROM s GROUP BY year, product WITH ROLLUP) d;
SELECT d.p FROM (SELECT year, SUM(profit) AS p FROM s GROUP BY year WITH ROLLUP) d WHERE d.year IS NULL;
SELECT COUNT(*), SUM(profit) FROM s GROUP BY year, product WITH ROLLUP;
SELECT x.year, y.product, COUNT(*) FROM s x JOIN s y ON x.year = y.year GROUP BY x.year, y.product WITH ROLLUP;
SELECT year, country FROM s GROUP BY year, country WITH ROLLUP LIMIT 2;
SELECT d.p FROM (SELECT country, SUM(profit) AS p FROM s GROUP BY country WITH ROLLUP) d WHERE d.country = 'india';
SELECT d.p FROM (SELECT country, SUM(profit) AS p FROM s GROUP BY country WITH ROLLUP) d WHERE d.country IS NULL ORDER BY p;
INSERT INTO s SELECT 100 + COUNT(*), 9999, 'sum', 'sum', SUM(profit) FROM s WHERE id < 100 GROUP BY country WITH ROLLUP HAVING COUNT(*) > 2;
SELECT * FROM s WHERE id > 100 ORDER BY id;
