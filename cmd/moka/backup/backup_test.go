package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"moka/kv"
	"moka/triggers"
)

// store is what a backup is of, by the text of its cells' rows.
type store map[string]string

func column(row string) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, []byte(row)), Qualifier: []byte(row[:1])}
}

// take adds a backup of now to a chain.
func take(t *testing.T, c *Chain, now, before store) {
	t.Helper()
	info := Info{Format: Format, Store: "s", Snapshot: kv.NewTimestamp(int64(len(c.Backups)+1), 0),
		Created: time.Unix(1_800_000_000, 0).UTC(), Moka: "test"}
	if last := c.Last(); last != nil {
		info.Since = last.Snapshot
	}
	_, err := c.Take(func(w io.Writer) (Info, Counts, error) {
		b, err := NewWriter(w, info)
		for _, k := range slices.Sorted(maps.Keys(now)) {
			if v, ok := before[k]; err == nil && ok && v == now[k] {
				err = b.Same(column(k))
			} else if err == nil {
				err = b.Cell(column(k), []byte(now[k]))
			}
		}
		if err == nil {
			err = b.Position(triggers.Position{Observer: 7, Column: column("x"),
				Seen: triggers.Seen{Value: []byte{0, 255}, OK: true}})
		}
		if err != nil {
			return info, Counts{}, err
		}
		counts, err := b.Close()
		return info, counts, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// chain makes a directory with a chain of n backups, and returns what the store held at each.
func chain(t *testing.T, n int) (root string, held []store) {
	t.Helper()
	root = t.TempDir()
	c, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	now := store{}
	for range n {
		before := maps.Clone(now)
		for range 300 {
			k := fmt.Sprint(rng.IntN(400))
			now[k] = strings.Repeat(fmt.Sprint(rng.Int()), 1+rng.IntN(20))
			if rng.IntN(3) == 0 {
				delete(now, k)
			}
		}
		take(t, c, now, before)
		held = append(held, maps.Clone(now))
	}
	return root, held
}

func verify(root string) error {
	c, err := Open(root)
	if err != nil {
		return err
	}
	if wrong := c.Verify(len(c.Backups), func(*Manifest) {}); len(wrong) > 0 {
		return wrong[0]
	}
	return nil
}

// Each backup of a chain gives what the store held, also what was deleted and came again.
func TestChain(t *testing.T) {
	root, held := chain(t, 6)
	c, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range held {
		got, positions := store{}, 0
		err := c.Merge(n+1, func(r Record) error {
			if p := r.Position; p != nil {
				if positions++; p.Observer != 7 || !bytes.Equal(p.Seen.Value, []byte{0, 255}) {
					t.Errorf("%+v", p)
				}
				return nil
			}
			row := string(r.Column.Row.Row())
			if !Equal(r.Column, column(row)) {
				t.Errorf("%+v", r.Column)
			}
			got[row] = string(r.Value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || positions != 1 {
			t.Errorf("backup %d: %d cells, want %d; %d positions", n, len(got), len(want), positions)
		}
	}
}

// Whatever byte of whatever file is another, and whatever is missing, is found.
func TestVerifyFindsDamage(t *testing.T) {
	root, _ := chain(t, 4)
	if err := verify(root); err != nil {
		t.Fatal(err)
	}
	var files []string
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	rng := rand.New(rand.NewPCG(3, 4))
	damage := func(what string, name string, text []byte) {
		t.Helper()
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if text == nil {
			err = os.Remove(name)
		} else {
			err = os.WriteFile(name, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(root); err == nil {
			t.Errorf("%s of %s is not found", what, name)
		} else if !strings.Contains(err.Error(), filepath.Dir(name)) {
			t.Errorf("%s of %s: the error does not name it: %v", what, name, err)
		}
		if err := os.WriteFile(name, was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		name := files[rng.IntN(len(files))]
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch at := rng.IntN(len(b)); i % 4 {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
			damage("a flipped bit", name, b)
		case 1:
			damage("a cut", name, b[:at])
		case 2:
			damage("something more", name, append(b, byte(at)))
		case 3:
			other := slices.Clone(b)
			rng.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
			if !bytes.Equal(b, other) {
				damage("another order", name, other)
			}
		}
	}
	for _, name := range files {
		damage("the loss", name, nil)
	}
	for i := range 4 { // a whole backup is gone, or is another chain's
		dir := filepath.Join(root, fmt.Sprintf("%04d", i))
		if err := os.Rename(dir, dir+"x"); err != nil {
			t.Fatal(err)
		}
		if err := verify(root); err == nil {
			t.Errorf("the loss of %s is not found", dir)
		}
		if err := os.Rename(dir+"x", dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := verify(root); err != nil {
		t.Fatal(err)
	}
}

// What was not finished is no part of a chain, and the next one goes on where the last finished one was.
func TestUnfinished(t *testing.T) {
	root, held := chain(t, 2)
	if err := os.MkdirAll(filepath.Join(root, "0002.partial"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Open(root)
	if err != nil || len(c.Backups) != 2 || !slices.Equal(c.Leftovers, []string{"0002.partial"}) {
		t.Fatalf("%+v %v", c, err)
	}
	if _, err := c.Take(nil); err == nil {
		t.Error("it was written into what another left")
	}
	if err := c.Clean(); err != nil {
		t.Fatal(err)
	}
	_, err = c.Take(func(w io.Writer) (Info, Counts, error) {
		_, _ = w.Write([]byte("some"))
		return Info{}, Counts{}, io.ErrUnexpectedEOF
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	take(t, c, held[1], held[1])
	if err := verify(root); err != nil {
		t.Error(err)
	}
}
