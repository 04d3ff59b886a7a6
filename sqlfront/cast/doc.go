// Package cast has casts that the library makes otherwise than MySQL, of operands that are bound: CAST(e AS
// CHAR(n)) is the first n characters of e, whatever type e has.
//
//	cast.go        CAST(e AS CHAR(n)), AS BINARY(n)
//	time.go        CAST(e AS TIME(n))
//	seconds.go     times rounded to seconds, as they are before they are integers
//	introduced.go  _latin1 x'e4', which casts bytes to a text
//	integer.go     the integers that texts begin with, and numbers of characters
//	number.go      values as columns of integers, FLOAT, DOUBLE, BIT and YEAR hold them
//
// The parser puts an operator in the place of such a cast (package expr), as the library's binder drops a
// cast to the type that e has, and does not see that it has a length. What is below the length is the
// library's own cast, which other rules mend.
package cast
