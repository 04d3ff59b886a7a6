package bigtable

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"moka/kv"
)

func arenaResponse(rng *rand.Rand, fill byte) *ReadRowsResponse {
	a := arenas.Get().(*arena)
	m := &ReadRowsResponse{Rows: a.rows[:0], mem: a}
	for i := range 1 + rng.IntN(300) {
		key := fmt.Appendf(nil, "row %d", i)
		cells := []Cell{}
		for range rng.IntN(4) {
			cells = append(cells, Cell{Family: "f", Qualifier: a.clone([]byte{fill}), Timestamp: 1, Value: a.clone(bytes.Repeat([]byte{fill}, rng.IntN(3000)))})
		}
		m.Rows = append(m.Rows, Row{Key: a.clone(key), Cells: a.keep(cells)})
	}
	return m
}

func checkArena(rows []Row, fill byte) error {
	for i, r := range rows {
		if string(r.Key) != fmt.Sprintf("row %d", i) {
			return fmt.Errorf("row %d has become %q", i, []byte(r.Key))
		}
		for _, c := range r.Cells {
			if !bytes.Equal(c.Qualifier, []byte{fill}) || bytes.Count(c.Value, []byte{fill}) != len(c.Value) {
				return fmt.Errorf("a cell of row %d has somebody else's bytes", i)
			}
		}
	}
	return nil
}

// The memory of a response goes to the next one when it has been encoded, and not before; one that is used in this process keeps it.
func TestArenasAreUsedAgain(t *testing.T) {
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 3))
			for step := range 60 {
				fill := byte(1 + w*60 + step%60)
				m := arenaResponse(rng, fill)
				if err := checkArena(m.Rows, fill); err != nil {
					t.Error(err)
				}
				if step%3 == 0 {
					continue // stays here
				}
				b := kv.Encode(m)
				m.Release()
				m.Release() // twice is no harm
				var back ReadRowsResponse
				if err := back.DecodeOwn(b); err != nil {
					t.Error(err)
				}
				if err := checkArena(back.Rows, fill); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
