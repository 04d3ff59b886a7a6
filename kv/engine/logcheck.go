package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// Pebble takes the first bad chunk of its newest log for the end that a crash tore, and a log that is not there for one that it does not need.
// Whoever cuts or removes a log, or a disk that forgets what it said was durable, would lose acknowledged changes without a word. So the logs are
// looked through before Pebble opens them, by three things that a crash cannot bring about:
//
//	missing   the record has a log that the MANIFEST still needs, and it is not there
//	cut       a log has no whole chunks up to where the record says that it was durable
//	damaged   a bad chunk, and behind it one that says that the log was durable beyond it (Pebble's sync chunks)
//
// A log is blocks of 32 KiB of chunks; no chunk crosses a block, what is too small for one is zero:
//
//	+------------+------------+--------+-----------------+--------------------------+---------+
//	| crc32c u32 | length u16 | type 1 | log's number u32 | durable up to u64 (9-12) | payload |   types 5-8, 9-12; the checksum is masked
//	+------------+------------+--------+-----------------+--------------------------+---------+
const (
	logBlock      = 32 << 10
	logHeader     = 11
	logSyncHeader = 19
	// logPadding is the most that is left over at the end of a block.
	logPadding = logSyncHeader - 1
)

// logChunk reads the chunk at an offset: its length, zero if there is none, and how far it says that the log was durable. The mark behind the last
// chunk of a log that was closed counts as one.
func logChunk(b []byte, at int, number uint64) (n int, promised uint64) {
	h := b[at:]
	if at%logBlock+logHeader > logBlock || len(h) < logHeader {
		return 0, 0
	}
	kind, header, log := h[6], logHeader, binary.LittleEndian.Uint32(h[7:])
	length := int(binary.LittleEndian.Uint16(h[4:]))
	if kind == 5 && length == 0 && log == uint32(number)+1 {
		return logHeader, 0
	}
	if kind >= 9 {
		header = logSyncHeader
	}
	end := header + length
	if kind < 5 || kind > 12 || log != uint32(number) || end > len(h) || at%logBlock+end > logBlock {
		return 0, 0
	}
	c := crc32.Checksum(h[6:end], castagnoli)
	if binary.LittleEndian.Uint32(h) != (c>>15|c<<17)+0xa282ead8 {
		return 0, 0
	}
	if header == logSyncHeader {
		promised = binary.LittleEndian.Uint64(h[11:])
	}
	return end, promised
}

// wholeLog returns how far a log is whole, where the last whole record ends, and how far its chunks say that it was durable.
func wholeLog(b []byte, number uint64) (whole, records int, promised uint64) {
	at := 0
	for {
		at = skipPadding(b, at)
		n, p := logChunk(b, at, number)
		if n == 0 {
			break
		}
		promised = max(promised, p)
		at += n
		if k := b[at-n+6]; k == 5 || k == 8 || k == 9 || k == 12 { // the only chunk of a record, or its last
			records = at
		}
	}
	for from := (at/logBlock + 1) * logBlock; from < len(b); from += logBlock {
		for in := from; in < len(b); {
			n, p := logChunk(b, in, number)
			if n == 0 {
				break
			}
			promised = max(promised, p)
			in += n
		}
	}
	return at, records, promised
}

// skipPadding goes to the next block where the rest of this one is too small for a chunk and zero.
func skipPadding(b []byte, at int) int {
	at = min(at, len(b))
	left := logBlock - at%logBlock
	if left > logPadding || at+left > len(b) {
		return at
	}
	for _, x := range b[at : at+left] {
		if x != 0 {
			return at
		}
	}
	return at + left
}

// logLoss is a log that has less than was durable.
type logLoss struct {
	name    string
	missing bool
	whole   int // bytes
	records int
	durable uint64
}

func (l *logLoss) Error() string {
	if l.missing {
		return fmt.Sprintf("the log %s is not there", l.name)
	}
	return fmt.Sprintf("the log %s is whole up to byte %d only, and was durable up to byte %d", l.name, l.whole, l.durable)
}

// checkLogs finds the first log that has lost something, nil if none has. min is the first log that the MANIFEST needs.
func checkLogs(fsys vfs.FS, store string, logs []logState, min uint64) (*logLoss, error) {
	logs = slices.Clone(logs)
	names, err := fsys.List(store)
	if err != nil {
		return nil, err
	}
	for _, name := range names { // a log that the record does not have yet, or an older one's: its own chunks still speak
		n, ok := logNumber(name)
		if ok && !slices.ContainsFunc(logs, func(l logState) bool { return l.number == n }) {
			logs = append(logs, logState{number: n})
		}
	}
	slices.SortFunc(logs, func(a, b logState) int { return int(int64(a.number) - int64(b.number)) })
	for _, l := range logs {
		if l.number < min {
			continue
		}
		loss, err := checkLog(fsys, store, l)
		if loss != nil || err != nil {
			return loss, err
		}
	}
	return nil, nil
}

func checkLog(fsys vfs.FS, store string, l logState) (*logLoss, error) {
	name := logName(l.number)
	b, err := readFile(fsys, fsys.PathJoin(store, name))
	if errors.Is(err, fs.ErrNotExist) {
		return &logLoss{name: name, missing: true}, nil
	}
	if err != nil {
		return nil, err
	}
	whole, records, promised := wholeLog(b, l.number)
	durable := max(l.synced, promised)
	if uint64(whole) >= durable {
		return nil, nil
	}
	return &logLoss{name: name, whole: whole, records: records, durable: durable}, nil
}

func readFile(fsys vfs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// lostDir is where AcceptDataLoss puts what it sets aside.
const lostDir = "lost"

// acceptLoss makes the logs end where the loss begins: a damaged log keeps its whole records, later ones go, since what they hold builds on what
// is lost. Nothing is thrown away: the logs as they were are in DIR/lost. The newest goes first, so that what a crash leaves here is a loss of the
// same kind.
func acceptLoss(fsys vfs.FS, dir string, loss *logLoss) error {
	from, _ := logNumber(loss.name)
	err := setAside(fsys, dir, func(name string) bool {
		n, ok := logNumber(name)
		return ok && n > from
	})
	if err != nil || loss.missing {
		return err
	}
	store := fsys.PathJoin(dir, pebbleDir)
	path := fsys.PathJoin(store, loss.name)
	b, err := readFile(fsys, path)
	if err != nil {
		return err
	}
	kept, err := freeName(fsys, fsys.PathJoin(dir, lostDir, loss.name))
	if err != nil {
		return err
	}
	if err := writeFile(fsys, kept, b); err != nil {
		return err
	}
	if err := writeFile(fsys, path+".tmp", b[:loss.records]); err != nil {
		return err
	}
	if err := fsys.Rename(path+".tmp", path); err != nil {
		return err
	}
	return errors.Join(syncDir(fsys, fsys.PathJoin(dir, lostDir)), syncDir(fsys, store))
}

// setAside moves files of the store to DIR/lost.
func setAside(fsys vfs.FS, dir string, which func(name string) bool) error {
	store, lost := fsys.PathJoin(dir, pebbleDir), fsys.PathJoin(dir, lostDir)
	if err := fsys.MkdirAll(lost, 0o700); err != nil {
		return err
	}
	names, err := fsys.List(store)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) {
		if !which(name) {
			continue
		}
		to, err := freeName(fsys, fsys.PathJoin(lost, name))
		if err != nil {
			return err
		}
		if err := fsys.Rename(fsys.PathJoin(store, name), to); err != nil {
			return err
		}
	}
	return errors.Join(syncDir(fsys, lost), syncDir(fsys, store))
}

// freeName adds a number where an earlier loss has left a file of that name.
func freeName(fsys vfs.FS, path string) (string, error) {
	for i, free := 1, path; ; i++ {
		switch _, err := fsys.Stat(free); {
		case errors.Is(err, fs.ErrNotExist):
			return free, nil
		case err != nil:
			return "", err
		}
		free = fmt.Sprintf("%s.%d", path, i)
	}
}

// lossError says what is missing and what to do.
func lossError(dir string, err error) error {
	return &kv.Error{Code: kv.CodeCorrupt, Op: "engine.Open", Err: err, Msg: fmt.Sprintf(
		"acknowledged changes are missing from the store in %s: it was cut, emptied, or its disk lost what it had made durable; "+
			"put the files back, or restore a backup elsewhere; to go on without what is lost, start once with --accept-data-loss", dir)}
}
