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
	// Tables also begin at bounds, in the middle of a range that was deleted: of groups, shards, logs.
	bounds := func(lower, upper []byte) { ks = append(ks, lower, upper) }
	for s := kv.ShardID(1); s <= shards; s++ {
		add(keys.AppendState(nil, s, keys.StateTablet, 7), true)
		bounds(keys.ShardSpan(s))
		bounds(keys.LogSpan(s))
		bounds(keys.DataSpan(s))
		for g := range kv.GroupID(30) {
			bounds(keys.GroupSpan(s, g))
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
			fast, isKey := want[string(k)]
			within := bytes.Compare(k, start) >= 0 && bytes.Compare(k, end) < 0
			if isKey && within && p.PreferFastCompression != fast {
				t.Errorf("%x has the policy of %x: speed %v", k, start, p.PreferFastCompression)
			}
		}
	}
}
