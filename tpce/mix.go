package tpce

import "time"

// Names of the transactions, as the report prints them.
const (
	nameBrokerVolume     = "Broker-Volume"
	nameCustomerPosition = "Customer-Position"
	nameDataMaintenance  = "Data-Maintenance"
	nameMarketFeed       = "Market-Feed"
	nameMarketWatch      = "Market-Watch"
	nameSecurityDetail   = "Security-Detail"
	nameTradeLookup      = "Trade-Lookup"
	nameTradeOrder       = "Trade-Order"
	nameTradeResult      = "Trade-Result"
	nameTradeStatus      = "Trade-Status"
	nameTradeUpdate      = "Trade-Update"
)

// isolation is what a transaction asks of the engine; the zero value asks for the most.
type isolation int

const (
	serializable   isolation = iota // the specification's level 3
	repeatableRead                  // level 2
	readCommitted                   // level 1, for transactions that write
	readOnly                        // level 1, for those that do not
)

// transactionKind is what the specification fixes about a transaction.
type transactionKind struct {
	name   string
	cards  int     // in the customers' deck of 890; 0 for a transaction that nobody draws
	target float64 // per cent of the mix; 0 for one that is in no mix
	limit  time.Duration
	level  isolation
}

// kinds are the transactions of a run, in the order of the report. Trade-Cleanup comes before a
// run and is no part of it.
var kinds = []transactionKind{
	{nameBrokerVolume, 49, 4.9, 3 * time.Second, readOnly},
	{nameCustomerPosition, 130, 13, 3 * time.Second, readOnly},
	{nameMarketFeed, 0, 1, 2 * time.Second, repeatableRead},
	{nameMarketWatch, 180, 18, 3 * time.Second, readOnly},
	{nameSecurityDetail, 140, 14, 3 * time.Second, readOnly},
	{nameTradeLookup, 80, 8, 3 * time.Second, readOnly},
	{nameTradeOrder, 101, 10.1, 2 * time.Second, repeatableRead},
	{nameTradeResult, 0, 10, 2 * time.Second, serializable},
	{nameTradeStatus, 190, 19, time.Second, readOnly},
	{nameTradeUpdate, 20, 2, 3 * time.Second, repeatableRead},
	{nameDataMaintenance, 0, 0, 55 * time.Second, readCommitted},
}

func kindOf(name string) transactionKind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return transactionKind{name: name}
}

// newDeck is the customers' deck of cards, in order.
func newDeck() []string {
	var cards []string
	for _, k := range kinds {
		for range k.cards {
			cards = append(cards, k.name)
		}
	}
	return cards
}
