package txn

import (
	"moka/kv"
	"moka/txn/longread"
	"moka/txn/newest"
)

// CoprocessorOptions of the part that runs in the store. The zero value of each field means its default.
type CoprocessorOptions struct {
	// MaxRequires bounds, for each shard, the columns whose newest Require is remembered exactly. Default 65536.
	MaxRequires int
	// NoAsyncCommit makes the node's shards lock plainly whatever clients ask for, so that every commit that crosses shards
	// has two phases. Nodes of one cluster may differ.
	NoAsyncCommit bool
	// MaxRowLocks bounds the columns that are locked in a shard at a time. Default 1048576.
	MaxRowLocks int
	// ScanFrom is the number of columns from which a request looks at their versions with one iterator instead of one by one.
	// Default 64.
	ScanFrom int
	// RangeFrom is the number of columns with superseded versions from which a scan's range is worth remembering; -1: none is. Default 4.
	RangeFrom int
	// RecentSlots is the number of slots that the columns of a shard share for their newest commits, a power of two. Default 16384.
	RecentSlots int
	// HotBytes bounds the versions that are remembered because they are read over and over. Default 1024.
	HotBytes int
	// Programs makes the program of a scan from what its client sent; see Program. Without it scans with programs are refused.
	Programs func(program []byte) (Program, error)
	// LongReads is how many scans and long values are read at a time; each may take some 128 MiB before
	// anybody is charged for it. Default 8.
	LongReads int

	longReads longread.Gate
}

// coprocessor is Percolator's verbs beside the data. Each verb is a function of what it reads and of its request.
type coprocessor struct{ o CoprocessorOptions }

// NewCoprocessor returns what a node registers to serve transactions.
func NewCoprocessor(o CoprocessorOptions) kv.Coprocessor { return &coprocessor{o: o.withDefaults()} }

func (o CoprocessorOptions) withDefaults() CoprocessorOptions {
	if o.LongReads <= 0 {
		o.LongReads = 8
	}
	o.longReads = make(longread.Gate, o.LongReads)
	if o.MaxRequires <= 0 {
		o.MaxRequires = 1 << 16
	}
	if o.MaxRowLocks <= 0 {
		o.MaxRowLocks = 1 << 20
	}
	if o.ScanFrom <= 0 {
		o.ScanFrom = 64
	}
	if o.RangeFrom == 0 {
		o.RangeFrom = 4
	}
	if o.RecentSlots <= 0 || o.RecentSlots&(o.RecentSlots-1) != 0 {
		o.RecentSlots = newest.Default
	}
	if o.HotBytes <= 0 {
		o.HotBytes = hotBytes
	}
	return o
}

func (c *coprocessor) Name() string { return "txn" }

func (c *coprocessor) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{
		{ID: kv.GroupTxnWrite, Name: "txn.write"},
		{ID: kv.GroupTxnData, Name: "txn.data"},
		{ID: kv.GroupTxnLock, Name: "txn.lock", InMemory: true},
		{ID: kv.GroupTxnRollback, Name: "txn.rollback"},
		{ID: kv.GroupTxnAck, Name: "txn.ack"},
	}
}

func (c *coprocessor) OpenShard(s kv.ShardHandle) (any, error) {
	st := newState(s, c.o)
	st.noAsync.Store(c.o.NoAsyncCommit)
	if err := st.loadSafePoints(s.Reader()); err != nil {
		return nil, err
	}
	return st, nil
}

func (c *coprocessor) Commands() []kv.Command {
	return []kv.Command{
		about(readCommand(cmdGet, "txn.Get", evalGet), func(m *getRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.columns {
				rows = append(rows, c.Row)
			}
			return rows
		}),
		about(readCommand(cmdGetLatest, "txn.GetLatest", evalGetLatest), func(m *latestRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.columns {
				rows = append(rows, c.Row)
			}
			return rows
		}),
		about(readCommand(cmdScan, "txn.Scan", evalScan), (*scanRequest).about),
		about(readCommand(cmdScanSince, "txn.ScanSince", evalScanSince), func(m *sinceRequest, rows []kv.RowKey) []kv.RowKey {
			return m.scan.about(rows)
		}),
		about(readCommand(cmdScanAcks, "txn.ScanAcks", evalScanAcks), (*acksRequest).about),
		about(readCommand(cmdScanProgram, "txn.ScanProgram", evalScanProgram), func(m *programRequest, rows []kv.RowKey) []kv.RowKey {
			return m.scan.about(rows)
		}),
		readCommand(cmdScanLocks, "txn.ScanLocks", evalScanLocks),
		readCommand(cmdSeed, "txn.Seed", evalSeed),
		writeCommand(cmdPrewrite, "txn.Prewrite", exclusiveRows, evalPrewrite),
		writeCommand(cmdCommitOnePhase, "txn.CommitOnePhase", exclusiveRows, evalCommitOnePhase),
		writeCommand(cmdCommit, "txn.Commit", func(m *commitRequest, rows []kv.RowKey) []kv.RowKey {
			return append(rows, m.primary.Row)
		}, evalCommit),
		writeCommand(cmdRollback, "txn.Rollback", func(m *rollbackRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.columns {
				rows = append(rows, c.Row)
			}
			return rows
		}, evalRollback),
		writeCommand(cmdCheckStatus, "txn.CheckStatus", func(m *statusRequest, rows []kv.RowKey) []kv.RowKey {
			return append(rows, m.primary.Row)
		}, evalCheckStatus),
		// No latches but of primaries: see evalResolve.
		writeCommand(cmdResolve, "txn.Resolve", func(m *resolveRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.primaries {
				rows = append(rows, c.Row)
			}
			return rows
		}, evalResolve),
		writeCommand(cmdCheckSecondaries, "txn.CheckSecondaries", func(m *secondariesRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.columns {
				rows = append(rows, c.Row)
			}
			return rows
		}, evalCheckSecondaries),
		writeCommand(cmdHeartbeat, "txn.Heartbeat", func(m *heartbeatRequest, rows []kv.RowKey) []kv.RowKey {
			return append(rows, m.primary.Row)
		}, evalHeartbeat),
		writeCommand(cmdLock, "txn.Lock", func(m *lockRequest, rows []kv.RowKey) []kv.RowKey {
			for _, c := range m.columns {
				rows = append(rows, c.Row)
			}
			return rows
		}, evalLock),
		readCommand(cmdAwaitLock, "txn.AwaitLock", evalAwaitLock),
		readCommand(cmdUnlock, "txn.Unlock", evalUnlock),
		readCommand(cmdKeepLocks, "txn.KeepLocks", evalKeepLocks),
		readCommand(cmdDetect, "txn.Detect", evalDetect),
		readCommand(cmdListLocks, "txn.ListLocks", evalListLocks),
		// No latches: see evalCollect.
		writeCommand(cmdCollect, "txn.Collect", func(_ *collectRequest, rows []kv.RowKey) []kv.RowKey { return rows }, evalCollect),
		writeCommand(cmdDropRange, "txn.DropRange", func(_ *dropRequest, rows []kv.RowKey) []kv.RowKey { return rows }, evalDropRange),
		writeCommand(cmdSafePoint, "txn.SafePoint", func(m *safePointRequest, rows []kv.RowKey) []kv.RowKey {
			return append(rows, m.row)
		}, evalSafePoint),
		readCommand(cmdDeadlocks, "txn.Deadlocks", evalDeadlocks),
	}
}

// exclusiveRows are the rows to latch: not those that are only required. A parent row with many children would otherwise be
// locked from one child's log sync to the next; checkRequire does without.
func exclusiveRows(m *writeRequest, rows []kv.RowKey) []kv.RowKey {
	for _, mu := range m.mutations {
		if !mu.kind.Shared() {
			rows = append(rows, mu.column.Row)
		}
	}
	return rows
}

// message ties a struct to its pointer's methods, so that commands are declared with their types.
type message[T any] interface {
	*T
	kv.Message
}

func readCommand[Q, P any, PQ message[Q], PP message[P]](id kv.CommandID, name string, f func(kv.Eval, *state, PQ) (PP, error)) kv.Command {
	return kv.Command{
		ID: id, Name: name,
		NewRequest:  func() kv.Message { return PQ(new(Q)) },
		NewResponse: func() kv.Message { return PP(new(P)) },
		Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
			resp, err := f(e, e.State().(*state), req.(PQ))
			if err != nil {
				return nil, err // not a nil pointer in an interface
			}
			return resp, nil
		},
	}
}

// about is where the scan goes on.
func (m *scanRequest) about(rows []kv.RowKey) []kv.RowKey {
	if m.resume {
		return append(rows, m.after.Row)
	}
	return append(rows, m.span.Start)
}

// about says which rows a read command reads, by which the shard counts what is asked of its tablets.
func about[PQ kv.Message](c kv.Command, rows func(PQ, []kv.RowKey) []kv.RowKey) kv.Command {
	c.Rows = func(req kv.Message, all []kv.RowKey) []kv.RowKey { return rows(req.(PQ), all) }
	return c
}

func writeCommand[Q, P any, PQ message[Q], PP message[P]](id kv.CommandID, name string, rows func(PQ, []kv.RowKey) []kv.RowKey, f func(kv.Eval, *state, PQ) (PP, error)) kv.Command {
	c := readCommand[Q, P, PQ, PP](id, name, f)
	c.Write = true
	c.Rows = func(req kv.Message, r []kv.RowKey) []kv.RowKey { return rows(req.(PQ), r) }
	return c
}
