package bigtable

import (
	"context"

	"moka/kv"
	"moka/kv/wire"
)

// Admin makes the structural changes of a node. The node is one.
type Admin interface {
	Split(ctx context.Context, at kv.RowKey) (left, right kv.Tablet, err error)
	Merge(ctx context.Context, left kv.TabletID) (kv.Tablet, error)
	Move(ctx context.Context, id kv.TabletID, to kv.ShardID) (kv.Tablet, error)
	TabletSizes() ([]TabletSize, error)
}

// TabletSize is a tablet and what it takes on disk.
type TabletSize struct {
	Tablet kv.Tablet
	Bytes  uint64
}

// AdminRequest asks a node for a structural change, or for its tablets. It is sent to any shard of the node.
type AdminRequest struct {
	Kind   AdminKind
	At     kv.RowKey   // AdminSplit: the first row of the right part
	Tablet kv.TabletID // AdminMerge: the left one; AdminMove
	Shard  kv.ShardID  // AdminMove
}

// AdminKind tells the requests apart.
type AdminKind uint8

const (
	AdminSplit AdminKind = iota + 1
	AdminMerge
	AdminMove
	AdminTablets
)

// AdminResponse has the tablets that a change left behind, or all of them with AdminTablets.
type AdminResponse struct{ Tablets []TabletSize }

const adminVersion = 1

// AppendTo appends: version | byte kind | bytes at | uvarint tablet | uvarint shard.
func (m *AdminRequest) AppendTo(b []byte) []byte {
	b = wire.AppendBytes(append(b, adminVersion, byte(m.Kind)), m.At)
	return wire.AppendUvarint(wire.AppendUvarint(b, uint64(m.Tablet)), uint64(m.Shard))
}

// Decode reads what AppendTo wrote.
func (m *AdminRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, adminVersion)
	m.Kind, m.At, m.Tablet, m.Shard = AdminKind(d.Byte()), d.Bytes(), kv.TabletID(d.Uvarint()), kv.ShardID(d.Bounded(1<<32-1))
	return wire.Wrap("AdminRequest", d.Finish())
}

// AppendTo appends: version | uvarint count | tablet and uvarint bytes of each.
func (m *AdminResponse) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, adminVersion), uint64(len(m.Tablets)))
	for _, t := range m.Tablets {
		b = wire.AppendUvarint(wire.AppendTablet(b, t.Tablet), t.Bytes)
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *AdminResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, adminVersion)
	m.Tablets = nil
	for range d.Count(7) {
		m.Tablets = append(m.Tablets, TabletSize{d.Tablet(), d.Uvarint()})
	}
	return wire.Wrap("AdminResponse", d.Finish())
}

// evaluateAdmin runs as a read command: it takes no latches, because what it starts takes the whole shard.
func (c *Coprocessor) evaluateAdmin(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*AdminRequest)
	if c.admin == nil {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "store.Admin", "this process makes no structural changes")
	}
	var resp AdminResponse
	var err error
	var l, r kv.Tablet
	switch m.Kind {
	case AdminSplit:
		if l, r, err = c.admin.Split(e.Context(), m.At); err == nil {
			resp.Tablets = []TabletSize{{Tablet: l}, {Tablet: r}}
		}
	case AdminMerge:
		if l, err = c.admin.Merge(e.Context(), m.Tablet); err == nil {
			resp.Tablets = []TabletSize{{Tablet: l}}
		}
	case AdminMove:
		if l, err = c.admin.Move(e.Context(), m.Tablet, m.Shard); err == nil {
			resp.Tablets = []TabletSize{{Tablet: l}}
		}
	case AdminTablets:
		resp.Tablets, err = c.admin.TabletSizes()
	default:
		err = kv.Errorf(kv.CodeInvalidArgument, "store.Admin", "there is no request of kind %d", m.Kind)
	}
	if err != nil {
		return nil, err
	}
	return &resp, nil
}
