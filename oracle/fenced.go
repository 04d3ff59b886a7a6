package oracle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"moka/kv"
	"moka/kv/coord"
)

// fencedKey is a key that only the leader of one epoch writes. Two conditions guard every write. The
// leadership's fence stops a deposed leader, however late its write arrives. The key's own revision stops an
// older write of the same leader, one whose reply was lost, from landing after a newer one.
type fencedKey struct {
	svc  coord.Service
	lead *coord.Leadership
	key  string

	rev    coord.Revision
	unsure bool // rev may be out of date, because the outcome of a write is not known
}

// load reads the value and remembers its revision for the next store.
func (f *fencedKey) load(ctx context.Context) (value []byte, ok bool, err error) {
	cur, err := f.svc.Get(ctx, f.key)
	switch {
	case errors.Is(err, coord.ErrNotFound):
		f.rev, f.unsure = 0, false
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	f.rev, f.unsure = cur.ModRev, false
	return cur.Value, true, nil
}

// store writes value, or reports ErrFenced if the epoch has passed. After any other error the value may have
// been written or may still be; the next store finds out.
func (f *fencedKey) store(ctx context.Context, value []byte) error {
	if f.unsure {
		if _, _, err := f.load(ctx); err != nil {
			return err
		}
	}
	rev, err := f.svc.Txn(ctx, []coord.Cond{f.lead.Fence(), coord.AtModRev(f.key, f.rev)},
		[]coord.Op{coord.Put(f.key, value)})
	if err == nil {
		f.rev = rev
		return nil
	}
	f.unsure = true
	if !errors.Is(err, coord.ErrConflict) {
		return err
	}
	// One of the two conditions. The fence alone tells which: if it holds, an earlier write of ours has
	// landed late.
	if _, fence := f.svc.Txn(ctx, []coord.Cond{f.lead.Fence()}, nil); errors.Is(fence, coord.ErrConflict) {
		return &Error{Code: CodeFenced, Epoch: uint64(f.lead.Epoch()), Err: err}
	}
	return err
}

// The two records in the coordination service, integers big endian:
//
//	ceiling     | version 1 B = 1 | epoch 8 B | ceiling 8 B |     no timestamp >= ceiling was ever handed out
//	safepoint   | version 1 B = 1 | timestamp 8 B |
const recordVersion = 1

type ceilingRecord struct {
	epoch   coord.Revision // of the leader that wrote it
	ceiling kv.Timestamp
}

func encodeCeiling(r ceilingRecord) []byte {
	b := binary.BigEndian.AppendUint64([]byte{recordVersion}, uint64(r.epoch))
	return binary.BigEndian.AppendUint64(b, uint64(r.ceiling))
}

func decodeCeiling(b []byte) (ceilingRecord, error) {
	if err := checkRecord("ceiling", b, 17); err != nil {
		return ceilingRecord{}, err
	}
	r := ceilingRecord{coord.Revision(binary.BigEndian.Uint64(b[1:])),
		kv.Timestamp(binary.BigEndian.Uint64(b[9:]))}
	if r.ceiling > kv.MaxTimestamp {
		return ceilingRecord{}, fmt.Errorf("ceiling record: %d is no timestamp", uint64(r.ceiling))
	}
	return r, nil
}

func encodeSafePoint(ts kv.Timestamp) []byte {
	return binary.BigEndian.AppendUint64([]byte{recordVersion}, uint64(ts))
}

func decodeSafePoint(b []byte) (kv.Timestamp, error) {
	if err := checkRecord("safepoint", b, 9); err != nil {
		return 0, err
	}
	return kv.Timestamp(binary.BigEndian.Uint64(b[1:])), nil
}

func checkRecord(name string, b []byte, size int) error {
	if len(b) > 0 && b[0] != recordVersion {
		return fmt.Errorf("%s record: format version %d, this program reads %d", name, b[0], recordVersion)
	}
	if len(b) != size {
		return fmt.Errorf("%s record: %d bytes, expected %d", name, len(b), size)
	}
	return nil
}
