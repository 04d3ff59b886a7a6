package node

import (
	"bytes"
	"testing"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/keys"
)

// Walking from each kind of key to the end of its policy and on, one meets each group's data with the policy that its number asks for, and the
// walk moves on at each step.
func TestSpanPolicyCoversEverything(t *testing.T) {
	const shards = 3
	var ks [][]byte
	want := map[string]bool{} // prefers speed
	add := func(k []byte, fast bool) { ks, want[string(k)] = append(ks, k), fast }
	add(keys.AppendNode(nil, keys.NodeRecord, nil), true)
	for s := kv.ShardID(1); s <= shards; s++ {
		add(keys.AppendState(nil, s, keys.StateTablet, 7), true)
		for g := range kv.GroupID(30) {
			a := kv.Address{Group: g, Column: kv.Column{Row: kv.MakeRowKey(9, []byte("row"))}}
			add(keys.AppendVersion(keys.AppendColumn(nil, s, a), 5), !bigtable.CompressedForSize(g))
		}
	}
	for _, start := range ks {
		p, end, err := spanPolicy(start)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(end, start) <= 0 {
			t.Fatalf("the policy of %x ends at %x", start, end)
		}
		for _, k := range ks {
			if bytes.Compare(k, start) >= 0 && bytes.Compare(k, end) < 0 && p.PreferFastCompression != want[string(k)] {
				t.Errorf("%x has the policy of %x: speed %v", k, start, p.PreferFastCompression)
			}
		}
	}
}
