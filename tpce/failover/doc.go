// Package failover shows what clients of a cluster see when a node dies (Percolator, Figure 10): the body of
// "moka bench failover", and the processes of "moka demo --nodes 3".
//
//	Cluster   nodes in processes of their own, on this machine, that go when this process goes
//	Run       clients with transactions through all nodes; kill -9 of who leads most; its restart; the count
//	Report    the rate over time as a table, a line of the terminal, JSON and SVG
//
// It knows Moka only as a user does: a program that is started, SQL, and the page that "moka ctl" asks.
//
// Read cluster.go, then run.go.
package failover
