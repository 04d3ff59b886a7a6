package client

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"moka/kv"
)

// history makes a random history of a tablet map over rows 0..99: splits, merges and moves. It returns every description
// that ever held, and the map at the end.
func history(t *rapid.T) (all, last []kv.Tablet) {
	row := func(n int) kv.RowKey {
		if n == 0 {
			return nil
		}
		return kv.RowKey(fmt.Sprintf("%02d", n))
	}
	last = []kv.Tablet{{ID: 1, Generation: 1, Shard: 1, Node: 1}}
	all = slices.Clone(last)
	next := kv.TabletID(2)
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		i := rapid.IntRange(0, len(last)-1).Draw(t, "tablet")
		switch rapid.IntRange(0, 2).Draw(t, "step") {
		case 0: // split
			at := row(rapid.IntRange(1, 99).Draw(t, "at"))
			if string(at) == string(last[i].Span.Start) || !last[i].Span.Contains(at) {
				continue
			}
			left, right := last[i], last[i]
			left.Generation++
			right.Generation++
			left.Span.End, right.Span.Start, right.ID = at, at, next
			next++
			last = slices.Replace(slices.Clone(last), i, i+1, left, right)
			all = append(all, left, right)
		case 1: // merge with the right neighbour
			if i+1 == len(last) {
				continue
			}
			whole := last[i]
			whole.Generation = max(last[i].Generation, last[i+1].Generation) + 1
			whole.Span.End = last[i+1].Span.End
			last = slices.Replace(slices.Clone(last), i, i+2, whole)
			all = append(all, whole)
		case 2: // move
			moved := last[i]
			moved.Generation++
			moved.Shard = kv.ShardID(rapid.IntRange(1, 5).Draw(t, "shard"))
			last = slices.Clone(last)
			last[i] = moved
			all = append(all, moved)
		}
	}
	return all, last
}

func (c *cache) contents() (tablets []kv.Tablet) {
	for _, t := range *c.tablets.Load() {
		tablets = append(tablets, *t)
	}
	return tablets
}

// L1: whatever arrives in whatever order, a description is never replaced by an older one, and tablets never overlap; once
// the present map has arrived, the cache says exactly that.
func TestCacheNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, last := history(t)
		c := newCache()
		newest := make(map[string]uint64)
		for _, d := range rapid.Permutation(all).Draw(t, "arrival") {
			if rapid.Bool().Draw(t, "refused first") {
				c.forget([]kv.TabletRef{{ID: d.ID, Generation: d.Generation - 1}})
			}
			c.add([]kv.Tablet{d}, false)
			now := c.contents()
			for i := 1; i < len(now); i++ {
				if end := now[i-1].Span.End; len(end) == 0 || string(end) > string(now[i].Span.Start) {
					t.Fatalf("overlap: %v", now)
				}
			}
			for n := range 100 {
				row := kv.RowKey(fmt.Sprintf("%02d", n))
				at, ok, _ := c.find(row)
				if !ok {
					delete(newest, string(row)) // what is not known may come back in any form
					continue
				}
				if !at.Span.Contains(row) {
					t.Fatalf("%s is not in %v", row, at)
				}
				if at.Generation < newest[string(row)] {
					t.Fatalf("row %s went back from generation %d to %v", row, newest[string(row)], at)
				}
				newest[string(row)] = at.Generation
			}
		}
		c.add(last, true)
		if got, want := fmt.Sprint(c.contents()), fmt.Sprint(last); got != want {
			t.Fatalf("the cache ends with\n%s, the map with\n%s", got, want)
		}
		if len(c.mu.starts) != len(last) {
			t.Fatalf("%d starts for %d tablets", len(c.mu.starts), len(last))
		}
	})
}

func TestCacheRefusesJunk(t *testing.T) {
	c := newCache()
	c.add([]kv.Tablet{tablet(1, 1, "b", "a", 1, 1), tablet(2, 1, "b", "b", 1, 1)}, true)
	if got := c.contents(); len(got) != 0 {
		t.Errorf("took in %v", got)
	}
}

func TestForgetBounds(t *testing.T) {
	c := newCache()
	for i := range 3 * maxOutdated {
		c.forget([]kv.TabletRef{{ID: kv.TabletID(i), Generation: 1}})
	}
	if n := len(c.mu.outdated); n > maxOutdated {
		t.Errorf("%d refused tablets are remembered", n)
	}
}
