-- Paths into documents.
SELECT JSON_EXTRACT('[1,1]','$[*]','$**[0]');
-- > [1, 1, 1, 1]
SELECT JSON_EXTRACT('[1,2,[3,4]]','$[last]'), JSON_EXTRACT('[1,2,3]','$[1 to 2]'), JSON_EXTRACT('[1,2,3]','$[last-1]'), JSON_EXTRACT('[1,2,3]','$[last-1 to last]'), JSON_EXTRACT('[1,2,3]','$[last-3]'), JSON_EXTRACT('[1,2,3]','$[5]');
-- > [3, 4]	[2, 3]	2	[2, 3]	NULL	NULL
SELECT JSON_EXTRACT('[[1,2],[3]]','$**[0]'), JSON_EXTRACT('{"a":{"b":1},"c":{"b":2}}','$**.b'), JSON_EXTRACT('{"a":{"b":1},"c":{"b":2}}','$**.x');
-- > [[1, 2], 1, 2, 3]	[1, 2]	NULL
-- differs: MySQL has the nearer values first
SELECT JSON_EXTRACT('{"a":{"b":1},"b":[2,{"b":3}]}','$**.b');
-- mariadb> [1, [2, {"b": 3}], 3]
-- moka> [[2, {"b": 3}], 1, 3]
-- differs: MySQL has each value once
SELECT JSON_EXTRACT('{"a":[1,2],"b":{"c":[3]}}','$**[0]', '$.a[*]');
-- mariadb> [{"a": [1, 2], "b": {"c": [3]}}, [1, 2], 1, 1, 2, 2, {"c": [3]}, [3], 3]
-- moka> [{"a": [1, 2], "b": {"c": [3]}}, 1, 2, {"c": [3]}, 3, 1, 2]
SELECT JSON_EXTRACT('{"a":1,"b":2}','$.*'), JSON_EXTRACT('[1]', '$[0][0]'), JSON_EXTRACT('{"a":1}','$[0]'), JSON_EXTRACT('{"a":1}','$[1]');
-- > [1, 2]	1	{"a": 1}	NULL
SELECT JSON_EXTRACT('[]','$[*]'), JSON_EXTRACT('{}','$.*'), JSON_EXTRACT('5','$[*]'), JSON_EXTRACT('[{"a":1},{"a":2},{"b":3}]','$[*].a'), JSON_EXTRACT('[[1,2],[3,4]]','$[*][1]');
-- > NULL	NULL	NULL	[1, 2]	[2, 4]
SELECT JSON_EXTRACT('{"a b":{"c":7}}','$."a b".c'), JSON_EXTRACT('{"a":null}','$.a'), JSON_EXTRACT('{"a":null}','$.b'), JSON_EXTRACT('{"a":1}','$.a','$.b'), JSON_EXTRACT('{"a":1}','$.b','$.c'), JSON_EXTRACT(NULL,'$'), JSON_EXTRACT('1',NULL);
-- > 7	null	NULL	[1]	NULL	NULL	NULL
CREATE TABLE j (id INT PRIMARY KEY, d JSON);
INSERT INTO j VALUES (1, '{"a":[1,2,3],"b":{"a":"x"}}'), (2, '[10,20]'), (3, NULL), (4, '"s"');
-- > rows affected: 4
-- differs: MySQL finds the last in a column, too
SELECT id, JSON_EXTRACT(d, '$.a[last]'), JSON_EXTRACT(d, '$[last]'), JSON_EXTRACT(d, '$**.a'), JSON_UNQUOTE(JSON_EXTRACT(d, '$.b.a')) FROM j ORDER BY id;
-- mariadb> 1	3	NULL	[[1, 2, 3], "x"]	x
-- mariadb> 2	NULL	NULL	NULL	NULL
-- mariadb> 3	NULL	NULL	NULL	NULL
-- mariadb> 4	NULL	NULL	NULL	NULL
-- moka> 1	3	{"a": [1, 2, 3], "b": {"a": "x"}}	[[1, 2, 3], "x"]	x
-- moka> 2	NULL	20	NULL	NULL
-- moka> 3	NULL	NULL	NULL	NULL
-- moka> 4	NULL	"\"s\""	NULL	NULL
-- differs: MySQL finds the last in a column, too
SELECT id FROM j WHERE JSON_EXTRACT(d, '$[last]') = 20 ORDER BY id;
-- mariadb> (no rows)
-- moka> 2
SELECT id FROM j WHERE JSON_EXTRACT(d, '$[1]') = 20 ORDER BY id;
-- > 2
