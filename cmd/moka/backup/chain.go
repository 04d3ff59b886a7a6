package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	manifestName = "MANIFEST"
	dataName     = "data"
	partial      = ".partial"
	maxManifest  = 1 << 20
)

// Manifest says what one backup of a chain is.
type Manifest struct {
	Number int `json:"number"` // of the chain, the full one is 0
	Info
	Counts
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`   // of data
	Previous string `json:"previous"` // checksum of the manifest of the one before it
	sum      string // its own checksum
}

func (m *Manifest) dir(root string) string { return filepath.Join(root, fmt.Sprintf("%04d", m.Number)) }

func (m *Manifest) encode() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	m.sum = checksum(b)
	return append(b, "sha256 "+m.sum+"\n"...), nil
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func readManifest(file string) (*Manifest, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	const tail = len("sha256 \n") + 2*sha256.Size
	if len(b) > maxManifest || len(b) < tail {
		return nil, fmt.Errorf("%s is damaged: it has %d bytes", file, len(b))
	}
	text, end := b[:len(b)-tail], string(b[len(b)-tail:])
	m := &Manifest{sum: checksum(text)}
	if end != "sha256 "+m.sum+"\n" {
		return nil, fmt.Errorf("%s is damaged: its checksum is another", file)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if m.Format != Format {
		return nil, fmt.Errorf("%s: format %d is another release's; this one reads format %d", file, m.Format,
			Format)
	}
	return m, nil
}

// Chain is what a directory holds.
type Chain struct {
	Root      string
	Backups   []*Manifest // the full one first
	Leftovers []string    // of backups that were not finished
}

// Open reads what a directory holds. Data is looked at by Verify.
func Open(root string) (*Chain, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	c := &Chain{Root: root}
	var names []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, partial):
			c.Leftovers = append(c.Leftovers, name)
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		m := &Manifest{Number: i}
		if want := filepath.Base(m.dir(root)); name != want {
			return nil, fmt.Errorf("%s is no directory of backups: %s is there, where %s should be", root,
				name, want)
		}
		if m, err = readManifest(filepath.Join(root, name, manifestName)); err != nil {
			return nil, err
		}
		if err := c.follows(m, i); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(root, name), err)
		}
		c.Backups = append(c.Backups, m)
	}
	return c, nil
}

func (c *Chain) follows(m *Manifest, i int) error {
	if m.Number != i {
		return fmt.Errorf("it is number %d", m.Number)
	}
	last := c.Last()
	switch {
	case last == nil && (m.Since != 0 || m.Previous != ""):
		return errors.New("it is an increment of a backup that is not there")
	case last == nil:
		return nil
	case m.Previous != last.sum || m.Since != last.Snapshot || m.Store != last.Store ||
		m.Snapshot <= last.Snapshot:
		return errors.New("it does not follow the one before it")
	}
	return nil
}

// Last is the newest, nil if there is none.
func (c *Chain) Last() *Manifest {
	if len(c.Backups) == 0 {
		return nil
	}
	return c.Backups[len(c.Backups)-1]
}

// Clean removes what was not finished.
func (c *Chain) Clean() error {
	for _, name := range c.Leftovers {
		if err := os.RemoveAll(filepath.Join(c.Root, name)); err != nil {
			return err
		}
	}
	c.Leftovers = nil
	return nil
}

// Take adds a backup: receive writes its data and says what it is. What was begun and not finished is no
// part of the chain, whatever becomes of this process.
func (c *Chain) Take(receive func(io.Writer) (Info, Counts, error)) (m *Manifest, err error) {
	m = &Manifest{Number: len(c.Backups)}
	dir := m.dir(c.Root)
	work := dir + partial
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(work)
		}
	}()
	f, err := os.OpenFile(filepath.Join(work, dataName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	m.Info, m.Counts, err = receive(io.MultiWriter(f, sum))
	if err == nil {
		m.Bytes, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if last := c.Last(); last != nil {
		m.Previous = last.sum
	}
	text, err := m.encode()
	if err != nil {
		return nil, err
	}
	if err := c.follows(m, m.Number); err != nil {
		return nil, fmt.Errorf("what the server sent is not what was asked for: %w", err)
	}
	if err := writeSynced(filepath.Join(work, manifestName), text); err != nil {
		return nil, err
	}
	if err := syncDir(work); err != nil {
		return nil, err
	}
	if err := os.Rename(work, dir); err != nil {
		return nil, err
	}
	c.Backups = append(c.Backups, m)
	return m, syncDir(c.Root)
}

func writeSynced(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Verify reads everything that restoring the first n backups reads, and says what is wrong with each, by
// name. It is right if there is nothing.
func (c *Chain) Verify(n int, done func(*Manifest)) (wrong []error) {
	for _, m := range c.Backups[:n] {
		if err := c.verifyData(m); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", m.dir(c.Root), err))
		}
		done(m)
	}
	if len(wrong) > 0 {
		return wrong
	}
	if err := c.Merge(n, func(Record) error { return nil }); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

func (c *Chain) verifyData(m *Manifest) error {
	list, err := os.ReadDir(m.dir(c.Root))
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Name() != dataName && e.Name() != manifestName {
			return fmt.Errorf("%s does not belong there", e.Name())
		}
	}
	f, err := os.Open(filepath.Join(m.dir(c.Root), dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("its data is not there")
	} else if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	switch {
	case err != nil:
		return err
	case size != m.Bytes:
		return fmt.Errorf("its data is damaged: %d bytes instead of %d", size, m.Bytes)
	case hex.EncodeToString(sum.Sum(nil)) != m.SHA256:
		return errors.New("its data is damaged: its checksum is another")
	}
	return nil
}
