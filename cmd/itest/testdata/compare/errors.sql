-- Numbers and states of what goes wrong.
CREATE TABLE p (id INT PRIMARY KEY, u INT, n INT NOT NULL, UNIQUE KEY by_u (u), CONSTRAINT pos CHECK (n > 0));
CREATE TABLE c (id INT PRIMARY KEY, p INT, KEY of_p (p), CONSTRAINT to_p FOREIGN KEY (p) REFERENCES p (id));
INSERT INTO p VALUES (1, 1, 1);
INSERT INTO p VALUES (1, 2, 1);
INSERT INTO p VALUES (2, 1, 1);
INSERT INTO p (id) VALUES (3);
INSERT INTO p VALUES (3, 3, NULL);
-- differs: MySQL 8's number for a violated CHECK is 3819, MariaDB's is 4025
INSERT INTO p VALUES (3, 3, -1);
INSERT INTO p VALUES (3, 3);
INSERT INTO p (id, nope) VALUES (3, 3);
INSERT INTO p (id, id) VALUES (3, 3);
INSERT INTO c VALUES (1, 99);
INSERT INTO c VALUES (1, 1);
DELETE FROM p WHERE id = 1;
UPDATE p SET id = 2 WHERE id = 1;
-- differs: MySQL 8 has a number of its own for a table that a foreign key refers to, 3730
DROP TABLE p;
TRUNCATE TABLE p;
SELEC 1;
SELECT * FRM p;
SELECT nope FROM p;
SELECT p.nope FROM p;
SELECT * FROM nope;
-- differs: MySQL 8 says that the database is unknown, 1049
SELECT * FROM nope.nope;
USE nope;
SELECT nope(1);
SELECT * FROM p ORDER BY nope;
SELECT id FROM p JOIN c ON c.p = p.id;
SELECT (SELECT id, u FROM p);
SELECT id FROM p WHERE id = (SELECT 1 UNION SELECT 2);
SELECT 1 UNION SELECT 1, 2;
SELECT COUNT(*) FROM p GROUP BY 5;
SELECT SUM(COUNT(*)) FROM p;
-- differs: known gap: 1140 instead of 1111
SELECT id FROM p WHERE COUNT(*) > 1;
CREATE TABLE p (id INT);
CREATE DATABASE cmp;
DROP DATABASE nope;
DROP TABLE nope;
-- differs: MySQL 8 has no number of its own for views, 1051
DROP VIEW nope;
DROP INDEX nope ON p;
ALTER TABLE p DROP COLUMN nope;
ALTER TABLE p ADD COLUMN u INT;
ALTER TABLE p ADD INDEX by_u (n);
ALTER TABLE nope ADD COLUMN a INT;
CREATE INDEX i ON p (nope);
CREATE TABLE two (a INT PRIMARY KEY, b INT PRIMARY KEY);
CREATE TABLE dup (a INT, a INT);
CREATE TABLE auto (a INT AUTO_INCREMENT);
CREATE TABLE bad (a INT DEFAULT 'x');
-- differs: known gap: MySQL 8 says 1824
CREATE TABLE fk (a INT, FOREIGN KEY (a) REFERENCES nope (id));
CALL nope();
DROP PROCEDURE nope;
DROP TRIGGER nope;
SET @@nope = 1;
SET @@session.version = 'x';
SELECT @@nope;
SET @@autocommit = 7;
EXECUTE nope;
DEALLOCATE PREPARE nope;
ROLLBACK TO SAVEPOINT nope;
RELEASE SAVEPOINT nope;
CREATE VIEW v AS SELECT nope FROM p;
CREATE PROCEDURE raise() SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'mine', MYSQL_ERRNO = 5555;
CALL raise();
CREATE PROCEDURE raise() SELECT 1;
CALL raise(1);
SELECT 1 FROM p p1, p p1;
-- differs: in MySQL 8 an unknown type is a syntax error, 1064
SELECT CAST('x' AS nope);
INSERT INTO p SELECT 1;
UPDATE p SET nope = 1;
DELETE FROM nope;
SELECT * FROM (SELECT 1);
SELECT 'a' COLLATE nope;
SELECT _nope'a';
KILL 999999;
SELECT 1 LIMIT -1;
START TRANSACTION READ ONLY;
INSERT INTO p VALUES (8, 8, 8);
ROLLBACK;
SELECT COUNT(*) FROM p;
