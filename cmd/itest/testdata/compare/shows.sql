-- LIKE of SHOW hears its escapes: mysql, mysqldump and connectors write the names of tables so.
CREATE TABLE a_b (a_b VARCHAR(5), axb VARCHAR(6), KEY a_b (a_b));
CREATE TABLE axb (i VARCHAR(3));
CREATE TABLE `a%b` (i VARCHAR(3));
SHOW TABLES LIKE 'a\_b';
-- > a_b
SHOW FULL TABLES LIKE 'a\_b';
-- > a_b	BASE TABLE
SHOW TABLES LIKE 'a_b';
-- > a%b
-- > a_b
-- > axb
SHOW TABLES LIKE 'a\%b';
-- > a%b
SHOW TABLES LIKE 'a\_%';
-- > a_b
SHOW TABLES FROM cmp LIKE '%\_b';
-- > a_b
SHOW TABLES LIKE 'a\\_b';
-- > a_b
SHOW TABLES LIKE 'axb';
-- > axb
SHOW TABLES LIKE 'no\_ne';
-- > (no rows)
SHOW COLUMNS FROM a_b LIKE 'a\_b';
-- > a_b	varchar(5)	YES	MUL	NULL	""
SHOW COLUMNS FROM a_b LIKE 'a_b';
-- > a_b	varchar(5)	YES	MUL	NULL	""
-- > axb	varchar(6)	YES	""	NULL	""
SHOW FIELDS FROM a_b LIKE 'A\_%';
-- > a_b	varchar(5)	YES	MUL	NULL	""
SHOW COLUMNS FROM a_b LIKE 'A%';
-- > a_b	varchar(5)	YES	MUL	NULL	""
-- > axb	varchar(6)	YES	""	NULL	""
SHOW DATABASES LIKE 'c\mp';
-- > cmp
SHOW DATABASES LIKE 'information\_schema';
-- > information_schema
SHOW DATABASES LIKE 'information\_sch%';
-- > information_schema
SHOW SCHEMAS LIKE 'infor%\_schema';
-- > information_schema
SHOW VARIABLES LIKE 'auto\_increment\_increment';
-- > auto_increment_increment	1
SHOW VARIABLES LIKE 'autocommit';
-- > autocommit	ON
SHOW SESSION VARIABLES LIKE 'lower\_case\_table%x';
-- > (no rows)
SHOW STATUS LIKE 'Threads\_runnin_';
-- > Threads_running	1
SHOW STATUS LIKE 'threads\_running';
-- > Threads_running	1
SHOW CHARACTER SET LIKE 'utf8mb4\_';
-- > (no rows)
SHOW TRIGGERS LIKE 'a\_b';
-- > (no rows)
SHOW EVENTS LIKE 'a\_b';
-- > (no rows)
SHOW PROCEDURE STATUS LIKE 'a\_b';
-- > (no rows)
