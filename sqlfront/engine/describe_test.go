package engine_test

import "testing"

// A column that is dropped leaves the primary key, as MySQL has it: the key goes on with the others, or is gone.
func TestDropColumnOfPrimaryKey(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE one (id INT AUTO_INCREMENT PRIMARY KEY, b INT, KEY (b))")
	c.exec("INSERT INTO one (b) VALUES (5), (6)")
	c.exec("ALTER TABLE one DROP COLUMN id")
	c.want("SELECT * FROM one ORDER BY b", "5\n6")
	c.want("SELECT COUNT(*) FROM information_schema.key_column_usage WHERE table_name = 'one'", "0")
	c.exec("ALTER TABLE one ADD COLUMN n BIGINT AUTO_INCREMENT PRIMARY KEY FIRST")
	c.want("SELECT n, b FROM one ORDER BY n", "1 | 5\n2 | 6")
	c.exec("ALTER TABLE one DROP COLUMN n, ADD COLUMN m INT AUTO_INCREMENT PRIMARY KEY")
	c.exec("INSERT INTO one (b) VALUES (7)")
	c.want("SELECT b FROM one ORDER BY m", "5\n6\n7")
	c.exec("ALTER TABLE one DROP COLUMN m, ADD PRIMARY KEY (b)")
	c.want("SELECT * FROM one WHERE b = 6", "6")
	c.exec("CREATE TABLE two (a INT, b INT, c INT, PRIMARY KEY (a, b))")
	c.exec("INSERT INTO two VALUES (1, 1, 1), (1, 2, 2), (2, 3, 3)")
	c.exec("ALTER TABLE two DROP COLUMN a")
	c.want("SELECT c FROM two WHERE b = 2", "2")
	c.exec("CREATE TABLE three (a INT, b INT, PRIMARY KEY (a, b))")
	c.exec("INSERT INTO three VALUES (1, 1), (2, 1)")
	if code := c.code("ALTER TABLE three DROP COLUMN a"); code != 1062 {
		t.Errorf("rows that would have one key: %d", code)
	}
	c.want("SELECT a, b FROM three ORDER BY a", "1 | 1\n2 | 1")
}

// SHOW INDEX says how much of a column is in it, and what was remarked about the index, where MySQL does.
func TestShowIndexOfPrefixes(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, n VARCHAR(50), KEY k (id, n(3)) COMMENT 'third')")
	c.want("SELECT index_name, seq_in_index, sub_part, comment, index_comment FROM information_schema.statistics WHERE table_name = 't' ORDER BY 1, 2",
		"k | 1 | NULL |  | third\nk | 2 | 3 |  | third\nPRIMARY | 1 | NULL |  |")
}

// ORDER BY over three tables sorts, whichever of them an index could have in that order.
func TestOrderOverJoins(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE reader (nick VARCHAR(20) NOT NULL, name VARCHAR(20), UNIQUE KEY (nick))")
	c.exec("CREATE TABLE reads_it (id INT AUTO_INCREMENT PRIMARY KEY, nick VARCHAR(20), book INT)")
	c.exec("CREATE TABLE book (id INT PRIMARY KEY, author BIGINT, name VARCHAR(20), UNIQUE KEY (author, name), KEY (author))")
	c.exec("INSERT INTO reader VALUES ('a', 'Anna'), ('w', 'Willi'), ('s', 'Sara')")
	c.exec("INSERT INTO reads_it (nick, book) VALUES ('w', 1), ('w', 2), ('a', 1)")
	c.exec("INSERT INTO book VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 1, 'z'), (4, 1, 'q')")
	const from = " FROM reader JOIN reads_it ON reader.nick = reads_it.nick JOIN book ON reads_it.book = book.id WHERE book.author = 1"
	c.want("SELECT DISTINCT reader.*"+from+" ORDER BY reader.nick", "a | Anna\nw | Willi")
	c.want("SELECT reader.nick, book.id"+from+" ORDER BY reader.nick, book.id", "a | 1\nw | 1\nw | 2")
	c.want("SELECT reader.nick"+from+" ORDER BY reader.nick DESC", "w\nw\na")
	c.want("SELECT reads_it.id"+from+" ORDER BY reads_it.id DESC LIMIT 2", "3\n2")
	c.want("SELECT book.id, reads_it.id"+from+" ORDER BY book.id DESC, reads_it.id", "2 | 2\n1 | 1\n1 | 3")
}
