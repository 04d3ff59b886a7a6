package bigtable

import (
	"moka/kv"
	"moka/kv/wire"
)

// METADATA is the second of the paper's three levels (Bigtable §5.1): the root location, in the coordination service, names the
// shard that holds it; it names the shard of every tablet. One row for each tablet, under the row where the tablet ends, so that the
// first row behind a key is that of the tablet which holds it:
//
//	row        01 | end of the tablet       or 02 for the tablet without an end
//	column     family 0, qualifier "tablet"
//	value      01 | tablet                  as kv/wire draws it
//
// It is an index: the shards' own tablet tables decide, and METADATA is repaired from them at start.
const (
	metaBounded   = 0x01
	metaUnbounded = 0x02

	metaFamily    kv.FamilyID  = 0
	metaTimestamp kv.Timestamp = 0 // rows are overwritten in place: only the present matters

	metaVersion = 1
)

var metaQualifier = []byte("tablet")

// metaRow returns the row of the tablet that ends there.
func metaRow(end kv.RowKey) kv.RowKey {
	if len(end) == 0 {
		return kv.MakeRowKey(kv.TableMeta, []byte{metaUnbounded})
	}
	return kv.MakeRowKey(kv.TableMeta, append([]byte{metaBounded}, end...))
}

func metaAddress(row kv.RowKey) kv.Address {
	return kv.Address{Group: GroupMeta, Column: kv.Column{Row: row, Family: metaFamily, Qualifier: metaQualifier}}
}

// MetaSpan is the rows of the tablet map.
var MetaSpan = kv.Span{
	Start: kv.MakeRowKey(kv.TableMeta, []byte{metaBounded}),
	End:   kv.MakeRowKey(kv.TableMeta, []byte{metaUnbounded + 1}),
}

// MetaCell is the cell that says where a tablet is, at timestamp zero: for those who write METADATA before
// there is a shard that serves it.
func MetaCell(t kv.Tablet) (kv.Address, []byte) {
	return metaAddress(metaRow(t.Span.End)), encodeMeta(t)
}

// Which node leads a tablet's shard is not said: leads change without a word to METADATA. (Earlier releases
// wrote it.)
func encodeMeta(t kv.Tablet) []byte {
	t.Node = 0
	return wire.AppendTablet([]byte{metaVersion}, t)
}

func decodeMeta(b []byte) (kv.Tablet, error) {
	d := wire.NewDecoder(b, metaVersion)
	t := d.Tablet()
	return t, wire.Wrap("METADATA", d.Finish())
}

// lookup returns the tablets from the one that holds row on.
func lookup(r kv.Reader, row kv.RowKey, limit int) ([]kv.Tablet, error) {
	it, err := r.Iter(kv.IterOptions{Group: GroupMeta, Span: MetaSpan})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	limit = min(max(limit, 1), MaxLookup)
	var found []kv.Tablet
	// The end of a tablet does not belong to it: the row is wanted whose end is behind the key.
	for ok := it.SeekColumn(kv.Column{Row: metaRow(append(row[:len(row):len(row)], 0))}); ok && len(found) < limit; ok = it.NextColumn() {
		t, err := decodeMeta(it.Version().Value)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	if len(found) > 0 && !found[0].Span.Contains(row) {
		return nil, kv.Errorf(kv.CodeCorrupt, "store.Lookup", "METADATA has a gap at row %x; restart the node, it is repaired at start", []byte(row))
	}
	return found, it.Err()
}

// AllTablets reads METADATA whole.
func AllTablets(r kv.Reader) ([]kv.Tablet, error) {
	it, err := r.Iter(kv.IterOptions{Group: GroupMeta, Span: MetaSpan})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var all []kv.Tablet
	for it.NextColumn() {
		t, err := decodeMeta(it.Version().Value)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, it.Err()
}

// UpdateMetaRequest changes METADATA: Gone lists the ends of tablets whose rows go, Now the tablets whose rows are written,
// Cleared the dropped tables whose data is removed.
type UpdateMetaRequest struct {
	Gone    []kv.RowKey
	Now     []kv.Tablet
	Cleared []kv.TableID
}

// Empty is the response of a command that has nothing to say.
type Empty struct{}

// AppendTo appends: version | uvarint count | bytes ends | uvarint count | tablets | uvarint count | uvarint tables.
func (m *UpdateMetaRequest) AppendTo(b []byte) []byte {
	b = append(b, metaVersion)
	b = wire.AppendUvarint(b, uint64(len(m.Gone)))
	for _, end := range m.Gone {
		b = wire.AppendBytes(b, end)
	}
	b = wire.AppendUvarint(b, uint64(len(m.Now)))
	for _, t := range m.Now {
		b = wire.AppendTablet(b, t)
	}
	b = wire.AppendUvarint(b, uint64(len(m.Cleared)))
	for _, id := range m.Cleared {
		b = wire.AppendUvarint(b, uint64(id))
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *UpdateMetaRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, metaVersion)
	*m = UpdateMetaRequest{}
	for range d.Count(1) {
		m.Gone = append(m.Gone, d.Bytes())
	}
	for range d.Count(6) {
		m.Now = append(m.Now, d.Tablet())
	}
	for range d.Count(1) {
		m.Cleared = append(m.Cleared, kv.TableID(d.Bounded(1<<32-1)))
	}
	return wire.Wrap("UpdateMetaRequest", d.Finish())
}

const emptyVersion = 1

// AppendTo appends the version byte.
func (*Empty) AppendTo(b []byte) []byte { return append(b, emptyVersion) }

// Decode reads it.
func (*Empty) Decode(b []byte) error {
	d := wire.NewDecoder(b, emptyVersion)
	return wire.Wrap("Empty", d.Finish())
}

func updateMetaRows(req kv.Message, rows []kv.RowKey) []kv.RowKey {
	m := req.(*UpdateMetaRequest)
	for _, end := range m.Gone {
		rows = append(rows, metaRow(end))
	}
	for _, t := range m.Now {
		rows = append(rows, metaRow(t.Span.End))
	}
	for _, id := range m.Cleared {
		rows = append(rows, droppedTable(id).Row)
	}
	return rows
}

func evaluateUpdateMeta(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*UpdateMetaRequest)
	for _, id := range m.Cleared {
		e.Delete(droppedTable(id), metaTimestamp)
	}
	for _, end := range m.Gone {
		e.Delete(metaAddress(metaRow(end)), metaTimestamp)
	}
	for _, t := range m.Now {
		// Changes of one tablet may arrive out of order; the older must not win.
		a := metaAddress(metaRow(t.Span.End))
		if old, ok, err := e.Get(a, metaTimestamp); err != nil {
			return nil, err
		} else if ok {
			if o, err := decodeMeta(old); err == nil && o.Generation > t.Generation {
				continue
			}
		}
		e.Set(a, metaTimestamp, encodeMeta(t))
	}
	return &Empty{}, nil
}

func evaluateLookup(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*LookupRequest)
	found, err := lookup(e, m.Row, m.Limit)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, kv.Errorf(kv.CodeNotFound, "store.Lookup", "no tablet holds row %x", []byte(m.Row))
	}
	return &LookupResponse{Tablets: found}, nil
}
