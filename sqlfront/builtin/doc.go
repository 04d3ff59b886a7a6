// Package builtin has functions of MySQL that go-mysql-server does not have, or has otherwise: they are
// computed of their arguments' values, as these are when they have been converted to what MySQL takes them
// for, and of the time when the statement began.
package builtin
