// Package expr has expressions that the SQL library does not have, or not as MySQL has them.
//
// They come into a plan by two ways. Functions (SUM, AVG) replace the library's of the same name in the
// registry: Functions. Operators are parts of the grammar; the parser puts an Operator in their place in the
// syntax tree (Rewrite), which binds like any other expression and decides by the types of its operands
// whether the library's own expression is right:
//
//	a + b, a - b, a * b, a DIV b, -a   integers out of range are error 1690, and UNSIGNED stays UNSIGNED
//	~a                                 64 bits inverted
//	a > ANY (query), a = ALL (query)   all six comparisons
//	@a := e                            moka_assign('a', e) and moka_variable('a'), which the library must not compute beforehand (volatile.go)
//	LIMIT ?                            NULL is no row, what is no number is error 1210
package expr
