package oracle

import (
	"testing"

	"moka/kv"
)

// The ceiling is never lowered, and stays of the leader that wrote it: the next one is of a later epoch.
func TestRecoveredCeiling(t *testing.T) {
	for _, c := range []struct{ stored, asked, want kv.Timestamp }{{0, 7, 7}, {5, 7, 7}, {9, 7, 9}} {
		puts, err := Recovered(func(key string) ([]byte, error) {
			if key != "oracle/ceiling" || c.stored == 0 {
				return nil, nil
			}
			return encodeCeiling(ceilingRecord{3, c.stored}), nil
		}, c.asked)
		if err != nil || len(puts) != 1 {
			t.Fatal(puts, err)
		}
		r, err := decodeCeiling(puts["oracle/ceiling"])
		if err != nil || r.ceiling != c.want || c.stored != 0 && r.epoch != 3 {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	if _, err := Recovered(func(string) ([]byte, error) { return []byte{9}, nil }, 1); err == nil {
		t.Error("a record that makes no sense is overwritten")
	}
}
