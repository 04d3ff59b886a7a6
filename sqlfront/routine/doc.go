// Package routine compiles and runs the bodies of stored procedures, stored functions,
// triggers and observers.
//
//	CREATE … text ──▶ parse ──▶ tree ──▶ Compile ──▶ Routine (shared by the runs of a session)
//	                                        │ names of variables become places in a frame, labels become blocks,
//	                                        │ what MySQL refuses at CREATE is refused here
//	CALL, f(x) ──▶ Routine.Run ──▶ frame ──▶ Host.Query: each statement of the body, planned and run by the engine
//	                                 │  ◀── rows, or the number of rows; an error looks for a handler
//	                                 └──▶ Host.Result: a result that belongs to the client
//
// Variables are expressions. A statement of a body is a tree that does not change between runs: where a
// variable stands, there is an injected expression that reads the variable's value from the frame of the
// context that it is evaluated in. So a variable has its declared type wherever it stands, there is no place
// in a statement where it would not be seen, and a qualified column of the same name is not mistaken for it.
// LIMIT is the exception: planners want a number there, so the value is taken while the statement is bound.
//
// In a trigger NEW.c and OLD.c are variables of the column's type. A statement that is to be bound once for
// many runs has Held in their places, at which the planner does not look.
//
// What is promised: scopes of variables, conditions, cursors and handlers are lexical, as MySQL's; values
// are converted to the declared type, with the errors of the SQL mode; the most specific handler of the
// innermost block that has one is run, and is not in force while it runs; a cursor sees the rows of the
// moment in which it was opened.
//
// What is not: UNDO handlers (nor does MySQL), and SQLWARNING handlers of warnings that an expression
// outside of a statement gives.
//
// Reading order: routine.go, compile.go, statements.go (the nodes), run.go (blocks and handlers),
// variable.go, diagnostics.go.
package routine
