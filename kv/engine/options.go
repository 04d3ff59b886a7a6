package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure an engine. Zero values mean defaults.
type Options struct {
	// FS is the file system below; nil is the machine's, watched for slow operations.
	FS vfs.FS
	// CacheBytes is the memory for blocks and memtables; default 256 MiB. Pebble reserves memtables from the cache.
	CacheBytes int64
	// MemTableBytes is the size of one memtable, of which there may be four; default an eighth of the cache, 4 to 64 MiB. Large ones spare
	// compactions, but seek slower: 7 µs with 800,000 entries, against 1.4 µs in tables. Small ones make
	// tests flush. It is a quarter of the ballast at most.
	MemTableBytes uint64
	// Logger gets what an operator wants to know; nil discards it.
	Logger *slog.Logger
	// Fatal is called once, when the process must die rather than go on. Nil prints the message to standard error and exits
	// with status 1. If it returns, the goroutine that met the failure stays where it is for ever: Pebble's code after its
	// own Fatalf assumes that there is none.
	Fatal func(err error)
	// SeparateValues is the size from which on values are written to files of their own, which compactions leave where they are; zero writes
	// them into the tables. A store that was opened with it once keeps the newer format for ever, and opens with any setting. See DESIGN.md
	// before you turn it on.
	SeparateValues int
	// OpenTables is how many files of tables are kept open; default 512. Pebble's 1,000 do not fit into the limit that a shell gives by default.
	OpenTables int
	// Ballast is the room, in bytes, that is kept for a disk that is full, in DIR/BALLAST; see room.go. Zero is none: a full disk is the end
	// of the process then. AutoBallast chooses.
	Ballast int64
	// AcceptDataLoss opens a store that has lost acknowledged changes, with what is left of it; what is set aside goes to DIR/lost.
	AcceptDataLoss bool
	// SpanPolicy chooses compression by key range; nil leaves it at Pebble's default.
	SpanPolicy pebble.SpanPolicyFunc
}

const (
	// memTables is how many memtables there may be before writes wait for one to be written out.
	memTables     = 4
	leastMemTable = 64 << 10
)

// DefaultCacheBytes is the size of the cache where nothing else is said.
const DefaultCacheBytes = 256 << 20

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = uint64(min(max(o.CacheBytes/8, 4<<20), 64<<20))
	}
	if o.OpenTables == 0 {
		o.OpenTables = 512
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Fatal == nil {
		o.Fatal = func(err error) {
			fmt.Fprintln(os.Stderr, "moka: the store cannot go on:", err)
			os.Exit(1)
		}
	}
	return o
}

// diskStall is how long one disk operation may take before it is reported.
const diskStall = 5 * time.Second

// pebbleOptions are the choices that matter; Pebble's defaults are those of an embedded toy (8 MB of cache, 4 MB memtables,
// the oldest on-disk format, whose row blocks seek at half the speed). Each comment says what the choice buys.
func (e *Engine) pebbleOptions(o Options) (*pebble.Options, io.Closer) {
	fsys := o.FS
	if e.room.size > 0 {
		fsys = vfs.OnDiskFull(fsys, e.room.exhausted)
	}
	fs, health := vfs.WithDiskHealthChecks(fsys, diskStall, nil, func(i vfs.DiskSlowInfo) {
		o.Logger.Warn("disk is slow", "detail", i.String())
	})
	e.logs = &logFS{FS: fs, record: e.record, room: e.room}
	p := &pebble.Options{
		FS: e.logs,
		// Columnar blocks, and a log whose sync chunks tell a torn tail from corruption. Pinned: the newest format admits value separation,
		// which still has open corruption reports.
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Comparer:           &cockroachkvs.Comparer,
		KeySchema:          cockroachkvs.KeySchema.Name,
		KeySchemas:         keySchemas,
		// The time interval of each block and table: what a change feed will skip by.
		BlockPropertyCollectors: cockroachkvs.BlockPropertyCollectors,

		CacheSize:                   o.CacheBytes - o.CacheBytes/4, // the rest is for what reads and writes need around blocks, and for garbage
		MemTableSize:                o.MemTableBytes,
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               e.room.largestCompaction(64 << 20),
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, runtime.GOMAXPROCS(0)/2) },
		MaxOpenFiles:                o.OpenTables,

		WALMinSyncInterval: e.groupWait,

		Logger: pebbleLogger{e},
	}
	p.TargetFileSizes[0] = e.room.smallestTable(2 << 20) // of L0; Pebble doubles it from level to level
	for i := range p.Levels {
		l := &p.Levels[i]
		l.BlockSize = 32 << 10
		l.IndexBlockSize = 256 << 10
		l.FilterPolicy = bloom.FilterPolicy(10) // on the key without its version: one entry for each column
		l.FilterType = pebble.TableFilter
		// What a span policy does not want fast gets small where most of it lies. Adaptive: zstd is asked once in a while whether it would
		// save a fifth more, so that values that do not compress cost nothing.
		l.Compression = func() *block.CompressionProfile { return block.FastestCompression }
		if i == len(p.Levels)-1 {
			l.Compression = func() *block.CompressionProfile { return block.BalancedCompression }
		}
	}
	if o.SeparateValues > 0 {
		p.FormatMajorVersion = pebble.FormatValueSeparation
		p.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
			return pebble.ValueSeparationPolicy{
				Enabled: true, MinimumSize: o.SeparateValues, MaxBlobReferenceDepth: 10,
				// A quarter of the files may be garbage; what is younger is likely to become so.
				TargetGarbageRatio: 0.25, RewriteMinimumAge: 5 * time.Minute,
			}
		}
	}
	// Compactions that reads trigger compete with the reads that they are to help.
	p.Experimental.ReadSamplingMultiplier = -1
	p.Experimental.SpanPolicyFunc = o.SpanPolicy
	p.Experimental.CompactionScheduler = e.pace
	p.EventListener = &pebble.EventListener{
		BackgroundError: e.backgroundError,
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			e.damaged.note(i.Path, e.o.Logger, i.Details)
		},
		WALCreated: func(i pebble.WALCreateInfo) {
			if i.RecycledFileNum != 0 {
				e.recycled.Add(1)
			}
			if i.Err == nil {
				e.record.created(uint64(i.FileNum))
			}
		},
		FlushEnd: func(i pebble.FlushInfo) {
			e.unflushed.look.Store(true)
			if errors.Is(i.Err, syscall.ENOSPC) {
				e.unflushable.Add(1)
			} else { // it has gone well, or there was nothing to write, which is an error of Pebble's too
				e.unflushable.Store(0)
			}
		},
		CompactionEnd: func(i pebble.CompactionInfo) { e.pace.ended(i.Err) },
		WriteStallBegin: func(i pebble.WriteStallBeginInfo) {
			e.stalled.CompareAndSwap(0, time.Now().UnixNano())
			o.Logger.Warn("writes stall: the disk does not keep up with them", "reason", i.Reason)
		},
		WriteStallEnd: func() {
			e.stalled.Store(0)
			o.Logger.Warn("writes go on")
		},
	}
	return p, health
}

// pebbleLogger gives Pebble's remarks to the engine's logger, and its death sentences to the engine.
type pebbleLogger struct{ e *Engine }

func (l pebbleLogger) Infof(format string, args ...any) {
	if l.e.o.Logger.Enabled(context.Background(), slog.LevelDebug) {
		l.e.o.Logger.Debug(fmt.Sprintf(format, args...))
	}
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.e.complain(fmt.Errorf(format, args...))
}

func (l pebbleLogger) Fatalf(format string, args ...any) { l.e.die(fmt.Errorf(format, args...)) }
