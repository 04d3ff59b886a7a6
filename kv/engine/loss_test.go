package engine_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
)

// whatIsKilled is what a process leaves that is killed: all it has written, synced or not.
func whatIsKilled(mem *vfs.MemFS) *vfs.MemFS {
	return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

func newestLog(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	names, err := fsys.List("data/pebble")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range slices.Backward(names) {
		if strings.HasSuffix(n, ".log") {
			return "data/pebble/" + n
		}
	}
	t.Fatal("no log")
	return ""
}

// rowsFrom counts the rows from 0 on, and fails if one is there behind a gap.
func rowsFrom(t *testing.T, e *engine.Engine, most int) int {
	t.Helper()
	n := most
	for i := range most {
		_, ok, err := e.Get(key(i))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			n = min(n, i)
		} else if i > n {
			t.Fatalf("row %d is there, row %d is not", i, n)
		}
	}
	return n
}

// Faults: a log that was cut by however little, or damaged, or removed, is an error that says the next step, after a clean stop as after a kill;
// told to accept the loss, the store opens with what is before it, and keeps the rest aside.
func TestLostLog(t *testing.T) {
	const rows = 100
	cases := []struct {
		name  string
		spoil func(t *testing.T, fsys vfs.FS, log string)
		says  string
	}{
		{"cut by one byte", func(t *testing.T, fsys vfs.FS, log string) {
			rewrite(t, fsys, log, func(b []byte) []byte { return b[:len(b)-1] })
		}, "whole up to byte"},
		{"cut by much", func(t *testing.T, fsys vfs.FS, log string) {
			rewrite(t, fsys, log, func(b []byte) []byte { return b[:len(b)/2] })
		}, "whole up to byte"},
		{"emptied", func(t *testing.T, fsys vfs.FS, log string) {
			rewrite(t, fsys, log, func(b []byte) []byte { return nil })
		}, "whole up to byte 0"},
		{"zeros at its end", func(t *testing.T, fsys vfs.FS, log string) {
			rewrite(t, fsys, log, func(b []byte) []byte { clear(b[len(b)-500:]); return b })
		}, "whole up to byte"},
		{"a flipped bit", func(t *testing.T, fsys vfs.FS, log string) {
			rewrite(t, fsys, log, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, "whole up to byte"},
		{"removed", func(t *testing.T, fsys vfs.FS, log string) {
			if err := fsys.Remove(log); err != nil {
				t.Fatal(err)
			}
		}, "is not there"},
	}
	for _, killed := range []bool{false, true} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("killed=%v/%s", killed, c.name), func(t *testing.T) {
				mem := vfs.NewCrashableMem()
				e := mustOpen(t, "data", engine.Options{FS: mem})
				for i := range rows {
					put(t, e, i, strings.Repeat("v", 100))
				}
				fsys := mem
				if killed {
					fsys = whatIsKilled(mem)
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				c.spoil(t, fsys, newestLog(t, fsys))
				for range 2 { // the first try changes nothing
					_, err := engine.Open("data", engine.Options{FS: fsys})
					wantError(t, err, kv.ErrCorrupt, c.says, "--accept-data-loss", "backup")
				}
				again := mustOpen(t, "data", engine.Options{FS: fsys, AcceptDataLoss: true})
				if n := rowsFrom(t, again, rows); n == rows && c.name != "cut by one byte" {
					t.Fatal("nothing is lost")
				}
				put(t, again, 0, "again")
				if err := again.Close(); err != nil {
					t.Fatal(err)
				}
				if aside, err := fsys.List("data/lost"); err != nil || len(aside) == 0 != (c.name == "removed") {
					t.Fatalf("set aside: %v (%v)", aside, err)
				}
				last := mustOpen(t, "data", engine.Options{FS: fsys}) // and needs to be told once
				if err := last.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// A log in the middle that is gone takes the later ones with it: they build on it.
func TestLostLogInTheMiddle(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var hold atomic.Bool
	release := make(chan struct{})
	fsys := heldTables{mem, &hold, release}
	e := mustOpen(t, "data", engine.Options{FS: fsys, MemTableBytes: 256 << 10})
	hold.Store(true) // no flush ends, so that several logs are needed
	n := 0
	for logs := 0; logs < 3; n++ {
		put(t, e, n, strings.Repeat("v", 2000))
		logs = len(logsOf(t, mem))
	}
	killed := whatIsKilled(mem)
	hold.Store(false)
	close(release)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	logs := logsOf(t, killed)
	if err := killed.Remove("data/pebble/" + logs[1]); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Open("data", engine.Options{FS: killed})
	wantError(t, err, kv.ErrCorrupt, logs[1], "is not there", "--accept-data-loss")
	again := mustOpen(t, "data", engine.Options{FS: killed, AcceptDataLoss: true})
	if kept := rowsFrom(t, again, n); kept == 0 || kept == n {
		t.Fatalf("%d rows of %d", kept, n)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func logsOf(t *testing.T, fsys vfs.FS) (logs []string) {
	t.Helper()
	names, err := fsys.List("data/pebble")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range names {
		if strings.HasSuffix(n, ".log") {
			logs = append(logs, n)
		}
	}
	return logs
}

// heldTables lets no table be made while it is held.
type heldTables struct {
	vfs.FS
	hold    *atomic.Bool
	release chan struct{}
}

func (h heldTables) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if h.hold.Load() && strings.HasSuffix(name, ".sst") {
		<-h.release
	}
	return h.FS.Create(name, c)
}

// Faults: a store that was emptied or removed under its identity does not begin anew without a word.
func TestLostStore(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(fsys vfs.FS) error
	}{
		{"removed", func(fsys vfs.FS) error { return fsys.RemoveAll("data/pebble") }},
		{"emptied", func(fsys vfs.FS) error {
			names, err := fsys.List("data/pebble")
			for _, n := range names {
				if err == nil {
					err = fsys.Remove("data/pebble/" + n)
				}
			}
			return err
		}},
		{"without its manifest", func(fsys vfs.FS) error {
			names, err := fsys.List("data/pebble")
			for _, n := range names {
				if err == nil && strings.HasPrefix(strings.ToLower(n), "marker.manifest") {
					err = fsys.Remove("data/pebble/" + n)
				}
			}
			return err
		}},
		{"without the record of its logs", func(fsys vfs.FS) error { return fsys.Remove("data/LOGS") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewMem()
			e := mustOpen(t, "data", engine.Options{FS: mem})
			put(t, e, 1, "v")
			id := e.Identity()
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(mem); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err := engine.Open("data", engine.Options{FS: mem})
				wantError(t, err, kv.ErrCorrupt, "--accept-data-loss", "backup")
			}
			again := mustOpen(t, "data", engine.Options{FS: mem, AcceptDataLoss: true})
			put(t, again, 2, "v")
			if again.Identity() != id {
				t.Fatal("another store")
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if err := mustOpen(t, "data", engine.Options{FS: mem}).Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A machine that stops at any moment, with any part of what was not synced on its disk, is no false alarm, and nothing acknowledged is lost: logs
// are made and used again all the time, records are larger than blocks, and some writes ask for no sync.
func TestCrashIsNoLoss(t *testing.T) {
	const crashes, writers = 12, 3
	for seed := range uint64(crashes) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mem := vfs.NewCrashableMem()
		var acked [writers]int
		for life := range 3 {
			e, err := engine.Open("data", engine.Options{FS: mem, MemTableBytes: 64 << 10})
			if err != nil {
				t.Fatalf("seed %d, life %d: %v", seed, life, err)
			}
			for w, n := range acked {
				for i := range n {
					if _, ok, err := e.Get(key(w*1000000 + i)); !ok || err != nil {
						t.Fatalf("seed %d, life %d: acknowledged write %d of %d is lost (%v)", seed, life, i, n, err)
					}
				}
			}
			var counts [writers]atomic.Int64
			stopAt := int64(rng.IntN(50))
			crash := make(chan struct{})
			var once sync.Once
			var wg sync.WaitGroup
			for w := range writers {
				counts[w].Store(int64(acked[w]))
				r := rand.New(rand.NewPCG(seed, uint64(w*10+life)))
				wg.Go(func() {
					for i := acked[w]; i < acked[w]+60; i++ {
						b := e.NewBatch()
						if err := b.Set(key(w*1000000+i), bytes.Repeat([]byte{1}, 1<<r.IntN(16)), nil); err != nil {
							t.Error(err)
						}
						if r.IntN(4) == 0 {
							e.Apply(b, false)
							e.Barrier()
						} else {
							e.Commit(b)
						}
						b.Close()
						if counts[w].Add(1); w == 0 && int64(i-acked[w]) >= stopAt {
							once.Do(func() { close(crash) })
						}
					}
				})
			}
			<-crash
			for w := range writers {
				acked[w] = int(counts[w].Load())
			}
			clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			wg.Wait()
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			mem = clone
		}
		e, err := engine.Open("data", engine.Options{FS: mem})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Killed processes: each start finds all that was acknowledged, without an alarm; cut by its last byte, the log of the last one raises it.
func TestKilledProcess(t *testing.T) {
	const kills = 15
	if dir := os.Getenv("MOKA_TEST_WRITER"); dir != "" {
		e, err := engine.Open(dir, engine.Options{MemTableBytes: 128 << 10})
		if err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		from := 0
		for {
			_, ok, err := e.Get(key(from))
			if err != nil {
				fmt.Println(err)
				os.Exit(2)
			}
			if !ok {
				break
			}
			from++
		}
		fmt.Println("from", from)
		for i := from; ; i++ {
			put(t, e, i, strings.Repeat("v", 50+i%5000))
			fmt.Println("acknowledged", i)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	rng := rand.New(rand.NewPCG(3, 3))
	acked := -1
	for k := range kills {
		child := exec.Command(os.Args[0], "-test.run", "^TestKilledProcess$")
		child.Env = append(os.Environ(), "MOKA_TEST_WRITER="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		wait := 1 + rng.IntN(60)
		lines := bufio.NewScanner(out)
		killed := false
		for lines.Scan() {
			var from int
			if _, err := fmt.Sscanf(lines.Text(), "from %d", &from); err == nil {
				if from <= acked {
					t.Fatalf("kill %d: row %d was acknowledged, and only %d are there", k, acked, from)
				}
			} else if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &acked); err != nil {
				t.Fatalf("kill %d: %s", k, lines.Text())
			} else if wait--; wait <= 0 && !killed {
				killed = true
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait()
	}
	log := ""
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".log") {
			log = max(log, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	// The process may have written more than it acknowledged: what it is cut by is more than one row that it was about to write.
	if err := os.Truncate(log, max(0, info.Size()-6000)); err != nil {
		t.Fatal(err)
	}
	_, err = engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrCorrupt, filepath.Base(log), "--accept-data-loss")
}

// A directory of the first format, which had no record of its logs, opens and becomes one of the present format.
func TestOlderFormat(t *testing.T) {
	mem := vfs.NewMem()
	e := mustOpen(t, "data", engine.Options{FS: mem})
	put(t, e, 1, "v")
	id := e.Identity().ID
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	rewrite(t, mem, "data/MOKA", func(b []byte) []byte {
		return fmt.Appendf(nil, "moka store\nformat 1\nrelease 0.1\nid %x\n", id)
	})
	if err := mem.Remove("data/LOGS"); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, "data", engine.Options{FS: mem})
	if _, ok, err := again.Get(key(1)); !ok || err != nil {
		t.Fatalf("lost (%v)", err)
	}
	if got := again.Identity(); got.ID != id || got.Format != engine.Format {
		t.Fatalf("identity %+v", got)
	}
	put(t, again, 2, "v")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	rewrite(t, mem, newestLog(t, mem), func(b []byte) []byte { return nil })
	_, err := engine.Open("data", engine.Options{FS: mem})
	wantError(t, err, kv.ErrCorrupt, "--accept-data-loss")
}
