package bigtable

import (
	"moka/kv"
	"moka/kv/wire"
)

// MaxLookup bounds how many tablets one Lookup returns.
const MaxLookup = 256

// LookupRequest asks METADATA for the tablet that holds Row and up to Limit-1 of those behind it, which a client that walks
// the key space will ask for next. Limit zero means one.
type LookupRequest struct {
	Row   kv.RowKey
	Limit int
}

// LookupResponse lists tablets by ascending start; the first holds the row. What it says may be out of date the moment
// it is read: the shard decides, by the generation.
type LookupResponse struct {
	Tablets []kv.Tablet
}

const lookupVersion = 1

// AppendTo appends: version | bytes row | uvarint limit.
func (m *LookupRequest) AppendTo(b []byte) []byte {
	b = append(b, lookupVersion)
	b = wire.AppendBytes(b, m.Row)
	return wire.AppendUvarint(b, uint64(m.Limit))
}

// Decode reads what AppendTo wrote.
func (m *LookupRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, lookupVersion)
	m.Row = d.Bytes()
	m.Limit = int(d.Bounded(MaxLookup))
	return wire.Wrap("LookupRequest", d.Finish())
}

// AppendTo appends: version | uvarint count | tablets.
func (m *LookupResponse) AppendTo(b []byte) []byte {
	b = append(b, lookupVersion)
	b = wire.AppendUvarint(b, uint64(len(m.Tablets)))
	for _, t := range m.Tablets {
		b = wire.AppendTablet(b, t)
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *LookupResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, lookupVersion)
	n := d.Count(6)
	m.Tablets = make([]kv.Tablet, 0, n)
	for range n {
		m.Tablets = append(m.Tablets, d.Tablet())
	}
	return wire.Wrap("LookupResponse", d.Finish())
}
