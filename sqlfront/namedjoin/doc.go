// Package namedjoin writes joins that name their columns (USING, NATURAL) as joins with ON,
// before a statement is bound:
//
//	SELECT *, a FROM (t1 JOIN t2 USING (a)), t3 WHERE a = 1
//	   │   columns of the tables: Columns
//	   ▼
//	SELECT t1.a, t1.b, t2.c, t3.*, … FROM (t1 JOIN t2 ON t1.a = t2.a), t3 WHERE t1.a = 1
//
// The library's own way moves the common columns to the front of the join, so that t.* loses the order of its
// table, and sends a bare name to its column across the whole FROM clause. It has no hook there; and what is
// said of ON, it has right.
//
// A common column is the left table's, with RIGHT JOIN the right one's, with FULL JOIN the first of both that
// is not NULL. SELECT * has the common columns first, in the order of the first table (with RIGHT JOIN that
// is the right one), then the others of the first table, then those of the second. A bare name that is a
// common column of one item of FROM, and nothing else, is that column.
//
// The tree that is given stays as it is: prepared statements and bodies of routines are bound many times,
// each time over the tables of the moment. What cannot be determined (a table that is not there) is left as
// it is, for the error that binding it gives.
package namedjoin
