// Package txn is Percolator: transactions with snapshot isolation over all rows of all tablets.
package txn
