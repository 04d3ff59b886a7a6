// Package loaddata makes rows of the records of a LOAD DATA's file: the source of the INSERT that the library
// makes of the statement. The library's own reader takes a record's fields by their place in the statement's
// list, and the columns in SET by their place in the table, so that SET z = a stored what another column had.
//
//	LOAD DATA … INTO TABLE t (id, @v, a) SET z = a + @v, a = 0
//
//	record   7,8,9
//	fields   id = 7, @v = 8, a = 9          in the order of the list
//	SET      z = 17, then a = 0             in its own order; each sees what was done before
//	row      id, a, z                       the columns of the INSERT: those of the list, then those of SET
//
// As in MySQL a column of the list has its type when SET looks at it, and one that is in neither has its
// default.
package loaddata
