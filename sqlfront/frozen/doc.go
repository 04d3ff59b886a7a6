// Package frozen freezes what the query of a view stands for when the view is created:
//
//	CREATE VIEW v AS SELECT *, t.* FROM t NATURAL JOIN u
//	   │   the columns of the tables of the moment: namedjoin.Expand
//	   ▼
//	CREATE VIEW v AS SELECT `t`.`a`, `t`.`b`, `u`.`c`, … FROM t JOIN u USING (`a`)
//
// Promises: who may use a view comes by no column that a table gets later, and a join goes on comparing what
// it compared. As in MySQL the view is invalid (1356) when one of its columns is gone. The rest of the text
// stays as it was written: it is edited at the places of the stars and of the words NATURAL.
//
// Where a star is in the text, and what it is in the tree, is found out by the tree of a text in which each
// has a name of its own in its place. What cannot be frozen is refused (1235): a view whose stars stand for
// something else each time would show what its maker has not seen.
//
// Rejected: to write the tree out as a text, which is how MySQL does it. What the grammar makes of our own
// syntax has no text.
package frozen
