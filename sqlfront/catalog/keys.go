package catalog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"moka/kv"
)

// The catalog's cells all lie in kv.TableTxn, family 0, without a qualifier.
//
//	row (after the table id)                                 value
//	┌────┬────┐                                              ┌────┬─────────────────┬──────────┐
//	│ 01 │ 01 │  schema version                              │ 01 │ uvarint version │ 8 random │  the mark
//	├────┼────┼──────────────┐                               ├────┼──────────┬──────┴───┬──────┴─────────────────────┐
//	│ 01 │ 02 │ version, 8 B │  change log                   │ 01 │ 8 before │ 8 random │ changed keys: uvarint n, n B… │
//	├────┼────┼───────────┬──┴───────────┐                   ├────┼──────────┴──────────┴────────────────────────────┘
//	│ 01 │ 03 │ table 4 B │ version, 8 B │  fence            │ 01 │
//	├────┼────┼───────────┼──────────────┘                   ├────┼──────┐
//	│ 01 │ 10 │ db 4 B    │  database                        │ 01 │ JSON │  all descriptors
//	│ 01 │ 11 │ db 4 B    │ table 4 B                        └────┴──────┘
//	│ 01 │ 12 │ db 4 B    │ name      view
//	│ 01 │ 13 │ db 4 B    │ name      trigger
//	│ 01 │ 14 │ db 4 B    │ name      procedure
//	│ 01 │ 15 │ db 4 B    │ name      event
//	│ 01 │ 16 │ db 4 B    │ id 4 B    observer
//	│ 01 │ 18 │ db 4 B    │ name      function
//	├────┼────┼───────────┴────────                          ┌────┬───────────┐
//	│ 01 │ 17 │ name      blob                               │ 01 │ the bytes │
//	├────┼────┼───────────┬────────────┐                     ├────┼───────────┘
//	│ 01 │ 20 │ table 4 B │ index 4 B  │ grave               │ 01 │
//	├────┼────┼───────────┼────────────┘                     ├────┼──────┐
//	│ 01 │ 21 │ job 4 B   │  job                             │ 01 │ JSON │
//	│ 01 │ 22 │ table 4 B │ random 8 B   hold                │ 01 │ until, ms 8 B
//	│ 01 │ 23 │ observer 4 B             walk                │ 01 │ JSON
//	└────┴────┴───────────┘                                  ├────┼──────┴───────┐
//	│ 02 │ sequence, 8 B │                                   │ 01 │ uvarint next │
//	├────┼───────────┬───┘                                   ├────┼──────┬───────┘
//	│ 03 │ table 4 B │  statistics                            │ 01 │ JSON │  package engine's
//	├────┼───────────┤                                       └────┴──────┘
//	│ 04 │ name      │  named lock                            package namedlock's
//	│ 05 │ node 4 B  │ random 8 B   request to a node         package node's
//	└────┴───────────┘
//	Integers in rows are big endian; names are folded to lower case.
const (
	prefixCatalog  = 0x01
	prefixSequence = 0x02
	prefixStats    = 0x03
	prefixLock     = 0x04
	prefixNode     = 0x05

	kindVersion   = 0x01
	kindLog       = 0x02
	kindFence     = 0x03
	kindDatabase  = 0x10
	kindTable     = 0x11
	kindView      = 0x12
	kindTrigger   = 0x13
	kindProcedure = 0x14
	kindEvent     = 0x15
	kindObserver  = 0x16
	kindBlob      = 0x17
	kindFunction  = 0x18
	kindEnd       = 0x19 // the first that is not a descriptor
	kindGrave     = 0x20
	kindJob       = 0x21
	kindHold      = 0x22
	kindWalk      = 0x23

	formatVersion = 1
	// paddedVersion is that of a table with padded keys: a release that would read and write them in the
	// older form must not take it for something that it knows.
	paddedVersion = 2
	// copyingVersion is that of a table that is being copied, and of the job that does it: a release that
	// does not know them would write rows that the copy does not learn of.
	copyingVersion = 3
	// fullTextVersion is that of a table with a FULLTEXT index, whose entries a release without such would
	// take for those of another kind.
	fullTextVersion = 4
	// maintainedVersion is that of tables of incremental views and of observers that keep them: a release
	// that does not know them would let clients write there, and run no body.
	maintainedVersion = 5
	markSize          = 8
)

// StatisticsCell holds what is known of a table's contents. It is no part of the catalog's versions: plans
// made with other statistics are as right as before.
func StatisticsCell(table uint32) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn,
		binary.BigEndian.AppendUint32([]byte{prefixStats}, table))}
}

// NamedLockCell holds who has the lock of that name. It is no part of the catalog's versions.
func NamedLockCell(name string) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, append([]byte{prefixLock}, name...))}
}

// NodeCell holds a request to a SQL node; it is no part of the catalog's versions.
func NodeCell(node uint32, name uint64) kv.Column {
	row := binary.BigEndian.AppendUint32([]byte{prefixNode}, node)
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64(row, name))}
}

// NodeCells is the span of a SQL node's requests.
func NodeCells(node uint32) kv.Span {
	row := func(n uint32) kv.RowKey {
		return kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint32([]byte{prefixNode}, n))
	}
	return kv.Span{Start: row(node), End: row(node + 1)}
}

func column(row ...byte) kv.Column { return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, row)} }

func versionCell() kv.Column { return column(prefixCatalog, kindVersion) }

func logCell(version uint64) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn,
		binary.BigEndian.AppendUint64([]byte{prefixCatalog, kindLog}, version))}
}

func fenceCell(table uint32, version uint64) kv.Column {
	row := binary.BigEndian.AppendUint32([]byte{prefixCatalog, kindFence}, table)
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64(row, version))}
}

func sequenceCell(id uint64) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn,
		binary.BigEndian.AppendUint64([]byte{prefixSequence}, id))}
}

func graveCell(g Grave) kv.Column {
	row := binary.BigEndian.AppendUint32([]byte{prefixCatalog, kindGrave}, g.Table)
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint32(row, g.Index))}
}

// descriptorRow is the part of a descriptor's row behind the catalog's prefix: what the change log lists.
func idRow(kind byte, db uint32, id uint32) []byte {
	row := binary.BigEndian.AppendUint32([]byte{kind}, db)
	if kind != kindDatabase {
		row = binary.BigEndian.AppendUint32(row, id)
	}
	return row
}

func nameRow(kind byte, db uint32, name string) []byte {
	row := []byte{kind}
	if kind != kindBlob {
		return append(binary.BigEndian.AppendUint32(row, db), fold(name)...)
	}
	return append(row, name...)
}

// shown is a name or a text of an older release, which let in NUL: with \0 for it, which is the same in a
// string, and a name that harms nobody, by which its owner is rid of it.
func shown(text string) string { return strings.ReplaceAll(text, "\x00", `\0`) }

// nameRows are the rows where the descriptor of that name may be, see shown.
func nameRows(kind byte, db uint32, name string) [][]byte {
	rows := [][]byte{nameRow(kind, db, name)}
	if stored := strings.ReplaceAll(name, `\0`, "\x00"); stored != name {
		rows = append(rows, nameRow(kind, db, stored))
	}
	return rows
}

func descriptorCell(row []byte) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, append([]byte{prefixCatalog}, row...))}
}

// descriptorRow is the inverse of descriptorCell.
func descriptorRow(c kv.Column) ([]byte, error) {
	row := c.Row.Row()
	if len(row) < 2 || row[0] != prefixCatalog {
		return nil, &CorruptError{Key: c.Row, Err: fmt.Errorf("not a descriptor's row")}
	}
	return row[1:], nil
}

func encodeDescriptor(v any) ([]byte, error) {
	b := bytes.NewBuffer([]byte{formatVersion})
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false) // people read this: (id > 0)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("catalog: encode descriptor: %w", err)
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if replaced(out[1:]) {
		return nil, fmt.Errorf("catalog: a name or an expression is not valid UTF-8; write such bytes as a " +
			"hexadecimal literal")
	}
	switch v := v.(type) {
	case *Table:
		switch {
		case v.Maintained():
			out[0] = maintainedVersion
		case v.fullText():
			out[0] = fullTextVersion
		case v.Copy != nil:
			out[0] = copyingVersion
		case v.padded():
			out[0] = paddedVersion
		}
	case *Observer:
		if v.View != 0 {
			out[0] = maintainedVersion
		}
	case *Job:
		if v.Kind == JobCopy && !v.Ended() {
			out[0] = copyingVersion
		}
	}
	return out, nil
}

// replaced reports whether the encoder met a string that is not UTF-8. It writes the escape \ufffd for what
// it cannot keep (and the character itself where the string has it), and says nothing.
func replaced(text []byte) bool {
	return findEscape(text, "ufffd") >= 0
}

// findEscape is where an escape is in the text of a descriptor, negative if nowhere.
func findEscape(text []byte, escape string) int {
	for i := 0; i+len(escape) < len(text); i++ {
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		if bytes.HasPrefix(text[i+1:], []byte(escape)) {
			return i
		}
		i++ // the escaped character, which may be a backslash
	}
	return -1
}

func decodeDescriptor(key, value []byte, v any) error {
	if len(value) == 0 || value[0] < formatVersion || value[0] > maintainedVersion {
		return &CorruptError{Key: key, Err: fmt.Errorf("unknown format version")}
	}
	text := value[1:]
	switch v.(type) {
	case *Table, *Job: // the values of an ENUM are what they are
	default:
		if nul := findEscape(text, "u0000"); nul >= 0 {
			text = withoutNUL(text, nul)
		}
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &CorruptError{Key: key, Err: err}
	}
	if t, ok := v.(*Table); ok {
		t.namesWithoutNUL()
	}
	return nil
}

// withoutNUL is the text of a descriptor with what shown makes of each NUL; the first is at i.
func withoutNUL(text []byte, i int) []byte {
	out := make([]byte, 0, len(text))
	for i >= 0 {
		out = append(append(out, text[:i]...), `\\0`...)
		text = text[i+len(`\u0000`):]
		i = findEscape(text, "u0000")
	}
	return append(out, text...)
}

func (t *Table) namesWithoutNUL() {
	t.Name = shown(t.Name)
	for i := range t.Columns {
		t.Columns[i].Name = shown(t.Columns[i].Name)
	}
	for i := range t.Indexes {
		t.Indexes[i].Name = shown(t.Indexes[i].Name)
	}
	for i := range t.Checks {
		t.Checks[i].Name = shown(t.Checks[i].Name)
	}
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		fk.Name, fk.ParentDatabase, fk.ParentTable = shown(fk.Name), shown(fk.ParentDatabase),
			shown(fk.ParentTable)
		for _, names := range [][]string{fk.Columns, fk.ParentColumns} {
			for j := range names {
				names[j] = shown(names[j])
			}
		}
	}
}

// mark is the content of the version cell. The random half tells apart two changes that were both
// numbered n because the first of them was rolled back; without it a cached snapshot of the lost one
// would be taken for the other.
type mark struct {
	version uint64
	random  [markSize]byte
}

func (m mark) encode() []byte {
	return append(binary.AppendUvarint([]byte{formatVersion}, m.version), m.random[:]...)
}

func decodeMark(b []byte) (m mark, err error) {
	bad := &CorruptError{Key: versionCell().Row, Err: fmt.Errorf("value %x", b)}
	if len(b) < 1 || b[0] != formatVersion {
		return m, bad
	}
	v, n := binary.Uvarint(b[1:])
	if n <= 0 || len(b) != 1+n+markSize {
		return m, bad
	}
	m.version = v
	copy(m.random[:], b[1+n:])
	return m, nil
}

// change is an entry of the change log: the descriptors that one schema version replaced.
type change struct {
	before, after [markSize]byte
	rows          [][]byte
}

func (c change) encode() []byte {
	b := append([]byte{formatVersion}, c.before[:]...)
	b = append(b, c.after[:]...)
	for _, r := range c.rows {
		b = append(binary.AppendUvarint(b, uint64(len(r))), r...)
	}
	return b
}

func decodeChange(key, b []byte) (c change, err error) {
	bad := &CorruptError{Key: key, Err: fmt.Errorf("change log entry %x", b)}
	if len(b) < 1+2*markSize || b[0] != formatVersion {
		return c, bad
	}
	copy(c.before[:], b[1:])
	copy(c.after[:], b[1+markSize:])
	for b = b[1+2*markSize:]; len(b) > 0; {
		size, n := binary.Uvarint(b)
		if n <= 0 || size == 0 || size > uint64(len(b)-n) {
			return c, bad
		}
		c.rows = append(c.rows, b[n:n+int(size)])
		b = b[n+int(size):]
	}
	return c, nil
}

// Lasting tells whether a row of the transactional key space means anything in another store: named locks,
// requests to nodes and holds are those of processes that live.
func Lasting(row kv.RowKey) bool {
	b := row.Row()
	switch {
	case row.Table() != kv.TableTxn || len(b) == 0:
		return false
	case b[0] == prefixLock, b[0] == prefixNode:
		return false
	}
	return b[0] != prefixCatalog || len(b) < 2 || b[1] != kindHold
}
