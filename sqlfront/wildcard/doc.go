// Package wildcard matches texts with patterns of LIKE, under a collation.
//
// The library's matcher takes as many steps for a long text as the text has characters times the pattern, and
// hears no KILL. The one here goes back to the last % alone, and asks now and then whether its statement is
// to end.
package wildcard
