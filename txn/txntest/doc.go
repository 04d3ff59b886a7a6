// Package txntest is what tests of transactions, here and in the rooms above, have in common: a clock that needs no oracle, a
// client over the store in memory, an exact checker of snapshot isolation, and the bank.
package txntest
