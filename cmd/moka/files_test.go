package main

import "testing"

// S10: whatever the limit of open files is, the shares of the store and of clients fit into it together.
func TestFilesAreSharedOut(t *testing.T) {
	for _, limit := range []uint64{192, 200, 256, 1024, 4096, 1 << 20, ^uint64(0)} {
		for _, nodes := range []bool{false, true} {
			s, err := shareFiles(limit, nodes)
			if err != nil {
				t.Fatal(err)
			}
			// One more has logged in than may, who administers.
			all := uint64(s.store + s.http + s.nodes + s.logins + s.clients + 1)
			if s.store < leastOfStore || s.http < 1 || s.logins < 1 || s.clients < 1 ||
				nodes != (s.nodes > 0) || all > limit || all >= limit-limit/8 && limit < 1024 {
				t.Errorf("of %d files: %+v", limit, s)
			}
			if limit >= 4096 && (s.clients < 1000 || s.store != mostOfStore) {
				t.Errorf("of %d files: %+v", limit, s)
			}
		}
	}
	if _, err := shareFiles(191, true); err == nil {
		t.Error("191 files are enough")
	}
}
