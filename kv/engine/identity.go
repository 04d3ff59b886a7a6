package engine

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// The node's directory:
//
//	DIR/MOKA      what this directory is, in four lines that a person can read
//	DIR/pebble/   the store
//
//	+-----------------------------+
//	| moka store                  |
//	| format 1                    |   raised when an older release could not read what a newer one wrote
//	| release 1                   |   the release that can, for the message to whoever starts the older one
//	| id 0123456789abcdef...      |   16 random bytes in hex: two stores are never taken for each other
//	+-----------------------------+
//
// A directory with other things in it is somebody else's: nothing in it is touched.
const (
	identityFile = "MOKA"
	pebbleDir    = "pebble"
	magicLine    = "moka store"

	// Format is the version of everything below DIR.
	Format = 1
	// Release names the first release that reads Format.
	Release = "0.1"
)

// Identity is what DIR/MOKA says.
type Identity struct {
	Format  int
	Release string
	ID      [16]byte
}

func (id Identity) encode() []byte {
	return fmt.Appendf(nil, "%s\nformat %d\nrelease %s\nid %x\n", magicLine, id.Format, id.Release, id.ID)
}

// decodeIdentity reads the file. It is strict for its own format and reads only the first three lines of a newer one.
func decodeIdentity(b []byte) (Identity, error) {
	lines := strings.Split(string(b), "\n")
	bad := func(why string) (Identity, error) {
		return Identity{}, kv.Errorf(kv.CodeCorrupt, "engine.Open", "the file %s is damaged (%s); restore the directory from a backup", identityFile, why)
	}
	if len(lines) < 3 || lines[0] != magicLine {
		return bad("it does not begin with " + strconv.Quote(magicLine))
	}
	format, ok := strings.CutPrefix(lines[1], "format ")
	n, err := strconv.Atoi(format)
	if !ok || err != nil || n < 1 {
		return bad("no format")
	}
	release, ok := strings.CutPrefix(lines[2], "release ")
	if !ok {
		return bad("no release")
	}
	id := Identity{Format: n, Release: release}
	if n > Format {
		return id, nil
	}
	if len(lines) != 5 || lines[4] != "" {
		return bad("wrong number of lines")
	}
	hexID, ok := strings.CutPrefix(lines[3], "id ")
	raw, err := hex.DecodeString(hexID)
	if !ok || err != nil || len(raw) != len(id.ID) {
		return bad("no id")
	}
	copy(id.ID[:], raw)
	return id, nil
}

// checkDirectory reports whether the directory is a store; it touches nothing. Foreign is an error.
func checkDirectory(fsys vfs.FS, dir string) (exists bool, err error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, openError(dir, err)
	}
	var foreign []string
	for _, name := range names {
		switch name {
		case identityFile:
			return true, nil
		case identityFile + ".tmp", "lost+found":
		case pebbleDir:
			// A first start that died before it wrote MOKA leaves this with nothing but a lock in it.
			if inner, err := fsys.List(fsys.PathJoin(dir, name)); err != nil || len(inner) > 1 || len(inner) == 1 && inner[0] != "LOCK" {
				foreign = append(foreign, name)
			}
		default:
			foreign = append(foreign, name)
		}
	}
	if len(foreign) > 0 {
		return false, kv.Errorf(kv.CodeForeignData, "engine.Open",
			"%s is not empty and holds no Moka data (there is %q in it); name an empty or new directory with --data", dir, foreign[0])
	}
	return false, nil
}

// readIdentity reads DIR/MOKA and refuses formats that this release does not know.
func readIdentity(fsys vfs.FS, dir string) (Identity, error) {
	f, err := fsys.Open(fsys.PathJoin(dir, identityFile))
	if err != nil {
		return Identity{}, openError(dir, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return Identity{}, openError(dir, err)
	}
	id, err := decodeIdentity(b)
	if err != nil {
		return Identity{}, err
	}
	if id.Format > Format {
		return Identity{}, kv.Errorf(kv.CodeForeignData, "engine.Open",
			"%s was written by a newer Moka (format %d, this release knows %d); start it with release %s or later", dir, id.Format, Format, id.Release)
	}
	return id, nil
}

// writeIdentity makes DIR/MOKA appear whole or not at all.
func writeIdentity(fsys vfs.FS, dir string) (Identity, error) {
	id := Identity{Format: Format, Release: Release}
	rand.Read(id.ID[:])
	path := fsys.PathJoin(dir, identityFile)
	f, err := fsys.Create(path+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return Identity{}, openError(dir, err)
	}
	_, err = io.Copy(f, bytes.NewReader(id.encode()))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(path+".tmp", path)
	}
	if err == nil {
		err = syncDir(fsys, dir)
	}
	if err != nil {
		return Identity{}, openError(dir, err)
	}
	return id, nil
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
