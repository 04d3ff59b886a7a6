package recall_test

import (
	"testing"

	"moka/txn/recall"
)

func TestCacheForgetsTheOldest(t *testing.T) {
	c := recall.Cache[int, string]{Size: 2}
	c.Put(1, "one")
	c.Put(1, "another")
	c.Put(2, "two")
	if v, ok := c.Get(1); !ok || v != "one" {
		t.Errorf("the first answer is %q, %v", v, ok)
	}
	c.Put(3, "three")
	if _, ok := c.Get(1); ok {
		t.Error("the oldest of three is there, of two")
	}
	for k, want := range map[int]string{2: "two", 3: "three"} {
		if v, ok := c.Get(k); !ok || v != want {
			t.Errorf("%d is %q, %v", k, v, ok)
		}
	}
}
