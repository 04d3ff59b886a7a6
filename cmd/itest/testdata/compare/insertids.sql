-- Insert ids of answers, and LAST_INSERT_ID() after them. Numbers leave gaps where each likes; the statements here leave none, but
-- where the next one says how it goes on.
-- prints: insert ids
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b INT);
CREATE TABLE trail (n BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, id INT);
CREATE TABLE fired (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b INT);
CREATE TRIGGER before_fired BEFORE INSERT ON fired FOR EACH ROW INSERT INTO trail (id) VALUES (NEW.a);
CREATE TRIGGER after_fired AFTER INSERT ON fired FOR EACH ROW INSERT INTO trail VALUES (1000 + 2 * NEW.a, NEW.id);
CREATE PROCEDURE p(x INT) INSERT INTO t (a) VALUES (x);
CREATE FUNCTION f(x INT) RETURNS INT BEGIN INSERT INTO trail (id) VALUES (x); RETURN x; END;
CREATE TABLE seq (n INT);
INSERT INTO seq VALUES (7);
-- > insert id 0, LAST_INSERT_ID() 0
INSERT INTO t (a) VALUES (1), (2), (3);
-- > insert id 1, LAST_INSERT_ID() 1
-- As object mappers save what refers to each other.
INSERT INTO t (a, id) VALUES (9, 3), (9, 2), (4, DEFAULT) ON DUPLICATE KEY UPDATE id = id;
-- > insert id 4, LAST_INSERT_ID() 4
INSERT INTO t (a, id) VALUES (9, 3), (9, 2) ON DUPLICATE KEY UPDATE id = id;
-- > insert id 0, LAST_INSERT_ID() 4
INSERT INTO t (a, id) VALUES (9, 3), (9, 2) ON DUPLICATE KEY UPDATE b = 7;
-- > insert id 2, LAST_INSERT_ID() 4
INSERT INTO t (a, id) VALUES (20, 20);
-- > insert id 20, LAST_INSERT_ID() 4
INSERT INTO t (a, id) VALUES (30, 30), (31, 31);
-- > insert id 31, LAST_INSERT_ID() 4
INSERT INTO t (a, id) VALUES (40, 40), (41, DEFAULT);
-- > insert id 41, LAST_INSERT_ID() 41
INSERT INTO t (id, a) VALUES (50, 50);
-- > insert id 50, LAST_INSERT_ID() 41
INSERT INTO t (a, b) VALUES (42, LAST_INSERT_ID()), (43, LAST_INSERT_ID());
-- > insert id 51, LAST_INSERT_ID() 51
INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 8;
-- > insert id 1, LAST_INSERT_ID() 51
INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
-- > insert id 1, LAST_INSERT_ID() 1
INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), b = 9;
-- > insert id 1, LAST_INSERT_ID() 1
INSERT IGNORE INTO t (a) VALUES (1);
-- > insert id 0, LAST_INSERT_ID() 1
INSERT INTO t (id, a) VALUES (60, 60);
-- > insert id 60, LAST_INSERT_ID() 1
REPLACE INTO t (a) VALUES (60);
-- > insert id 61, LAST_INSERT_ID() 61
REPLACE INTO t (id, a) VALUES (3, 99);
-- > insert id 3, LAST_INSERT_ID() 61
INSERT INTO t (id, a) SELECT id + 100, a + 100 FROM t WHERE id IN (2, 3) ORDER BY id;
-- > insert id 103, LAST_INSERT_ID() 61
UPDATE t SET b = 1 WHERE id = 2;
-- > insert id 0, LAST_INSERT_ID() 61
UPDATE seq SET n = LAST_INSERT_ID(n + 1);
-- > insert id 8, LAST_INSERT_ID() 8
UPDATE seq SET n = LAST_INSERT_ID(n);
-- > insert id 8, LAST_INSERT_ID() 8
DELETE FROM t WHERE id = 2;
-- > insert id 0, LAST_INSERT_ID() 8
INSERT INTO t SET id = 1000, a = 1000 ON DUPLICATE KEY UPDATE b = 1;
-- > insert id 1000, LAST_INSERT_ID() 8
INSERT INTO t SET a = 1001;
-- > insert id 1001, LAST_INSERT_ID() 1001
CALL p(1002);
-- > insert id 0, LAST_INSERT_ID() 1002
INSERT INTO fired (a) VALUES (1);
-- > insert id 1, LAST_INSERT_ID() 1
INSERT INTO fired (a) VALUES (2), (3);
-- > insert id 2, LAST_INSERT_ID() 2
INSERT INTO fired (id, a) VALUES (10, 10);
-- > insert id 10, LAST_INSERT_ID() 2
INSERT INTO fired (id, a) VALUES (10, 10) ON DUPLICATE KEY UPDATE b = 5;
-- > insert id 10, LAST_INSERT_ID() 2
INSERT INTO t (a, b) VALUES (1003, f(5));
-- > insert id 1003, LAST_INSERT_ID() 1003
DO f(6);
-- > insert id 0, LAST_INSERT_ID() 1003
SELECT LAST_INSERT_ID(77);
-- > 77
SELECT id, b FROM t;
-- > 1	9
-- > 1000	NULL
-- > 1001	NULL
-- > 1002	NULL
-- > 1003	5
-- > 102	NULL
-- > 103	NULL
-- > 20	NULL
-- > 3	NULL
-- > 30	NULL
-- > 31	NULL
-- > 4	NULL
-- > 40	NULL
-- > 41	NULL
-- > 50	NULL
-- > 51	41
-- > 52	41
-- > 61	NULL
