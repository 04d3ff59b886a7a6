// Package unions gives the columns of UNION, INTERSECT and EXCEPT the types that MySQL gives them.
//
// The library's binder makes one type of two with rules of its own: INT and DOUBLE become a text, which is
// then sorted and added up as one, DECIMAL and INT lose their decimals. It does so while it binds, and
// whatever is around the set operation is bound by those types. So the types have to be right before:
//
//	A UNION B     is bound as     WITH asks AS (SELECT ask((A), (B))) A' UNION B'
//
// The binder binds common table expressions first. The one that is added here is read by nobody; it holds the
// parts as subqueries, so that they are bound in the scope of the set operation: outer columns, other common
// table expressions and views are what they will be. Its expression then knows the types of all columns of
// all parts, and puts A' and B' in the place of A and B, before these are bound: parts whose columns are
// converted to the type that all have in common. Nothing is left for the library to convert.
//
// Rejected: to mend the bound tree. What is above a set operation has chosen its functions and comparisons by
// the wrong types then. Rejected as well: to bind a part by a binder of our own, which knows nothing of the
// scope.
package unions
