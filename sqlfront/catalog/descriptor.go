package catalog

import (
	"slices"
	"strings"
	"time"

	"moka/kv"
)

// State says how far an online schema change has come for a column or an index: the steps of F1 ("Online,
// Asynchronous Schema Change in F1", VLDB 2013, section 3), in which two adjacent schema versions may be in
// use at the same time. The zero value is the state of everything that is not being changed.
type State uint8

const (
	// StatePublic: readers and writers use the element.
	StatePublic State = iota
	// StateDeleteOnly: writers only remove entries; nobody reads or inserts.
	StateDeleteOnly
	// StateWriteOnly: writers keep the element up to date; nobody reads it.
	StateWriteOnly
	// StateBackfilling: as StateWriteOnly, while a backfill fills in what was there before.
	StateBackfilling
)

// Database is a schema in MySQL's sense. Its exported fields are what is stored; its tables and other
// contents are reached through methods and belong to the Snapshot that it came from. Immutable.
type Database struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
	// MySQL's name of the default collation; it implies the character set
	Collation string `json:"collation,omitempty"`

	// what the database holds in the snapshot that it came from, by folded name
	tables     map[string]*Table
	views      map[string]*View
	triggers   map[string]*Trigger
	procedures map[string]*Procedure
	functions  map[string]*Procedure
	events     map[string]*Event
	observers  map[string]*Observer
	weight     int64 // of all of these, see weigh
}

// weighed is what a descriptor takes in memory (weigh), as it is stored.
type weighed struct{ weight int64 }

func (w *weighed) weighs() *int64 { return &w.weight }

// PrimaryIndexID is the index id that the row store of a new table gets. Rebuilding a table (a new primary
// key) takes a fresh id, so ask Table.RowIndex instead of using this constant.
const PrimaryIndexID uint32 = 1

// Table describes a table. Values taken out of a Snapshot are shared and must not be changed; Clone one,
// change the clone and hand it to Catalog.UpdateTable.
type Table struct {
	weighed
	ID         uint32 `json:"id"`
	DatabaseID uint32 `json:"db"`
	Name       string `json:"name"`
	// Version grows with every change of the descriptor. (ID, Version) names the cell that writers Require.
	Version uint64 `json:"version"`

	Columns []Column `json:"columns"`
	// PrimaryKey lists the key's columns in order; empty for a keyless table, whose rows are
	// keyed by a hidden row id.
	PrimaryKey []IndexColumn `json:"pk,omitempty"`
	// PadSpace is Index.PadSpace of the primary key.
	PadSpace bool `json:"pad_space,omitempty"`
	// RowIndex is the index id under which rows are stored.
	RowIndex uint32 `json:"row_index"`
	// Indexes are the secondary indexes; the primary key is not among them.
	Indexes     []Index      `json:"indexes,omitempty"`
	ForeignKeys []ForeignKey `json:"foreign_keys,omitempty"`
	Checks      []Check      `json:"checks,omitempty"`

	Collation string    `json:"collation,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	Created   time.Time `json:"created"`
	// Options keeps table options that nobody interprets yet (ROW_FORMAT, KEY_BLOCK_SIZE …)
	// for SHOW CREATE TABLE.
	Options map[string]string `json:"options,omitempty"`

	// AutoIncrement and RowIDs name the table's sequences; a zero ID means that there is none.
	AutoIncrement Sequence `json:"auto_increment,omitzero"`
	RowIDs        Sequence `json:"row_ids,omitzero"`

	// NextColumnID and NextIndexID are the next ids to give out: an id is never used twice within a table, so
	// that old rows cannot be read with a new column's meaning and old entries cannot turn up in a new index.
	NextColumnID uint32 `json:"next_column"`
	NextIndexID  uint32 `json:"next_index"`

	// Incremental is set in the table of an incremental view, ContributionsOf in that of the contributions to
	// one: its id.
	Incremental     *Incremental `json:"incremental,omitempty"`
	ContributionsOf uint32       `json:"contributions_of,omitempty"`

	// Copy is set while the table is being copied into another form.
	Copy *Copy `json:"copy,omitempty"`

	byName map[string]int
	byID   map[uint32]int
}

// Column describes a column. ID is stable under renames and never reused.
type Column struct {
	ID       uint32 `json:"id"` // zero in a new column: CreateTable and UpdateTable assign it
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Nullable bool   `json:"nullable,omitempty"`
	// Default, Generated and OnUpdate are SQL text as the engine prints it; empty means none (an empty
	// string default is '').
	Default       string `json:"default,omitempty"`
	Generated     string `json:"generated,omitempty"`
	OnUpdate      string `json:"on_update,omitempty"`
	Virtual       bool   `json:"virtual,omitempty"`
	AutoIncrement bool   `json:"auto_increment,omitempty"`
	Comment       string `json:"comment,omitempty"`
	Hidden        bool   `json:"hidden,omitempty"`
	HiddenSystem  bool   `json:"hidden_system,omitempty"`
	State         State  `json:"state,omitempty"`
	// Fill is what rows written before the column existed read as, in rowenc.AppendValue's form; nil means
	// NULL.
	Fill []byte `json:"fill,omitempty"`
	// Renamed is the snapshot of the schema change that has given the column its name; zero if it has had no
	// other. What it held before that was under another name, for which others may have had rights.
	Renamed kv.Timestamp `json:"renamed,omitempty"`
}

// IndexColumn is a column of an index. PrefixLength is in characters (bytes for binary strings), zero
// means the whole value.
type IndexColumn struct {
	Column       uint32 `json:"column"`
	PrefixLength uint32 `json:"prefix,omitempty"`
	// Descending is what was declared. Keys ascend all the same, and are read backwards.
	Descending bool `json:"descending,omitempty"`
}

// Index describes a secondary index.
type Index struct {
	ID      uint32        `json:"id"` // zero in a new index: assigned as column ids are
	Name    string        `json:"name"`
	Columns []IndexColumn `json:"columns"`
	Unique  bool          `json:"unique,omitempty"`
	// FullText: the entries are those of words (package fulltext).
	FullText bool `json:"fulltext,omitempty"`
	// PadSpace says that the keys of strings whose collation pads are padded (rowenc.KeyPart.PadSpace). All
	// indexes made since there are such keys have it if it makes a difference; those that are older keep the
	// keys that they have until they are made anew.
	PadSpace bool `json:"pad_space,omitempty"`
	// Implicit is set for an index that was made to support a foreign key and that no one asked for by name.
	Implicit bool   `json:"implicit,omitempty"`
	Comment  string `json:"comment,omitempty"`
	State    State  `json:"state,omitempty"`
}

// ForeignKey describes a foreign key; it is stored with the child table. Parents are named, not numbered,
// because MySQL allows a key whose parent does not exist (yet) while foreign_key_checks is off. RenameTable
// keeps the names right.
type ForeignKey struct {
	Name           string   `json:"name"`
	Columns        []string `json:"columns"`
	ParentDatabase string   `json:"parent_db"`
	ParentTable    string   `json:"parent_table"`
	ParentColumns  []string `json:"parent_columns"`
	// "CASCADE", "SET NULL", "RESTRICT", "NO ACTION", "SET DEFAULT"; empty is MySQL's default
	OnUpdate string `json:"on_update,omitempty"`
	OnDelete string `json:"on_delete,omitempty"`
	Resolved bool   `json:"resolved,omitempty"`
}

// Reference is a foreign key seen from its parent: which table declares it.
type Reference struct {
	Database *Database
	Table    *Table
	Key      ForeignKey
}

// Check is a CHECK constraint; Expression is SQL text.
type Check struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
	Enforced   bool   `json:"enforced"`
}

// Spoken is what the session spoke that has created a stored text. The text means the same whoever runs it:
// literals in it are of this collation. Empty in those of older releases, which are utf8mb4 (see Spoken.Or).
type Spoken struct {
	CharacterSetClient  string `json:"character_set_client,omitempty"`
	CollationConnection string `json:"collation_connection,omitempty"`
}

// Or is s with what is empty filled from another one, and in the other's character set: texts are kept, and
// shown, in UTF-8, whatever they were sent in. A dump has that set beside the text, and who has it read back
// as GBK reads UTF-8 bytes as other characters, some of which swallow the backslash behind them, and the
// quote that it hides: a trigger's author had root run statements of his with the dump.
func (s Spoken) Or(other Spoken) Spoken {
	s.CharacterSetClient = other.CharacterSetClient
	if s.CollationConnection == "" {
		s.CollationConnection = other.CollationConnection
	}
	return s
}

// View, Trigger, Procedure and Event are kept as text: the engine parses them when it needs them.
type View struct {
	weighed
	Spoken
	Name            string `json:"name"`
	Definition      string `json:"definition"` // the SELECT
	CreateStatement string `json:"create"`
	SQLMode         string `json:"sql_mode,omitempty"`
	// Definer is user@host of who the view belongs to; empty in views of older releases.
	Definer string `json:"definer,omitempty"`
}

// Trigger is an ordinary MySQL trigger, run inside the writer's transaction.
type Trigger struct {
	weighed
	Spoken
	Name            string    `json:"name"`
	CreateStatement string    `json:"create"`
	SQLMode         string    `json:"sql_mode,omitempty"`
	Created         time.Time `json:"created"`
	// Definer is user@host of whose rights the trigger has; empty in triggers of releases that did not keep
	// it, which have those of who fires them.
	Definer string `json:"definer,omitempty"`
}

// Procedure is a stored procedure, or a stored function: they are different name spaces of the same thing.
type Procedure struct {
	weighed
	Spoken
	Name            string `json:"name"`
	CreateStatement string `json:"create"`
	SQLMode         string `json:"sql_mode,omitempty"`
	// user@host of who created it; a DEFINER clause in the text takes precedence
	Definer  string    `json:"definer,omitempty"`
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
}

// Event is a scheduled event.
type Event struct {
	weighed
	Name                 string    `json:"name"`
	Body                 string    `json:"body"`
	Definer              string    `json:"definer,omitempty"`
	SQLMode              string    `json:"sql_mode,omitempty"`
	Status               string    `json:"status,omitempty"`
	Comment              string    `json:"comment,omitempty"`
	TimezoneOffset       string    `json:"timezone,omitempty"`
	ExecuteEvery         string    `json:"every,omitempty"`
	OnCompletionPreserve bool      `json:"preserve,omitempty"`
	HasExecuteAt         bool      `json:"has_at,omitempty"`
	HasEnds              bool      `json:"has_ends,omitempty"`
	Created              time.Time `json:"created"`
	LastAltered          time.Time `json:"altered"`
	LastExecuted         time.Time `json:"executed"`
	ExecuteAt            time.Time `json:"at"`
	Starts               time.Time `json:"starts"`
	Ends                 time.Time `json:"ends"`
}

// ObserverEvents is a set of the changes that an observer asked for.
type ObserverEvents uint8

const (
	OnInsert ObserverEvents = 1 << iota
	OnUpdate
	OnDelete
	// OnNotify marks a weak observer: it is woken by NOTIFY only.
	OnNotify
)

// Observer is a declared observer (design: triggers). Its ID is what the transaction layer and the
// acknowledgement cells know; it is never reused, so that an observer dropped and declared again
// starts with a clean slate.
type Observer struct {
	weighed
	Spoken
	ID         uint32         `json:"id"` // zero in a new observer: PutObserver assigns it
	Name       string         `json:"name"`
	DatabaseID uint32         `json:"db"`
	TableID    uint32         `json:"table"`
	Events     ObserverEvents `json:"events"`
	// Columns are the ids of UPDATE OF; empty means any column.
	Columns         []uint32  `json:"columns,omitempty"`
	Body            string    `json:"body"`
	CreateStatement string    `json:"create,omitempty"`
	SQLMode         string    `json:"sql_mode,omitempty"`
	Collation       string    `json:"collation,omitempty"` // the session's when it was declared
	Definer         string    `json:"definer,omitempty"`
	Enabled         bool      `json:"enabled"`
	Created         time.Time `json:"created"`
	MaxAttempts     int       `json:"max_attempts,omitempty"` // zero: the server's default
	// first delay after a failure; zero: the server's default
	Backoff time.Duration `json:"backoff,omitempty"`
	// how long a run may take, and how many rows it may write that notify observers; zero: the server's
	// default
	Timeout   time.Duration `json:"timeout,omitempty"`
	MaxFanout int           `json:"max_fanout,omitempty"`
	// MaxDepth is up to how many runs, one set off by the other, may lead to a change that it runs for.
	MaxDepth int `json:"max_depth,omitempty"`
	// ForgottenIsNull has it run with NULLs for an OLD row that garbage collection has removed.
	ForgottenIsNull bool `json:"forgotten_is_null,omitempty"`
	// Fresh is the index under which the table's rows were stored when it was created WITH BACKFILL. Of
	// these, one that it has not acknowledged is new to it, however old. Zero: it was created without.
	Fresh uint32 `json:"fresh,omitempty"`
	// View is the incremental view that it keeps, Use its place among the tables that the view reads.
	View uint32 `json:"view,omitempty"`
	Use  int    `json:"use,omitempty"`
	// Paused: it is notified, and does not run.
	Paused  bool   `json:"paused,omitempty"`
	Comment string `json:"comment,omitempty"`
	// since when changes pass it by; zero: it is enabled, or an older release has disabled it
	DisabledAt time.Time `json:"disabled_at,omitzero"`
	// DisabledTS is a timestamp of that moment, and DisabledRows the index under which the table's rows were
	// stored then. Zero as DisabledAt, and in observers that an older release has disabled.
	DisabledTS   kv.Timestamp `json:"disabled_ts,omitzero"`
	DisabledRows uint32       `json:"disabled_rows,omitzero"`
	// Behind is when it was disabled, if it was enabled WITH REPLAY since: as long as that walk is under way,
	// a row that it has not acknowledged, stored under the index BehindRows, it has seen as it was then, or
	// before its oldest change that waits.
	Behind     kv.Timestamp `json:"behind,omitzero"`
	BehindRows uint32       `json:"behind_rows,omitzero"`
	// ModeKnown: SQLMode is that of its declaration, also if it is empty. Older releases have not noted it.
	ModeKnown bool `json:"mode_known,omitempty"`
}

// Mode is the sql_mode in which its body is understood and run: that of its declaration, or otherwise, which
// is the server's, where an older release has not noted an empty one.
func (o *Observer) Mode(otherwise string) string {
	if o.SQLMode == "" && !o.ModeKnown {
		return otherwise
	}
	return o.SQLMode
}

// Sequence names a source of increasing numbers. The sequence is never reset: ALTER TABLE … AUTO_INCREMENT =
// n and TRUNCATE give the table a new one (Catalog.NewSequence), so that ranges which other processes hold of
// the old one die with the descriptor that named it.
type Sequence struct {
	ID uint64 `json:"id"`
	// Start is the first number handed out.
	Start uint64 `json:"start"`
}

// Copy is a change of a table's storage that takes many transactions. Writers of the table write down which
// rows they change (Log), nobody reads the new storage. What was before and what will be is here, so that any
// server can go on with it.
type Copy struct {
	Job uint32 `json:"job"`
	// Log is the index id under which writers list the keys of the rows that they change.
	Log uint32 `json:"log,omitempty"`
	// Keys is the index id of the map from old keys of rows to new ones and back; zero if rows keep their
	// keys.
	Keys uint32 `json:"keys,omitempty"`
	// To is what the table is going to be, with the ids of its new storage.
	To *Table `json:"to,omitempty"`
	// Others are descriptors of other tables that change with this one, and Versions those
	// that they were made from.
	Others   []*Table `json:"others,omitempty"`
	Versions []uint64 `json:"versions,omitempty"`
	// From is what the table was, while what observers have still to see of it is carried over. To
	// and Log are empty then.
	From *Table `json:"from,omitempty"`

	// What the statement's session had set: conversions and defaults depend on it.
	SQLMode  string    `json:"sql_mode"`
	TimeZone string    `json:"time_zone,omitempty"`
	Time     time.Time `json:"time"`
}

func (c *Copy) clone() *Copy {
	if c == nil {
		return nil
	}
	n := *c
	if c.To != nil {
		n.To = c.To.Clone()
	}
	if c.From != nil {
		n.From = c.From.Clone()
	}
	n.Others = nil
	for _, o := range c.Others {
		n.Others = append(n.Others, o.Clone())
	}
	n.Versions = slices.Clone(c.Versions)
	return &n
}

// storage lists the index ids under which the table has, or may have, cells.
func (t *Table) storage() []uint32 {
	ids := []uint32{t.RowIndex}
	for i := range t.Indexes {
		ids = append(ids, t.Indexes[i].ID)
	}
	if c := t.Copy; c != nil {
		for _, id := range []uint32{c.Log, c.Keys} {
			if id != 0 {
				ids = append(ids, id)
			}
		}
		if c.To != nil {
			ids = append(ids, c.To.storage()...)
		}
		if c.From != nil {
			ids = append(ids, c.From.storage()...)
		}
	}
	return ids
}

// fold is the case folding of all names: MySQL's lower_case_table_names=2 behaviour, names keep their case
// and are compared without it.
func fold(name string) string { return strings.ToLower(name) }

// Clone returns a deep copy that may be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.byName, c.byID = nil, nil
	c.Columns = slices.Clone(t.Columns)
	for i := range c.Columns {
		c.Columns[i].Type.Values = slices.Clone(c.Columns[i].Type.Values)
		c.Columns[i].Fill = slices.Clone(c.Columns[i].Fill)
	}
	c.PrimaryKey = slices.Clone(t.PrimaryKey)
	c.Indexes = slices.Clone(t.Indexes)
	for i := range c.Indexes {
		c.Indexes[i].Columns = slices.Clone(c.Indexes[i].Columns)
	}
	c.ForeignKeys = slices.Clone(t.ForeignKeys)
	for i := range c.ForeignKeys {
		c.ForeignKeys[i].Columns = slices.Clone(c.ForeignKeys[i].Columns)
		c.ForeignKeys[i].ParentColumns = slices.Clone(c.ForeignKeys[i].ParentColumns)
	}
	c.Checks = slices.Clone(t.Checks)
	c.Copy = t.Copy.clone()
	if t.Options != nil {
		c.Options = make(map[string]string, len(t.Options))
		for k, v := range t.Options {
			c.Options[k] = v
		}
	}
	return &c
}

// Pads reports whether keys over the columns differ by whether they are padded.
func (t *Table) Pads(columns []IndexColumn) bool {
	return slices.ContainsFunc(columns, func(ic IndexColumn) bool {
		i := t.ColumnByID(ic.Column)
		return i >= 0 && t.Columns[i].Type.pads()
	})
}

// NewKeys gives the newest form of keys to a table all of whose storage is going to be made.
func (t *Table) NewKeys() {
	t.PadSpace = t.Pads(t.PrimaryKey)
	for i := range t.Indexes {
		t.Indexes[i].PadSpace = t.Pads(t.Indexes[i].Columns)
	}
}

func (t *Table) padded() bool {
	return t.PadSpace || slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.PadSpace })
}

func (t *Table) fullText() bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.FullText })
}

// Column returns the position of the named column in Columns, -1 if there is none.
func (t *Table) Column(name string) int {
	if t.byName != nil {
		if i, ok := t.byName[fold(name)]; ok {
			return i
		}
		return -1
	}
	name = fold(name)
	return slices.IndexFunc(t.Columns, func(c Column) bool { return fold(c.Name) == name })
}

// noteRenamed keeps since when the columns have the names that a change at a snapshot leaves them.
func (t *Table) noteRenamed(old *Table, at kv.Timestamp) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if j := old.ColumnByID(c.ID); j < 0 {
			c.Renamed = 0
		} else if c.Renamed = old.Columns[j].Renamed; fold(c.Name) != fold(old.Columns[j].Name) {
			c.Renamed = at
		}
	}
}

// ColumnByID returns the position of the column with that id in Columns, -1 if there is none.
func (t *Table) ColumnByID(id uint32) int {
	if t.byID != nil {
		if i, ok := t.byID[id]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.ID == id })
}

// Index returns the position of the named secondary index in Indexes, -1 if there is none.
func (t *Table) Index(name string) int {
	return slices.IndexFunc(t.Indexes, func(x Index) bool { return strings.EqualFold(x.Name, name) })
}

func (t *Table) indexByID(id uint32) int {
	return slices.IndexFunc(t.Indexes, func(x Index) bool { return x.ID == id })
}

// seal builds the lookup maps; from then on the descriptor is immutable.
func (t *Table) seal() {
	t.byName = make(map[string]int, len(t.Columns))
	t.byID = make(map[uint32]int, len(t.Columns))
	for i := range t.Columns {
		t.byName[fold(t.Columns[i].Name)] = i
		t.byID[t.Columns[i].ID] = i
	}
}
