package itest

import (
	"path/filepath"
	"strings"
	"testing"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

// TestClusterChecksum: the replicas of a cluster that is written to are equal; one value that is another
// one on the disk of one node is found, and the node, the group and the tablet are named.
func TestClusterChecksum(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "2")
	l := newLoad(c)
	l.setUp()
	l.run()
	l.await(30)
	for range 3 {
		out, err := c.servers[1].tryCtl("checksum")
		if err != nil || strings.Count(out, "  equal\n") != 6 {
			t.Fatalf("%v:\n%s", err, out)
		}
	}
	l.await(10)
	if err := c.servers[2].stop(); err != nil {
		t.Fatal(err)
	}
	out, err := c.servers[0].tryCtl("checksum")
	if err == nil || strings.Count(out, "  equal\n") != 4 || strings.Count(out, "  not compared: ") != 2 {
		t.Errorf("a node is away: %v:\n%s", err, out)
	}
	close(l.stop)
	l.wg.Wait()
	plant(t, c.dirs[2], 1)
	c.start(2)
	out, err = c.servers[0].tryCtl("checksum")
	if err == nil || !strings.Contains(out, "not all replicas are known to be equal") {
		t.Errorf("it succeeds with a replica that differs: %v", err)
	}
	found := ""
	for line := range strings.SplitSeq(out, "\n") {
		if strings.Contains(line, "DIFFERS") {
			found += line + "\n"
		}
	}
	if f := strings.Fields(found); strings.Count(found, "\n") != 1 || f[0] != "1" || f[1] != "3" ||
		!strings.Contains(found, "DIFFERS: txn.write of tablet ") || strings.Count(out, "  equal\n") != 5 {
		t.Errorf("shard 1 of node 3 has another value:\n%s", out)
	}
	if !strings.Contains(c.servers[0].logs(), "a replica of a shard is not as the others are") {
		t.Error("the log does not say so")
	}
}

// plant changes one byte of a committed value in a shard, on the disk of a node that is down.
func plant(t *testing.T, dir string, id kv.ShardID) {
	t.Helper()
	e, err := engine.Open(filepath.Clean(dir), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := keys.GroupSpan(id, kv.GroupTxnWrite)
	it, err := e.NewIter(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	if !it.Last() {
		t.Fatal("the shard is empty")
	}
	v, err := it.ValueAndErr()
	if err != nil || len(v) == 0 {
		t.Fatal(v, err)
	}
	v = append([]byte(nil), v...)
	v[len(v)-1] ^= 1
	b := e.NewBatch()
	if err := b.Set(it.Key(), v, nil); err != nil {
		t.Fatal(err)
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
	b.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
