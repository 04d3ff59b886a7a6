package main

import "testing"

// S10: whatever the limit of open files is, the shares of the store and of clients fit into it together.
func TestFilesAreSharedOut(t *testing.T) {
	for _, limit := range []uint64{128, 200, 256, 1024, 4096, 1 << 20, ^uint64(0)} {
		s, err := shareFiles(limit)
		if err != nil {
			t.Fatal(err)
		}
		if s.store < leastOfStore || s.http < 1 || s.clients < 1 ||
			uint64(s.store+s.http+s.clients) >= limit-limit/8 && limit < 1024 {
			t.Errorf("of %d files: %+v", limit, s)
		}
		if limit >= 4096 && (s.clients < 1000 || s.store != mostOfStore) {
			t.Errorf("of %d files: %+v", limit, s)
		}
	}
	if _, err := shareFiles(100); err == nil {
		t.Error("100 files are enough")
	}
}
