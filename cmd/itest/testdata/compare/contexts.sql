-- ENUM, SET and BIT where texts are wanted; parts of times; intervals of several units.
CREATE TABLE k (id INT PRIMARY KEY, e ENUM('z','a','m'), s SET('x','y','z'), b BIT(8), c VARCHAR(3));
INSERT INTO k VALUES (1, 'a', 'x,z', 65, 'q'), (2, 'z', '', 66, NULL), (3, NULL, NULL, NULL, NULL);
-- > rows affected: 3
SELECT IF(e = 'a', e, 'no'), IFNULL(e, 'none'), COALESCE(e, s), CASE WHEN e = 'a' THEN e ELSE c END, NULLIF(e, 'a'), FIELD(e, 'z', 'a') FROM k ORDER BY id;
-- > a	a	a	a	NULL	2
-- > no	z	z	NULL	z	1
-- > no	none	NULL	NULL	NULL	0
SELECT IFNULL(s, 'none'), COALESCE(c, e, 'x'), CONCAT(e, s), LENGTH(e), UPPER(s), GROUP_CONCAT(e, c) FROM k GROUP BY id, e, s, c ORDER BY id;
-- > x,z	q	ax,z	1	X,Z	aq
-- > ""	z	z	1	""	NULL
-- > none	x	NULL	NULL	NULL	NULL
SELECT CONCAT(b), LENGTH(b), b + 0, HEX(b), CONCAT('<', b, '>') FROM k WHERE id < 3 ORDER BY id;
-- > A	1	65	41	<A>
-- > B	1	66	42	<B>
SELECT DATE_ADD('2020-01-01', INTERVAL '1-2' YEAR_MONTH), DATE_ADD('2020-01-01 00:00:00', INTERVAL '1 2:3:4' DAY_SECOND), '2020-01-01' + INTERVAL '-1:1' HOUR_MINUTE;
-- > 2021-03-01	2020-01-02 02:03:04	2019-12-31 22:59:00
SELECT DATE_SUB('2020-01-01 00:00:00', INTERVAL '1.5' SECOND_MICROSECOND), DATE_ADD('2020-01-01 00:00:00', INTERVAL '2:3.25' MINUTE_MICROSECOND), DATE_ADD('2020-01-01', INTERVAL 10 DAY_HOUR);
-- > 2019-12-31 23:59:58.500000	2020-01-01 00:02:03.250000	2020-01-01 10:00:00
SELECT HOUR('10:11:12'), MINUTE('10:11'), SECOND('-10:11:12'), HOUR('100:00:00'), MICROSECOND('10:11:12.345'), TIME_TO_SEC('-01:00:00'), HOUR('2020-01-02 10:11:12'), HOUR(NULL);
-- > 10	11	12	100	345000	-3600	10	NULL
