package engine

import (
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Stats are the figures of the store that an operator or a measurement asks for. All of Pebble's are in Metrics.
type Stats struct {
	LogSyncs      uint64 // fsyncs of the log
	LogSyncTime   time.Duration
	LogBytesIn    uint64 // that commits brought
	LogBytes      uint64 // that were written for them
	LogFiles      int64
	LogRecycled   uint64 // segments that were used again, in their place on the disk
	CacheBytes    int64  // of blocks held now
	CacheHits     int64
	CacheMisses   int64
	MemTableBytes uint64
	MemTables     int64
	TableBytes    uint64 // on disk
	FlushedBytes  uint64
	ValueBytes    uint64 // on disk in files of values
	// CompactedBytes were written by compactions; with FlushedBytes and LogBytes they are the write amplification.
	CompactedBytes uint64
	CompactionDebt uint64
	L0Files        int64
	ReadAmp        int
	IteratorsOpen  int64
	FilterHits     int64 // tables that a bloom filter spared
	FilterMisses   int64
	StalledFor     time.Duration // writes are held up since; see Admit
}

// Stats returns the figures.
func (e *Engine) Stats() Stats {
	m := e.db.Metrics()
	total := m.Total()
	s := Stats{
		LogBytesIn: m.WAL.BytesIn, LogBytes: m.WAL.BytesWritten, LogFiles: m.WAL.Files,
		CacheBytes: m.BlockCache.Size, CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses,
		MemTableBytes: m.MemTable.Size, MemTables: m.MemTable.Count,
		TableBytes: m.DiskSpaceUsage(), FlushedBytes: total.TableBytesFlushed, CompactedBytes: total.TableBytesCompacted,
		CompactionDebt: m.Compact.EstimatedDebt, L0Files: m.Levels[0].TablesCount, ReadAmp: m.ReadAmp(), IteratorsOpen: m.TableIters,
		FilterHits: m.Filter.Hits, FilterMisses: m.Filter.Misses,
	}
	s.StalledFor, s.LogRecycled = e.StalledFor(), e.recycled.Load()
	s.ValueBytes = m.BlobFiles.Local.LiveSize
	if h := m.LogWriter.FsyncLatency; h != nil {
		var d dto.Metric
		if h.Write(&d) == nil {
			s.LogSyncs = d.GetHistogram().GetSampleCount()
			s.LogSyncTime = time.Duration(d.GetHistogram().GetSampleSum())
		}
	}
	return s
}
