package engine

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// DIR/LOGS says which logs there are and how far each has been made durable, so that a log that was cut or lost is not taken for the
// unfinished end that every crash leaves. Four pages of 4 KiB:
//
//	page 0, 1   the logs, written in turns and synced whenever a log is made:
//	            | crc32c u32 | magic "LOGS" | turn u64 | count u32 | count x (number u64, synced u64) |     little-endian
//	page 2, 3   how far the newest log is durable, written in turns behind each of its syncs, not synced:
//	            | crc32c u32 | magic "LOGS" | turn u64 | 1 u32     | number u64, synced u64 |
//
// A page's checksum is of all that follows it. Everything the file says goes on being true: a log was made, and it was durable up to there.
// So an older page does no harm, and of two pages the newer whole one counts.
const (
	recordFile  = "LOGS"
	recordPage  = 4096
	recordHead  = 20
	recordEntry = 16
	recordMagic = "LOGS"
	// maxRecorded bounds the logs of a page. Pebble holds writes up when it has four memtables to flush, and each has one log.
	maxRecorded = (recordPage - recordHead) / recordEntry
)

// logState is what is known of one log.
type logState struct {
	number uint64
	synced uint64 // bytes from its beginning that are durable
}

// logRecord is the open file.
type logRecord struct {
	f    vfs.File
	fail func(error)

	mu    sync.Mutex
	turns [2]uint64 // of the last page written of each pair
	logs  []logState
	page  [recordPage]byte
	// mapped is the file in memory. A page is stored there: whoever waits for a commit waits for that,
	// too, and a call of the system there took 4 % of the processor time of inserts and 9 % of their
	// number (8 clients, two busy cores). To a process that is killed a store and a written page are the
	// same. Nil: pages are written.
	mapped []byte
	// flushed is how much of the newest log the durable pages know of.
	flushed uint64
}

// flushEvery is how much is written to a log before the page that follows it is synced, too: one more sync among thousands.
const flushEvery = 1 << 20

// The pairs of pages.
const (
	pairLogs = iota
	pairNewest
)

// createRecord makes the file, or makes it anew with the logs given, and opens it.
func createRecord(fsys vfs.FS, path string, logs []logState, fail func(error)) (*logRecord, error) {
	r := &logRecord{logs: slices.Clone(logs), fail: fail}
	r.encode(0, r.logs)
	// Whole from the first: later writes need no room on the disk.
	err := writeFile(fsys, path+".tmp", append(slices.Clone(r.page[:]), make([]byte, 3*recordPage)...))
	if err == nil {
		err = fsys.Rename(path+".tmp", path)
	}
	if err == nil {
		err = syncDir(fsys, fsys.PathDir(path))
	}
	if err == nil {
		r.f, err = fsys.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	}
	if err != nil {
		return nil, err
	}
	r.mapped = mapRecord(r.f)
	return r, nil
}

// readRecord reads what a file says.
func readRecord(fsys vfs.FS, path string) ([]logState, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4*recordPage))
	if err != nil {
		return nil, err
	}
	logs, ok := newestPage(b, pairLogs)
	if !ok {
		return nil, kv.Errorf(kv.CodeCorrupt, "engine.Open", "%s is damaged", path)
	}
	if last, ok := newestPage(b, pairNewest); ok && len(last) == 1 {
		for i := range logs {
			if logs[i].number == last[0].number {
				logs[i].synced = max(logs[i].synced, last[0].synced)
			}
		}
	}
	return logs, nil
}

// newestPage returns what the newer whole page of a pair says.
func newestPage(b []byte, pair int) (logs []logState, ok bool) {
	var newest uint64
	for page := 2 * pair; page < 2*pair+2; page++ {
		if len(b) < (page+1)*recordPage {
			break
		}
		if turn, l, whole := decodePage(b[page*recordPage : (page+1)*recordPage]); whole && (!ok || turn > newest) {
			newest, logs, ok = turn, l, true
		}
	}
	return logs, ok
}

func (r *logRecord) encode(turn uint64, logs []logState) []byte {
	if n := len(logs); n > maxRecorded {
		logs = logs[n-maxRecorded:]
	}
	b := append(r.page[:4], recordMagic...)
	b = binary.LittleEndian.AppendUint64(b, turn)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(logs)))
	for _, l := range logs {
		b = binary.LittleEndian.AppendUint64(b, l.number)
		b = binary.LittleEndian.AppendUint64(b, l.synced)
	}
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	return b
}

func decodePage(b []byte) (turn uint64, logs []logState, ok bool) {
	if string(b[4:8]) != recordMagic {
		return 0, nil, false
	}
	n := binary.LittleEndian.Uint32(b[16:])
	if n > maxRecorded {
		return 0, nil, false
	}
	end := recordHead + int(n)*recordEntry
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:end], castagnoli) {
		return 0, nil, false
	}
	for at := recordHead; at < end; at += recordEntry {
		logs = append(logs, logState{binary.LittleEndian.Uint64(b[at:]), binary.LittleEndian.Uint64(b[at+8:])})
	}
	return binary.LittleEndian.Uint64(b[8:]), logs, true
}

// write writes the next page of a pair.
func (r *logRecord) write(pair int, logs []logState) error {
	r.turns[pair]++
	turn := r.turns[pair]
	b, at := r.encode(turn, logs), (2*int64(pair)+int64(turn%2))*recordPage
	if r.mapped != nil && pair == pairNewest { // the list of logs is synced at once, and its errors count
		err := storeMapped(r.mapped[at:], b)
		if err == nil {
			return nil
		}
		unmapRecord(r.mapped)
		r.mapped = nil
	}
	_, err := r.f.WriteAt(b, at)
	return err
}

// writeLogs makes the list of logs durable.
func (r *logRecord) writeLogs() error {
	if err := r.write(pairLogs, r.logs); err != nil {
		return err
	}
	return r.f.SyncData()
}

// created says that a log has been made. It is durable before the log gets its first byte, so that no log that holds anything is unknown.
func (r *logRecord) created(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs, r.flushed = append(r.logs, logState{number: number}), 0
	if err := r.writeLogs(); err != nil {
		r.fail(err)
	}
}

// gone says that a log is about to be removed or used again: Pebble needs it no more.
func (r *logRecord) gone(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = slices.DeleteFunc(r.logs, func(l logState) bool { return l.number == number })
}

// synced says how far a log is durable, before anybody who waited for that is answered. The page is left to the system to write out: a process
// that is killed leaves it to the next one, and a machine that loses power an older one, by 1 MiB at most.
// It costs a store into memory where that can be (mapped); a sync would double what a commit costs.
func (r *logRecord) synced(number, size uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.logs {
		if l := &r.logs[i]; l.number == number && size > l.synced {
			l.synced = size
			// Errors are left to the next log's record: what is there stays true.
			if r.write(pairNewest, r.logs[i:i+1]) == nil && size-r.flushed > flushEvery {
				_ = r.f.SyncData()
				r.flushed = size
			}
		}
	}
}

func (r *logRecord) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.writeLogs()
	unmapRecord(r.mapped)
	r.mapped = nil
	if cerr := r.f.Close(); err == nil {
		err = cerr
	}
	return err
}
