package engine_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

func key(i int) []byte {
	return keys.AppendVersion(keys.AppendNode(nil, keys.NodeRecord, fmt.Appendf(nil, "%06d", i)), 1)
}

func put(t testing.TB, e *engine.Engine, i int, value string) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	if err := b.Set(key(i), []byte(value), nil); err != nil {
		t.Fatal(err)
	}
	e.Commit(b)
}

func mustOpen(t testing.TB, dir string, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// tree lists a directory with sizes and times, so that "nothing was touched" can be checked.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.Walk(dir, func(path string, i os.FileInfo, err error) error {
		if err == nil {
			all = append(all, fmt.Sprint(path, i.Size(), i.ModTime(), i.Mode()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantError(t *testing.T, err error, want *kv.Error, says ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Fatalf("%q does not say %q", err, s)
		}
	}
}

// A directory of something else is refused by name, and left as it is.
func TestForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ibdata1"), []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	_, err := engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrForeignData, "ibdata1", "--data")
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Fatalf("the directory was touched:\n%v\n%v", before, after)
	}
	// A Pebble store of somebody else is foreign too.
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "pebble"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pebble", "CURRENT"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrForeignData)
	// So is a file.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Open(file, engine.Options{}); err == nil {
		t.Fatal("a file was opened as a directory")
	}
}

func TestNewerVersion(t *testing.T) {
	dir := t.TempDir()
	if err := mustOpen(t, dir, engine.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	newer := "moka store\nformat 9\nrelease 7.1\nwho knows what\n"
	if err := os.WriteFile(filepath.Join(dir, "MOKA"), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	_, err := engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrForeignData, "release 7.1", "format 9")
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Fatal("the directory was touched")
	}
	if err := os.WriteFile(filepath.Join(dir, "MOKA"), []byte("moka store\nformat x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrCorrupt, "MOKA")
}

// A second opening is refused, within one process and from another one.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("MOKA_TEST_DIR") != "" {
		_, err := engine.Open(os.Getenv("MOKA_TEST_DIR"), engine.Options{})
		fmt.Println("child:", err)
		return
	}
	e := mustOpen(t, dir, engine.Options{})
	_, err := engine.Open(dir, engine.Options{})
	wantError(t, err, kv.ErrInUse, dir, "--data")
	child := exec.Command(os.Args[0], "-test.run", "^TestInUse$")
	child.Env = append(os.Environ(), "MOKA_TEST_DIR="+dir)
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "child: engine.Open: in use") {
		t.Fatalf("the other process says (%v): %s", err, out)
	}
	put(t, e, 1, "v") // and the first is none the worse
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir, engine.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
}

// A first start that dies anywhere leaves a directory that the next start takes, and the identity never changes again.
func TestFirstStartCrash(t *testing.T) {
	for n := int32(0); ; n++ {
		mem := vfs.NewCrashableMem()
		index := errorfs.OnIndex(n)
		var fired atomic.Bool
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
				return nil
			}
			err := index.MaybeError(op)
			if err != nil {
				fired.Store(true)
			}
			return err
		}))
		dead := make(chan error, 1)
		opened := make(chan *engine.Engine, 1)
		go func() {
			e, err := engine.Open("data", engine.Options{FS: fs, Fatal: func(err error) { dead <- err }})
			if err != nil {
				dead <- err
				return
			}
			opened <- e
		}()
		var first *engine.Engine
		select {
		case <-dead:
		case first = <-opened:
		}
		// The machine stops here: only what was synced is there.
		again := mem.CrashClone(vfs.CrashCloneCfg{})
		e, err := engine.Open("data", engine.Options{FS: again})
		if err != nil {
			t.Fatalf("after a failure at write %d: %v", n, err)
		}
		if first != nil && first.Identity() != e.Identity() {
			t.Fatalf("after a failure at write %d the store has another identity", n)
		}
		put(t, e, 1, "v")
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if first != nil && !fired.Load() {
			if n < 20 {
				t.Fatalf("only %d places to fail", n)
			}
			return
		}
	}
}

// A full disk kills the node with a message; what was acknowledged is there when there is room again.
func TestDiskFull(t *testing.T) {
	for _, where := range []string{"*.log", "*.sst"} {
		t.Run(where, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			var full atomic.Bool
			fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				match, _ := filepath.Match(where, filepath.Base(op.Path))
				if full.Load() && match && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
					return &os.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
				}
				return nil
			}))
			dead := make(chan error, 1)
			e := mustOpen(t, "data", engine.Options{FS: fs, MemTableBytes: 64 << 10, Fatal: func(err error) { dead <- err }})
			var acked atomic.Int64
			put(t, e, 0, "before")
			full.Store(true)
			go func() {
				for i := 1; ; i++ {
					put(t, e, i, strings.Repeat("x", 1000))
					acked.Store(int64(i))
				}
			}()
			err := <-dead
			wantError(t, err, kv.ErrDisk, "full", "make room")
			wantError(t, e.Failed(), kv.ErrDisk)
			n := int(acked.Load())
			if where == "*.sst" && n == 0 {
				t.Fatal("nothing was written before the flush failed")
			}
			again := mustOpen(t, "data", engine.Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
			for i := range n + 1 {
				if _, ok, err := again.Get(key(i)); !ok || err != nil {
					t.Fatalf("write %d of %d acknowledged ones is lost (%v)", i, n, err)
				}
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A log whose end is torn opens; what was synced before the torn part is there.
func TestTornLog(t *testing.T) {
	mem := vfs.NewCrashableMem()
	e := mustOpen(t, "data", engine.Options{FS: mem})
	for i := range 100 {
		put(t, e, i, strings.Repeat("v", 100))
	}
	for cut := range 300 {
		clone := mem.CrashClone(vfs.CrashCloneCfg{})
		truncateLog(t, clone, cut)
		again, err := engine.Open("data", engine.Options{FS: clone})
		if err != nil {
			t.Fatalf("%d bytes short: %v", cut, err)
		}
		n := 0
		for ; n < 100; n++ {
			if _, ok, err := again.Get(key(n)); err != nil {
				t.Fatal(err)
			} else if !ok {
				break
			}
		}
		for i := n; i < 100; i++ {
			if _, ok, _ := again.Get(key(i)); ok {
				t.Fatalf("%d bytes short: write %d is there, write %d is not", cut, i, n)
			}
		}
		if want := 100 - (cut+149)/100; n < want {
			t.Fatalf("%d bytes short: only %d of 100 writes are there, want at least %d", cut, n, want)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// truncateLog cuts bytes off the end of the newest log.
func truncateLog(t *testing.T, fs vfs.FS, cut int) {
	t.Helper()
	names, err := fs.List("data/pebble")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var log string
	for _, n := range names {
		if strings.HasSuffix(n, ".log") {
			log = "data/pebble/" + n
		}
	}
	rewrite(t, fs, log, func(b []byte) []byte { return b[:len(b)-cut] })
}

func rewrite(t *testing.T, fs vfs.FS, path string, change func(b []byte) []byte) {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	w, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(change(b)); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// lyingDisk writes other bytes into tables than it was given.
type lyingDisk struct {
	vfs.FS
	lies atomic.Bool
}

func (d *lyingDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err == nil && d.lies.Load() && strings.HasSuffix(name, ".sst") {
		f = &lyingFile{File: f}
	}
	return f, err
}

type lyingFile struct {
	vfs.File
	lied bool
}

func (f *lyingFile) Write(p []byte) (int, error) {
	if !f.lied {
		f.lied = true
		p = slices.Clone(p)
		for i := range p[:len(p)/2] {
			p[i] ^= 0x55
		}
	}
	return f.File.Write(p)
}

// A damaged file is called that, by name, at the start or when it is read.
func TestCorruption(t *testing.T) {
	build := func() *vfs.MemFS {
		mem := vfs.NewMem()
		e := mustOpen(t, "data", engine.Options{FS: mem})
		for i := range 1000 {
			b := e.NewBatch()
			if err := b.Set(key(i), []byte(strings.Repeat("v", 100)), nil); err != nil {
				t.Fatal(err)
			}
			e.Apply(b, false)
			b.Close()
			if i%100 == 99 {
				if err := e.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return mem
	}
	damage := func(fs vfs.FS, suffix string) string {
		names, err := fs.List("data/pebble")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names) // the last of a kind is the one in use
		for _, n := range slices.Backward(names) {
			if strings.HasSuffix(n, suffix) || strings.HasPrefix(n, suffix) {
				rewrite(t, fs, "data/pebble/"+n, func(b []byte) []byte {
					for i := len(b) / 4; i < len(b)/2; i++ {
						b[i] ^= 0x55
					}
					return b
				})
				return n
			}
		}
		t.Fatalf("no file %s among %v", suffix, names)
		return ""
	}
	t.Run("manifest", func(t *testing.T) {
		mem := build()
		damage(mem, "MANIFEST-")
		_, err := engine.Open("data", engine.Options{FS: mem})
		wantError(t, err, kv.ErrCorrupt, "damaged", "backup")
	})
	// Pebble tries a compaction of L0 again and again, before all else: whoever waits for another one is told, and does not wait for ever.
	t.Run("table of L0", func(t *testing.T) {
		disk := &lyingDisk{FS: vfs.NewMem()}
		e := mustOpen(t, "data", engine.Options{FS: disk, Fatal: func(err error) { t.Errorf("died: %v", err) }})
		fill := func() {
			for i := range 500 {
				put(t, e, i, strings.Repeat(fmt.Sprint(i), 50))
			}
			if err := e.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		fill()
		if err := e.Compact(t.Context(), key(0), key(2000)); err != nil {
			t.Fatal(err)
		}
		disk.lies.Store(true)
		fill()
		disk.lies.Store(false)
		for range 3 {
			fill()
		}
		wantError(t, e.Compact(t.Context(), key(0), key(2000)), kv.ErrCorrupt, ".sst", "backup")
		put(t, e, 0, "writes go on")
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("table", func(t *testing.T) {
		mem := build()
		name := damage(mem, ".sst")
		// It does not end the process, at whatever it is read: the rows of the file are errors that name it, all others are there.
		e := mustOpen(t, "data", engine.Options{FS: mem, Fatal: func(err error) { t.Errorf("died: %v", err) }})
		read := func() (good, bad int) {
			for i := range 1000 {
				switch _, ok, err := e.Get(key(i)); {
				case err != nil:
					wantError(t, err, kv.ErrCorrupt, name, "backup")
					bad++
				case ok:
					good++
				}
			}
			return good, bad
		}
		if good, bad := read(); good == 0 || bad == 0 || good+bad != 1000 {
			t.Fatalf("%d rows read, %d damaged", good, bad)
		}
		for i := 1000; i < 1500; i++ { // flushes and compactions go on around it
			put(t, e, i, strings.Repeat("v", 100))
			if i%50 == 0 {
				if err := e.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := e.Compact(t.Context(), key(0), key(2000)); err != nil { // Pebble may leave the file out of it
			wantError(t, err, kv.ErrCorrupt, name)
		}
		if good, bad := read(); good == 0 || bad == 0 || good+bad != 1000 {
			t.Fatalf("%d rows read, %d damaged after compactions", good, bad)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Barrier makes everything before it durable.
func TestBarrier(t *testing.T) {
	mem := vfs.NewCrashableMem()
	e := mustOpen(t, "data", engine.Options{FS: mem})
	b := e.NewBatch()
	if err := b.Set(key(1), []byte("v"), nil); err != nil {
		t.Fatal(err)
	}
	e.Apply(b, false)
	b.Close()
	e.Barrier()
	again := mustOpen(t, "data", engine.Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	if _, ok, err := again.Get(key(1)); !ok || err != nil {
		t.Fatalf("lost (%v)", err)
	}
	for _, e := range []*engine.Engine{e, again} {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
