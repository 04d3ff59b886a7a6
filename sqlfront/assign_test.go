package sqlfront_test

import (
	"testing"

	"moka/kv/kvtest"
)

// TestAssignmentsOfStatementsThatRunAgain: a statement that loses a race for a row is run again, and its
// variables begin where they were.
func TestAssignmentsOfStatementsThatRunAgain(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "update t set v = 21 where id = 2")
	s.do("b", "set @n = 100", "begin")
	s.blocks("b", "update t set v = (@n := @n + v) order by id")
	s.do("a", "commit")
	s.ends("b 0")
	s.do("b", "commit")
	s.want("b", "select concat_ws(' ', @n, group_concat(v order by id)) from t", "161 110,131,161")
}
