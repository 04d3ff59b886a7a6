// Package assign is how a value becomes that of a column or a variable of another type: what MySQL does in
// Field::store, for the rows of INSERT, UPDATE, LOAD DATA and ALTER TABLE, for DEFAULT and generated columns,
// and for the variables, parameters and results of stored programs.
//
// Two things happen to a value on its way, in this order.
//
// It becomes what it means (Of). Values of some types are something else without their type: ENUM and SET are
// numbers, and DATE, DATETIME and TIMESTAMP are all a point in time. To a number a DATE is 20240102, a
// DATETIME 20240102101112; to a text each is what is shown of it. The library makes seconds since 1970 of
// both.
//
// Then it is made to fit (Store, Fit, Date). What does not is an error in strict mode (Unfit has MySQL's
// words), and otherwise a warning and the nearest value (Clipped).
package assign
