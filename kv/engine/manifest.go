package engine

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble takes the first bad chunk of its MANIFEST for the torn end of a crash, reads no further, and removes as obsolete the
// tables that only the rest names: damage in the middle would lose data without a word. So the file is looked through before: where
// something whole follows something bad, it is damage, and nothing is opened.
//
// The file is a sequence of blocks of 32 KiB, each a sequence of chunks:
//
//	+----------------+---------------+--------------+---------+
//	| crc32c u32 LE  | length u16 LE | type 1 (1-4) | payload |    the checksum is of type and payload, masked
//	+----------------+---------------+--------------+---------+
const (
	manifestBlock  = 32 << 10
	manifestHeader = 7
)

// checkManifest returns an error that is a corruption if the store's MANIFEST is damaged elsewhere than at its end. exists says whether there is
// a store at all; logs is the first log that the tables do not make superfluous.
func checkManifest(fsys vfs.FS, store string) (exists bool, logs uint64, err error) {
	desc, err := pebble.Peek(store, fsys)
	if err != nil || !desc.Exists {
		return false, 0, err
	}
	b, err := readFile(fsys, desc.ManifestFilename)
	if errors.Is(err, fs.ErrNotExist) {
		return true, 0, &corruption{path: desc.ManifestFilename, err: err}
	}
	if err != nil {
		return true, 0, err
	}
	bad := wholeChunks(b)
	if bad == 0 {
		return true, 0, &corruption{path: desc.ManifestFilename, err: errors.New("its first record is bad")}
	}
	for at := bad + 1; at+manifestHeader <= len(b); at++ {
		if chunkAt(b, at) > 0 {
			return true, 0, &corruption{path: desc.ManifestFilename, err: errors.New("a bad record in the middle")}
		}
	}
	if logs, err = firstLog(b[:bad]); err != nil {
		return true, 0, &corruption{path: desc.ManifestFilename, err: err}
	}
	return true, logs, nil
}

// wholeChunks returns how far the file is good.
func wholeChunks(b []byte) int {
	at := 0
	for {
		if left := manifestBlock - at%manifestBlock; left < manifestHeader {
			at += left // too small for a header: padding
		}
		n := chunkAt(b, at)
		if n == 0 {
			return min(at, len(b))
		}
		at += n
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunkAt returns the length of the whole chunk at an offset, zero if there is none.
func chunkAt(b []byte, at int) int {
	if at+manifestHeader > len(b) {
		return 0
	}
	h := b[at:]
	end := manifestHeader + int(binary.LittleEndian.Uint16(h[4:]))
	if h[6] < 1 || h[6] > 4 || end > len(h) || at%manifestBlock+end > manifestBlock {
		return 0
	}
	c := crc32.Checksum(h[6:end], castagnoli)
	if binary.LittleEndian.Uint32(h) != (c>>15|c<<17)+0xa282ead8 {
		return 0
	}
	return end
}
