// Package eval evaluates conditions over rows of slots.
//
// A row of a running plan is a slice of values; a column of a table, or of a derived one, has a number in it,
// its slot. A condition is compiled once, for slots and types that do not change (New), and is immutable from
// then on: runs of the plan in many sessions share it. What changes from run to run, the values of
// parameters, is in a Frame that each run has for itself.
//
// What is compiled is what this package is sure about: comparisons of a column with a parameter, a literal or
// a column of the same kind, IN with a list, BETWEEN, IS NULL, and AND, OR and NOT of these, with MySQL's
// three truth values. Anything else is ErrUnsupported, and a statement with it has no plan. So is a value
// that does not convert to the column's type without a loss or a warning, at run time: ErrUnsure, and the
// statement goes the general way. There is no second evaluator that would have to agree in such a case.
//
//	predicate.go  the conditions
//	compile.go    from expressions of the binder to conditions
//	result.go     what subqueries have answered, and conditions on that
//	compare.go    which types compare, and how
package eval
