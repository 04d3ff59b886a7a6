// Package exec runs the plans of package plan.
//
// A run reads the first source in batches. Each batch of rows goes through the other sources, one after
// another: what they are asked for is collected over the whole batch and read with one request each
// (join.go), so that a join of five tables along keys is five trips and not five for each row. What comes out
// at the end goes to groups, or to the list that is sorted and cut (output.go). Rows are slices of slots; a
// run owns all that changes, the plan nothing.
//
// A run keeps what it has in memory, and is bounded (Limits): ErrTooLarge, before anybody has seen a row,
// sends the statement the general way, which streams and spills.
package exec
