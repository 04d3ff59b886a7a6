// Package upcoming is SET TRANSACTION without a scope, which is about the session's next transaction alone.
//
//	SET TRANSACTION READ ONLY               the grammar gives a variable named transaction a text
//	SET @@transaction_isolation = '…'       and takes this for SET SESSION, so the parser marks the name
//
// Both become the evaluation of an injected expression, which tells the session. What holds when is the
// session's business (engine/transactions.go).
package upcoming
