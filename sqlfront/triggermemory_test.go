package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTriggersThatAreGoneHoldNoMemory: neither a CREATE TRIGGER that is refused nor a trigger that was
// dropped leaves its text in memory; who has TRIGGER on one table filled the process with them for good.
func TestTriggersThatAreGoneHoldNoMemory(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (a int)")
	create := func(bytes int) string {
		return "create trigger r%d before insert on t for each row set @a = '" +
			strings.Repeat("x", bytes) + "'"
	}
	refused, dropped := create(2<<20), create(512<<10)
	round := func(i int) {
		_, err := root.ExecContext(t.Context(), fmt.Sprintf(refused, i))
		wantErr(t, "a body of 2 MiB", err, 1437, "42000")
		run(t, root, fmt.Sprintf(dropped, i), fmt.Sprintf("drop trigger r%d", i))
	}
	round(0)
	was := heapInUse()
	for i := range 16 {
		round(i)
	}
	if now := heapInUse(); now-was > 16<<20 {
		t.Errorf("%d MiB stay of 16 triggers that were refused and 16 that were dropped", (now-was)>>20)
	}
}
