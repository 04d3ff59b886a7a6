// Package rights says who may do what, where the library does not ask or asks for the wrong thing.
//
// Each node of a syntax tree that needs a privilege carries what it needs (ast.AuthInformation); the planner hands it to a handler while
// it binds the statement. The handler of this package stands before the library's:
//
//	parse        Demand: what the grammar asks for too much (own connections, own grants, LOAD DATA LOCAL) or too little
//	             (ON DUPLICATE KEY UPDATE, SHOW CREATE VIEW)
//	mayShow      SHOW of a table or view is for who may do something with it; of a view's text, for SHOW VIEW
//	handler      tables of the session are the session's; a refusal has MySQL's number and names what was refused
//	Stored       what the text of a view names is asked of its definer, as his rights are when the view is bound
//	As           what the planner looks at for reasons of its own
//
// Promises: no statement goes through that the library would refuse, but for the cases above. Privileges of columns are asked for by
// the engine, of statements that are bound (columned). Not promised: partial revokes.
package rights
