-- FULLTEXT indexes. Ranks are compared after ANALYZE TABLE: both take the number of rows from the statistics.
CREATE TABLE articles (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(200), body TEXT, k INT, KEY (k), FULLTEXT KEY ft (title, body), FULLTEXT KEY (title));
INSERT INTO articles (title, body, k) VALUES ('MySQL Tutorial', 'DBMS stands for DataBase ...', 1), ('How To Use MySQL Well', 'After you went through a ...', 2),
  ('Optimizing MySQL', 'In this tutorial we show ...', 3), ('1001 MySQL Tricks', '1. Never run mysqld as root. 2. ...', 4),
  ('MySQL vs. YourSQL', 'In the following database comparison ...', 5), ('MySQL Security', 'When configured properly, MySQL ...', 6);
-- > rows affected: 6
CREATE TABLE words (id INT PRIMARY KEY, b TEXT, FULLTEXT (b));
INSERT INTO words VALUES (1, 'aaa''bbb ccc'), (2, 'foo bar baz'), (3, 'foo-bar the quick'), (4, 'über cafe naïve'), (5, 'a_b_c under_score'), (6, 'foo foo foo bar'),
  (7, 'database tutorial for you'), (8, 'ab word'), (9, 'O''Reilly don''t'), (10, 'quick brown quick');
-- > rows affected: 10
CREATE TABLE phrases (id INT PRIMARY KEY, b TEXT, c VARCHAR(100), FULLTEXT (b), FULLTEXT (b, c));
INSERT INTO phrases VALUES (1, 'quick the fox', 'alpha'), (2, 'quick fox', 'beta'), (3, 'quick a fox jumps', 'gamma fox'), (4, 'quick brown fox', 'x'), (5, 'fox of quick', 'quick fox'), (6, NULL, 'quick fox'), (7, 'slow', NULL);
-- > rows affected: 7
-- differs: the name of the table in what ANALYZE says
ANALYZE TABLE articles, words, phrases;
-- mariadb> cmp.articles	analyze	status	OK
-- mariadb> cmp.phrases	analyze	status	OK
-- mariadb> cmp.words	analyze	status	OK
-- moka> articles	analyze	status	OK
-- moka> phrases	analyze	status	OK
-- moka> words	analyze	status	OK
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('database' IN NATURAL LANGUAGE MODE);
-- > 1
-- > 5
SELECT id, ROUND(MATCH (title, body) AGAINST ('tutorial') * 1000000) DIV 1 FROM articles ORDER BY id;
-- > 1	227645
-- > 2	0
-- > 3	227645
-- > 4	0
-- > 5	0
-- > 6	0
SELECT id, ROUND(1000 * MATCH (title, body) AGAINST ('security implications of running mysql as root')) DIV 1 AS score FROM articles WHERE MATCH (title, body) AGAINST ('security implications of running mysql as root') ORDER BY score DESC, id;
-- > 4	606
-- > 6	606
-- > 1	0
-- > 2	0
-- > 3	0
-- > 5	0
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('+MySQL -YourSQL' IN BOOLEAN MODE) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 6
SELECT COUNT(*) FROM articles WHERE MATCH (title, body) AGAINST ('database');
-- > 2
SELECT COUNT(IF(MATCH (title, body) AGAINST ('database'), 1, NULL)) AS c FROM articles;
-- > 2
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('tutorial') AND k > 1;
-- > 3
SELECT id FROM articles WHERE MATCH (body, title) AGAINST ('tutorial') OR k = 6 ORDER BY id;
-- > 1
-- > 3
-- > 6
SELECT id FROM articles WHERE NOT MATCH (body, title) AGAINST ('tutorial') ORDER BY id;
-- > 2
-- > 4
-- > 5
-- > 6
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('mysql' IN BOOLEAN MODE) ORDER BY k DESC LIMIT 2;
-- > 6
-- > 5
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('mysql' IN BOOLEAN MODE) > 0 ORDER BY id DESC LIMIT 2;
-- > 6
-- > 5
SELECT id FROM articles WHERE MATCH (body) AGAINST ('tutorial');
-- > ERROR 1191 (HY000)
SELECT MATCH (title) AGAINST (body) FROM articles;
-- > ERROR 1210 (HY000)
SELECT id FROM articles WHERE MATCH (title) AGAINST (NULL);
-- > (no rows)
SELECT id FROM articles WHERE MATCH (title) AGAINST ('');
-- > (no rows)
SELECT id FROM articles WHERE MATCH (title) AGAINST (1001);
-- > 4
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('comparison' WITH QUERY EXPANSION) AND id IN (5) ORDER BY id;
-- > 5
SELECT id FROM words WHERE MATCH (b) AGAINST ('quick foo') LIMIT 2;
-- > 10
-- > 6
SELECT id FROM words WHERE MATCH (b) AGAINST ('aaa');
-- > 1
SELECT id FROM words WHERE MATCH (b) AGAINST ('aaa''bbb');
-- > 1
SELECT id FROM words WHERE MATCH (b) AGAINST ('UBER CAFÉ');
-- > 4
SELECT id FROM words WHERE MATCH (b) AGAINST ('o''reilly');
-- > 9
SELECT id FROM words WHERE MATCH (b) AGAINST ('don''t');
-- > 9
SELECT id FROM words WHERE MATCH (b) AGAINST ('under_score');
-- > 5
SELECT id FROM words WHERE MATCH (b) AGAINST ('the ab');
-- > (no rows)
SELECT id FROM words WHERE MATCH (b) AGAINST ('+the +quick' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM words WHERE MATCH (b) AGAINST ('+ab +word' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM words WHERE MATCH (b) AGAINST ('the quick' IN BOOLEAN MODE) ORDER BY id;
-- > 3
-- > 10
SELECT id FROM words WHERE MATCH (b) AGAINST ('foo-bar' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM words WHERE MATCH (b) AGAINST ('"foo-bar"' IN BOOLEAN MODE) ORDER BY id;
-- > 2
-- > 3
-- > 6
SELECT id FROM words WHERE MATCH (b) AGAINST ('"the quick"' IN BOOLEAN MODE) ORDER BY id;
-- > 3
-- > 10
SELECT id FROM words WHERE MATCH (b) AGAINST ('-foo' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM words WHERE MATCH (b) AGAINST ('+foo -baz' IN BOOLEAN MODE) ORDER BY id;
-- > 3
-- > 6
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('fo*' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('fo*' IN BOOLEAN MODE) ORDER BY id;
-- > 2	27340
-- > 3	27340
-- > 6	82021
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('>foo bar' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('>foo bar' IN BOOLEAN MODE) ORDER BY id;
-- > 2	154680
-- > 3	154680
-- > 6	209361
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('<foo bar' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('<foo bar' IN BOOLEAN MODE) ORDER BY id;
-- > 2	-45320
-- > 3	-45320
-- > 6	9361
SELECT id FROM words WHERE MATCH (b) AGAINST ('+bar ~foo' IN BOOLEAN MODE) ORDER BY id;
-- > 2
-- > 3
-- > 6
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('+foo +(bar baz)' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('+foo +(bar baz)' IN BOOLEAN MODE) ORDER BY id;
-- > 2	154680
-- > 3	54680
-- > 6	109361
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('+foo +(>bar <baz)' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('+foo +(>bar <baz)' IN BOOLEAN MODE) ORDER BY id;
-- > 2	154680
-- > 3	154680
-- > 6	209361
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('foo bar')) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('foo bar') ORDER BY id;
-- > 2	54680
-- > 3	54680
-- > 6	109361
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('"foo bar"' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('"foo bar"' IN BOOLEAN MODE) ORDER BY id;
-- > 2	54680
-- > 3	54680
-- > 6	109361
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('tutorial' WITH QUERY EXPANSION)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('tutorial' WITH QUERY EXPANSION) ORDER BY id;
-- > 7	300000
-- differs: InnoDB counts the rows with a word once for each time that it is in the query
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('foo foo bar')) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('foo foo bar') ORDER BY id;
-- mariadb> 2	32262
-- mariadb> 3	32262
-- mariadb> 6	42105
-- moka> 2	54680
-- moka> 3	54680
-- moka> 6	109361
-- differs: a noise word counts against the row, as the manual has it; InnoDB leaves it out
SELECT id, ROUND(100000 * MATCH (b) AGAINST ('+bar ~foo' IN BOOLEAN MODE)) DIV 1 r FROM words WHERE MATCH (b) AGAINST ('+bar ~foo' IN BOOLEAN MODE) ORDER BY id;
-- mariadb> 2	27340
-- mariadb> 3	27340
-- mariadb> 6	27340
-- moka> 2	0
-- moka> 3	0
-- moka> 6	-54680
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('"quick the fox"' IN BOOLEAN MODE);
-- > 1
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('"quick fox"' IN BOOLEAN MODE);
-- > 2
SELECT id FROM phrases WHERE MATCH (b, c) AGAINST ('"quick fox"' IN BOOLEAN MODE) ORDER BY id;
-- > 2
-- > 5
-- > 6
SELECT id FROM phrases WHERE MATCH (b, c) AGAINST ('"fox alpha"' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM phrases WHERE MATCH (c, b) AGAINST ('alpha');
-- > 1
SELECT id FROM phrases WHERE MATCH (c) AGAINST ('alpha');
-- > ERROR 1191 (HY000)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('"quick fox" @2' IN BOOLEAN MODE) ORDER BY id;
-- > 2
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('"quick fox" @3' IN BOOLEAN MODE) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('brown +fox' IN BOOLEAN MODE) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('~brown' IN BOOLEAN MODE);
-- > (no rows)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('fox -(brown jumps)' IN BOOLEAN MODE) ORDER BY id;
-- > 1
-- > 2
-- > 5
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('+fox* +"quick fox"' IN BOOLEAN MODE);
-- > 2
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('+fox,jumps' IN BOOLEAN MODE);
-- > 3
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('+ fox' IN BOOLEAN MODE) ORDER BY id;
-- > 1
-- > 2
-- > 3
-- > 4
-- > 5
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('++fox' IN BOOLEAN MODE);
-- > ERROR 1064 (42000)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('fox+' IN BOOLEAN MODE);
-- > ERROR 1064 (42000)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('(quick' IN BOOLEAN MODE);
-- > ERROR 1064 (42000)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('*' IN BOOLEAN MODE);
-- > ERROR 1064 (42000)
SELECT id FROM phrases WHERE MATCH (b) AGAINST ('fo*');
-- > (no rows)
-- changes
UPDATE articles SET body = 'zebra crossing' WHERE id = 2;
-- > rows affected: 1
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('zebra');
-- > 2
UPDATE articles SET k = 9 WHERE MATCH (title, body) AGAINST ('zebra');
-- > rows affected: 1
REPLACE INTO articles VALUES (2, 'replaced', 'giraffe', 1);
-- > rows affected: 2
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('zebra giraffe');
-- > 2
INSERT INTO articles VALUES (2, 'x', 'y', 1) ON DUPLICATE KEY UPDATE body = 'hippo';
-- > rows affected: 2
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('giraffe');
-- > (no rows)
DELETE FROM articles WHERE MATCH (title, body) AGAINST ('hippo');
-- > rows affected: 1
UPDATE articles SET id = id + 50 WHERE id = 3;
-- > rows affected: 1
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('optimizing');
-- > 53
CREATE TABLE refs (a INT PRIMARY KEY, article INT);
INSERT INTO refs VALUES (1, 1), (2, 53), (3, 6);
-- > rows affected: 3
SELECT r.a, x.id FROM refs r JOIN articles x ON x.id = r.article WHERE MATCH (x.title, x.body) AGAINST ('tutorial') ORDER BY r.a;
-- > 1	1
-- > 2	53
SELECT refs.a FROM refs LEFT JOIN articles t ON t.id = refs.article AND MATCH (t.title, t.body) AGAINST ('security') WHERE t.id IS NOT NULL;
-- > 3
SELECT a, (SELECT COUNT(*) FROM articles WHERE MATCH (title, body) AGAINST ('tutorial') AND id = refs.article) n FROM refs ORDER BY a;
-- > 1	1
-- > 2	1
-- > 3	0
PREPARE s FROM 'SELECT id FROM articles WHERE MATCH (title, body) AGAINST (? IN BOOLEAN MODE) ORDER BY id';
SET @q = '+tutorial';
EXECUTE s USING @q;
-- > 1
-- > 53
SET @q = '+database -tutorial';
EXECUTE s USING @q;
-- > 5
-- definitions
SELECT index_name, seq_in_index, column_name, collation, cardinality, index_type, non_unique FROM information_schema.statistics WHERE table_schema = 'cmp' AND table_name = 'articles' AND index_type = 'FULLTEXT' ORDER BY 1, 2;
-- > ft	1	title	NULL	NULL	FULLTEXT	1
-- > ft	2	body	NULL	NULL	FULLTEXT	1
-- > title	1	title	NULL	NULL	FULLTEXT	1
SELECT column_name, column_key FROM information_schema.columns WHERE table_schema = 'cmp' AND table_name = 'words' ORDER BY 1;
-- > b	MUL
-- > id	PRI
SHOW COLUMNS FROM words LIKE 'b';
-- > b	text	YES	MUL	NULL	""
CREATE TABLE copied LIKE articles;
INSERT INTO copied SELECT * FROM articles;
-- > rows affected: 5
SELECT COUNT(*) FROM copied WHERE MATCH (title, body) AGAINST ('mysql');
-- > 5
DROP INDEX ft ON copied;
SELECT COUNT(*) FROM copied WHERE MATCH (title, body) AGAINST ('mysql');
-- > ERROR 1191 (HY000)
ALTER TABLE copied RENAME INDEX title TO tt;
ALTER TABLE copied DROP KEY tt, ADD FULLTEXT kk (body);
SELECT id FROM copied WHERE MATCH (body) AGAINST ('database') ORDER BY id;
-- > 1
-- > 5
CREATE FULLTEXT INDEX i2 ON copied (title, body);
ALTER TABLE copied DROP COLUMN body;
SELECT COUNT(*) FROM copied WHERE MATCH (title) AGAINST ('mysql');
-- > 5
ALTER TABLE copied MODIFY title INT;
-- > ERROR 1283 (HY000)
ALTER TABLE copied MODIFY title TEXT;
SELECT COUNT(*) FROM copied WHERE MATCH (title) AGAINST ('mysql');
-- > 5
TRUNCATE copied;
SELECT COUNT(*) FROM copied WHERE MATCH (title) AGAINST ('mysql');
-- > 0
ALTER TABLE articles ADD FULLTEXT (id);
-- > ERROR 1283 (HY000)
ALTER TABLE articles ADD FULLTEXT (title, k);
-- > ERROR 1283 (HY000)
ALTER TABLE articles ADD FULLTEXT (nope);
-- > ERROR 1072 (42000)
ALTER TABLE articles ADD FULLTEXT ft (body);
-- > ERROR 1061 (42000)
CREATE TABLE bad (a VARCHAR(10) COLLATE utf8mb4_bin, b VARCHAR(10), FULLTEXT (a, b));
-- > ERROR 1283 (HY000)
CREATE TABLE bad (a VARBINARY(10), FULLTEXT (a));
-- > ERROR 1283 (HY000)
-- differs: MySQL's number for it
CREATE TABLE bad (a VARCHAR(10), b VARCHAR(10) AS (a) VIRTUAL, FULLTEXT (b));
-- mariadb> ERROR 1907 (HY000)
-- moka> ERROR 3106 (HY000)
