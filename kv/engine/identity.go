package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// The node's directory:
//
//	DIR/MOKA      what this directory is, in four lines that a person can read
//	DIR/LOGS      which logs the store has, and how far they are durable; see logrecord.go
//	DIR/pebble/   the store
//	DIR/lost/     what --accept-data-loss set aside
//
//	+-----------------------------+
//	| moka store                  |
//	| format 3                    |   raised when an older release could not read what a newer one wrote
//	| release 0.2                 |   the release that can, for the message to whoever starts the older one
//	| id 0123456789abcdef...      |   16 random bytes in hex: two stores are never taken for each other
//	+-----------------------------+
//
// A directory with other things in it is somebody else's: nothing in it is touched. Format 1 had no LOGS, and
// up to 2 acknowledgements of observers were among the rows. Both become 3 when they are opened: an older
// release would not keep LOGS true, nor look where acknowledgements are now.
const (
	identityFile = "MOKA"
	pebbleDir    = "pebble"
	magicLine    = "moka store"

	// Format is the version of everything below DIR.
	Format = 3
	// Release names the first release that reads Format.
	Release = "0.2"
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
	begun := slices.Contains(names, identityFile+".tmp") // by a first start that died
	for _, name := range names {
		switch name {
		case identityFile:
			return true, nil
		case identityFile + ".tmp", "lost+found":
		case recordFile, recordFile + ".tmp":
			if !begun {
				foreign = append(foreign, name)
			}
		case pebbleDir:
			inner, err := fsys.List(fsys.PathJoin(dir, name))
			if err != nil || !begun && (len(inner) > 1 || len(inner) == 1 && inner[0] != "LOCK") {
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

// announce writes DIR/MOKA.tmp: a first start has begun, and what is in the directory from now on is ours. Only when there is a whole store it
// becomes DIR/MOKA, so that one without a store has lost it.
func announce(fsys vfs.FS, dir string, id Identity) error {
	err := writeFile(fsys, fsys.PathJoin(dir, identityFile+".tmp"), id.encode())
	if err == nil {
		err = syncDir(fsys, dir)
	}
	return err
}

// establish makes DIR/MOKA appear, or say something else, whole or not at all.
func establish(fsys vfs.FS, dir string) error {
	path := fsys.PathJoin(dir, identityFile)
	err := fsys.Rename(path+".tmp", path)
	if err == nil {
		err = syncDir(fsys, dir)
	}
	return err
}

func newIdentity() Identity {
	id := Identity{Format: Format, Release: Release}
	rand.Read(id.ID[:])
	return id
}

// writeFile writes a whole file and makes it durable; its name is as durable as its directory.
func writeFile(fsys vfs.FS, path string, b []byte) error {
	f, err := fsys.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Clone(b)) // Write may change what it is given
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
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
