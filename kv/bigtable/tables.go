package bigtable

import (
	"encoding/binary"

	"moka/kv"
	"moka/kv/wire"
)

// Schemas live in METADATA's table, behind the tablet map:
//
//	row 10 | name      column "schema"    value: the table
//	row 11             column "next"      value: the next table's number, u32 big endian
//	row 12 | u32 id    column "dropped"   a table whose data is still to be removed
const (
	schemaRow  = 0x10
	nextRow    = 0x11
	droppedRow = 0x12
)

func schemaAddress(kind byte, rest []byte, qualifier string) kv.Address {
	row := kv.MakeRowKey(kv.TableMeta, append([]byte{kind}, rest...))
	return kv.Address{Group: GroupMeta, Column: kv.Column{Row: row, Family: metaFamily, Qualifier: []byte(qualifier)}}
}

func schemaOf(name string) kv.Address { return schemaAddress(schemaRow, []byte(name), "schema") }
func nextTable() kv.Address           { return schemaAddress(nextRow, nil, "next") }
func droppedTable(id kv.TableID) kv.Address {
	return schemaAddress(droppedRow, binary.BigEndian.AppendUint32(nil, uint32(id)), "dropped")
}

// CreateTableRequest makes a table; it is sent to METADATA's shard. The response is a TableResponse with the numbers filled in.
type CreateTableRequest struct{ Table Table }

// DropTableRequest removes a table: from the reply on, commands on it fail; its data is removed in the background.
type DropTableRequest struct{ Name string }

// ListTablesRequest asks for all tables.
type ListTablesRequest struct{}

// TablesResponse lists tables by name; CreateTable and DropTable answer with the one they were about.
type TablesResponse struct{ Tables []Table }

const tablesVersion = 1

// AppendTo appends: version | bytes table.
func (m *CreateTableRequest) AppendTo(b []byte) []byte {
	return wire.AppendBytes(append(b, tablesVersion), appendTable(nil, &m.Table))
}

// Decode reads what AppendTo wrote.
func (m *CreateTableRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, tablesVersion)
	raw := d.Bytes()
	if err := d.Finish(); err != nil {
		return wire.Wrap("CreateTableRequest", err)
	}
	t, err := decodeTable(raw)
	m.Table = *t
	return wire.Wrap("CreateTableRequest", err)
}

// AppendTo appends: version | string name.
func (m *DropTableRequest) AppendTo(b []byte) []byte {
	return wire.AppendString(append(b, tablesVersion), m.Name)
}

// Decode reads what AppendTo wrote.
func (m *DropTableRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, tablesVersion)
	m.Name = d.String()
	return wire.Wrap("DropTableRequest", d.Finish())
}

// AppendTo appends the version byte.
func (*ListTablesRequest) AppendTo(b []byte) []byte { return append(b, tablesVersion) }

// Decode reads it.
func (*ListTablesRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, tablesVersion)
	return wire.Wrap("ListTablesRequest", d.Finish())
}

// AppendTo appends: version | uvarint count | bytes tables.
func (m *TablesResponse) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, tablesVersion), uint64(len(m.Tables)))
	for i := range m.Tables {
		b = wire.AppendBytes(b, appendTable(nil, &m.Tables[i]))
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *TablesResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, tablesVersion)
	m.Tables = nil
	for range d.Count(1) {
		raw := d.Bytes()
		if d.Err() != nil {
			break
		}
		t, err := decodeTable(raw)
		if err != nil {
			return wire.Wrap("TablesResponse", err)
		}
		m.Tables = append(m.Tables, *t)
	}
	return wire.Wrap("TablesResponse", d.Finish())
}

func (c *Coprocessor) createTable(e kv.Eval, req kv.Message) (kv.Message, error) {
	t := req.(*CreateTableRequest).Table // a copy: the request is not ours to change
	t.Families = append([]Family(nil), t.Families...)
	t.LocalityGroups = append([]LocalityGroup(nil), t.LocalityGroups...)
	if err := t.prepare(); err != nil {
		return nil, err
	}
	if _, exists, err := e.Get(schemaOf(t.Name), metaTimestamp); err != nil {
		return nil, err
	} else if exists {
		return nil, kv.Errorf(kv.CodeAlreadyExists, "store.CreateTable", "there is a table %q; drop it first or choose another name", t.Name)
	}
	t.ID = kv.TableFirstUser
	if v, ok, err := e.Get(nextTable(), metaTimestamp); err != nil {
		return nil, err
	} else if ok {
		if len(v) != 4 {
			return nil, kv.Errorf(kv.CodeCorrupt, "store.CreateTable", "the next table's number is %x", v)
		}
		t.ID = kv.TableID(binary.BigEndian.Uint32(v))
	}
	e.Set(nextTable(), metaTimestamp, binary.BigEndian.AppendUint32(nil, uint32(t.ID)+1))
	e.Set(schemaOf(t.Name), metaTimestamp, appendTable(nil, &t))
	e.OnDurable(func() { c.tables.change(func(m map[kv.TableID]*Table) { m[t.ID] = &t }) })
	return &TablesResponse{Tables: []Table{t}}, nil
}

func (c *Coprocessor) dropTable(e kv.Eval, req kv.Message) (kv.Message, error) {
	name := req.(*DropTableRequest).Name
	v, ok, err := e.Get(schemaOf(name), metaTimestamp)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, kv.Errorf(kv.CodeNotFound, "store.DropTable", "there is no table %q", name)
	}
	t, err := decodeTable(v)
	if err != nil {
		return nil, err
	}
	e.Delete(schemaOf(name), metaTimestamp)
	e.Set(droppedTable(t.ID), metaTimestamp, nil)
	e.OnDurable(func() { c.tables.change(func(m map[kv.TableID]*Table) { delete(m, t.ID) }) })
	return &TablesResponse{Tables: []Table{*t}}, nil
}

func (c *Coprocessor) listTables(e kv.Eval, _ kv.Message) (kv.Message, error) {
	var m TablesResponse
	for _, t := range c.tables.list() {
		m.Tables = append(m.Tables, *t)
	}
	return &m, nil
}

// Tables lists the tables that this process knows.
func (c *Coprocessor) Tables() []*Table { return c.tables.list() }

// load reads the schemas; METADATA's shard is opened before any command runs anywhere.
func (c *Coprocessor) load(r kv.Reader) error {
	span := kv.Span{Start: kv.MakeRowKey(kv.TableMeta, []byte{schemaRow}), End: kv.MakeRowKey(kv.TableMeta, []byte{schemaRow + 1})}
	it, err := r.Iter(kv.IterOptions{Group: GroupMeta, Span: span})
	if err != nil {
		return err
	}
	defer it.Close()
	found := map[kv.TableID]*Table{}
	for it.NextColumn() {
		t, err := decodeTable(it.Version().Value)
		if err != nil {
			return err
		}
		found[t.ID] = t
	}
	c.tables.m.Store(&found)
	return it.Err()
}

// Dropped lists tables whose data is still to be removed, and how to say that it is: by an UpdateMetaRequest with Cleared.
func Dropped(r kv.Reader) ([]kv.TableID, error) {
	span := kv.Span{Start: kv.MakeRowKey(kv.TableMeta, []byte{droppedRow}), End: kv.MakeRowKey(kv.TableMeta, []byte{droppedRow + 1})}
	it, err := r.Iter(kv.IterOptions{Group: GroupMeta, Span: span})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var ids []kv.TableID
	for it.NextColumn() {
		if row := it.Column().Row.Row(); len(row) == 5 {
			ids = append(ids, kv.TableID(binary.BigEndian.Uint32(row[1:])))
		}
	}
	return ids, it.Err()
}
