package checksum

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"moka/kv"
	"moka/kv/raft/host"
)

func replica(id, hash uint64, sums ...host.Sum) Replica {
	s := host.State{Replica: id, Index: 9, Chain: 5, Keys: 3, Hash: hash, Sums: sums}
	return Replica{ID: id, State: s}
}

// Who differs from most is named, with the parts; where there is no most all are.
func TestJudge(t *testing.T) {
	good := []host.Sum{
		{Keys: 1, Hash: 1}, {Group: 16, Tablet: 2, Keys: 1, Hash: 2},
		{Group: 16, Tablet: 3, Keys: 1, Hash: 3},
	}
	bad := []host.Sum{good[0], {Group: 16, Tablet: 2, Keys: 1, Hash: 9}, good[2]}
	silent := Replica{ID: 3, Err: errors.New("it is away")}
	name := func(g kv.GroupID) string { return fmt.Sprint("group ", g) }
	const differs = "DIFFERS: group 16 of tablet 2"
	for _, c := range []struct {
		what     string
		replicas []Replica
		verdicts []string
		whole    bool
	}{
		{"all alike", []Replica{replica(1, 7, good...), replica(2, 7, good...), replica(3, 7, good...)},
			[]string{"equal", "equal", "equal"}, true},
		{"one of three", []Replica{replica(1, 8, bad...), replica(2, 7, good...), replica(3, 7, good...)},
			[]string{differs, "equal", "equal"}, true},
		{"one against one", []Replica{replica(1, 8, bad...), replica(2, 7, good...), silent},
			[]string{differs, differs, "not compared: it is away"}, false},
		{"a tablet is missing",
			[]Replica{replica(1, 7, good...), replica(2, 7, good...), replica(3, 8, good[:2]...)},
			[]string{"equal", "equal", "DIFFERS: group 16 of tablet 3"}, true},
		{"records", []Replica{replica(1, 7, good...), replica(2, 7, good...), replica(3, 8, good[1:]...)},
			[]string{"equal", "equal", "DIFFERS: what lies in no tablet"}, true},
		{"one alone", []Replica{replica(1, 7, good...)}, []string{"equal"}, true},
	} {
		r := &Report{Replicas: c.replicas}
		judge(r)
		var got []string
		differ := false
		for _, x := range r.Replicas {
			got = append(got, x.Verdict(name))
			differ = differ || x.Differs
		}
		if !reflect.DeepEqual(got, c.verdicts) || r.Differ() != differ || r.Whole() != c.whole {
			t.Errorf("%s: %q, whole %v; want %q, %v", c.what, got, r.Whole(), c.verdicts, c.whole)
		}
	}
	r := &Report{Replicas: []Replica{replica(1, 7, good...), replica(2, 7, good...), replica(3, 8, bad...)}}
	r.Replicas[2].State.Chain = 6
	judge(r)
	if got := r.Replicas[2].Verdict(name); got != differs+"; its log is another one, too" {
		t.Error(got)
	}
}
