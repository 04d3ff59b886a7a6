// Package gen is the world of the TPC-E-like workload as a pure function of its parameters: customers and
// their accounts, companies and their securities, prices, and the history of trades that fills the
// database before a run.
//
// Both the loader and the driver stand on it. The loader prints the world's rows; the driver asks it
// who a customer's accounts are, or where a price will be, without a query: what a client would have to
// know to place an order.
//
//	Params --New--> Universe --Static()----> rows of 25 tables, unit by unit, in any order, from any goroutine
//	                         |-History(lu)--> the other 8: the trades of one load unit, in order of completion
//	                         |-Totals()-----> rows of each table and each broker's totals
//	                         '-Choose…, Account…, Price…: the driver's questions
//
// Promise: equal Params give equal rows, whatever the number of goroutines, because every attribute is drawn
// from a stream keyed by (seed, what, id), and the history of a load unit is one sequence.
//
// The lists of names are our own, built from syllables; only their sizes and the shapes of the distributions
// follow the specification. Sizes below one load unit (1,000 customers) scale the customers by rank, so that
// tiers keep their shares, and keep one full market of 500 companies, which watch lists and portfolios need.
//
// Read next: params.go, customer.go, market.go, history.go.
package gen
