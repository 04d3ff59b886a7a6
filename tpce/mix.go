package tpce

import (
	"moka/tpce/client"
	"time"
)

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

// transactionKind is what the specification fixes about a transaction.
type transactionKind struct {
	name   string
	cards  int     // in the customers' deck of 890; 0 for a transaction that nobody draws
	target float64 // per cent of the mix; 0 for one that is in no mix
	limit  time.Duration
	level  client.Isolation
}

// kinds are the transactions of a run, in the order of the report. Trade-Cleanup comes before a
// run and is no part of it.
var kinds = []transactionKind{
	{nameBrokerVolume, 49, 4.9, 3 * time.Second, client.ReadOnly},
	{nameCustomerPosition, 130, 13, 3 * time.Second, client.ReadOnly},
	{nameMarketFeed, 0, 1, 2 * time.Second, client.RepeatableRead},
	{nameMarketWatch, 180, 18, 3 * time.Second, client.ReadOnly},
	{nameSecurityDetail, 140, 14, 3 * time.Second, client.ReadOnly},
	{nameTradeLookup, 80, 8, 3 * time.Second, client.ReadOnly},
	{nameTradeOrder, 101, 10.1, 2 * time.Second, client.RepeatableRead},
	{nameTradeResult, 0, 10, 2 * time.Second, client.Serializable},
	{nameTradeStatus, 190, 19, time.Second, client.ReadOnly},
	{nameTradeUpdate, 20, 2, 3 * time.Second, client.RepeatableRead},
	{nameDataMaintenance, 0, 0, 55 * time.Second, client.ReadCommitted},
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
