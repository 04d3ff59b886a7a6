package catalog

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"moka/sqlfront/identifier"
)

// MySQL's limits on what a schema may hold, in characters where it is a text. What an older release has let
// in stays, and can be changed otherwise and dropped: only what is new is held against them.
const (
	maxName          = 64
	maxTableComment  = 2048
	maxColumnComment = 1024
	maxIndexComment  = 1024
	maxColumns       = 4096
	maxKeys          = 64 // with the primary key
	maxKeyParts      = 16
	// MySQL has no limits for these. Each is a step of CREATE TABLE, which stores the whole table: three
	// thousand took more than a minute.
	maxChecks      = 1000
	maxForeignKeys = 256

	// maxText is how many bytes the texts of a view, an event, a trigger, an observer or a routine have
	// together. A view and an observer are kept twice: as they were written, and what is run of them.
	maxText = 2<<20 + 64<<10
	// maxTable is how many bytes the descriptor of a table has. Each of its texts has a limit above, but for
	// expressions and the values of ENUM and SET.
	maxTable = 4 << 20
)

// Limit is what was exceeded; its value is MySQL's number of the error.
type Limit uint16

const (
	LimitName          Limit = 1059
	WrongDatabaseName  Limit = 1102
	WrongTableName     Limit = 1103 // of views, too
	LimitKeys          Limit = 1069
	LimitKeyParts      Limit = 1070
	LimitColumns       Limit = 1117 // and the size of a table's definition
	LimitText          Limit = 1437
	LimitCharacters    Limit = 1300
	WrongRoutineName   Limit = 1458 // of triggers and events, too
	LimitTableComment  Limit = 1628
	LimitColumnComment Limit = 1629
	LimitIndexComment  Limit = 1688
	LimitMove          Limit = 1846
	LimitMemory        Limit = 3170
	// UsedByView is not MySQL's, which has no incremental views: what one is made of cannot be changed.
	UsedByView Limit = 9021
	// NotBaseTable refuses for an incremental view what MySQL refuses for a view.
	NotBaseTable Limit = 1347
)

// LimitError refuses what is too long, too many or too much, in MySQL's words.
type LimitError struct {
	Limit   Limit
	Message string
}

func (e *LimitError) Error() string { return e.Message }

func limit(l Limit, format string, args ...any) error {
	return &LimitError{Limit: l, Message: fmt.Sprintf(format, args...)}
}

// nameFits refuses a name that is longer than a name may be, has a letter that no name has, or a NUL: where
// client tools paste names into a script, as dumps do, C ends the text there, and what follows is taken for
// something else.
func nameFits(name string) error {
	if strings.Contains(name, "\x00") {
		return limit(LimitCharacters, "Invalid utf8mb4 character string: '%s'", head(shown(name)))
	}
	if err := identifier.Check(name); err != nil {
		return limit(LimitCharacters, "%v", err)
	}
	if len(name) <= maxName || utf8.RuneCountInString(name) <= maxName {
		return nil
	}
	return limit(LimitName, "Identifier name '%s' is too long", head(name))
}

// named refuses the name of something that is found by its name alone as nameFits does, and one that is empty
// or ends in a space.
func named(kind byte, name string) error {
	if name != "" && !strings.HasSuffix(name, " ") {
		return nameFits(name)
	}
	switch kind {
	case kindDatabase:
		return limit(WrongDatabaseName, "Incorrect database name '%s'", head(name))
	case kindTable, kindView:
		return limit(WrongTableName, "Incorrect table name '%s'", head(name))
	}
	return limit(WrongRoutineName, "Incorrect routine name '%s'", head(name))
}

// head is the beginning of a name, for messages.
func head(name string) string {
	for i := range name {
		if i >= 192 {
			return name[:i]
		}
	}
	return name
}

// Limits refuses what is beyond MySQL's limits in a table and was not in old, which may be nil.
func (t *Table) Limits(old *Table) error {
	if old == nil {
		old = &Table{}
	}
	if t.Name != old.Name {
		if err := named(kindTable, t.Name); err != nil {
			return err
		}
	}
	if longer(t.Comment, old.Comment, maxTableComment) {
		return limit(LimitTableComment, "Comment for table '%s' is too long (max = %d)", t.Name,
			maxTableComment)
	}
	if len(t.Columns) > max(maxColumns, len(old.Columns)) {
		return limit(LimitColumns, "Too many columns")
	}
	if n := t.keys(); n > max(maxKeys, old.keys()) {
		return limit(LimitKeys, "Too many keys specified; max %d keys allowed", maxKeys)
	}
	if len(t.PrimaryKey) > max(maxKeyParts, len(old.PrimaryKey)) {
		return tooManyKeyParts()
	}
	if err := t.columnLimits(old); err != nil {
		return err
	}
	return t.constraintLimits(old)
}

func tooManyKeyParts() error {
	return limit(LimitKeyParts, "Too many key parts specified; max %d parts allowed",
		maxKeyParts)
}

// keys is how many indexes the table has, as MySQL counts them.
func (t *Table) keys() int {
	n := len(t.Indexes)
	if len(t.PrimaryKey) > 0 {
		n++
	}
	return n
}

// longer reports whether a text is beyond the limit, and is another than before.
func longer(text, before string, limit int) bool {
	return len(text) > limit && text != before && utf8.RuneCountInString(text) > limit
}

func (t *Table) columnLimits(old *Table) error {
	for i := range t.Columns {
		c, was := &t.Columns[i], Column{}
		if j := old.ColumnByID(c.ID); j >= 0 {
			was = old.Columns[j]
		}
		if c.Name != was.Name && !c.HiddenSystem {
			if err := nameFits(c.Name); err != nil {
				return err
			}
		}
		if longer(c.Comment, was.Comment, maxColumnComment) {
			return limit(LimitColumnComment, "Comment for field '%s' is too long (max = %d)",
				c.Name, maxColumnComment)
		}
	}
	for i := range t.Indexes {
		x, was := &t.Indexes[i], Index{}
		if j := old.indexByID(x.ID); j >= 0 {
			was = old.Indexes[j]
		}
		if x.Name != was.Name {
			if err := nameFits(x.Name); err != nil {
				return err
			}
		}
		if longer(x.Comment, was.Comment, maxIndexComment) {
			return limit(LimitIndexComment, "Comment for index '%s' is too long (max = %d)",
				x.Name, maxIndexComment)
		}
		if len(x.Columns) > max(maxKeyParts, len(was.Columns)) {
			return tooManyKeyParts()
		}
	}
	return nil
}

func (t *Table) constraintLimits(old *Table) error {
	if len(t.Checks) > max(maxChecks, len(old.Checks)) {
		return limit(LimitColumns, "Table definition is too large: too many CHECK constraints; max %d "+
			"allowed", maxChecks)
	}
	if len(t.ForeignKeys) > max(maxForeignKeys, len(old.ForeignKeys)) {
		return limit(LimitKeys, "Too many keys specified; max %d foreign keys allowed", maxForeignKeys)
	}
	had := make(map[string]bool, len(old.Checks)+len(old.ForeignKeys))
	for _, c := range old.Checks {
		had[c.Name] = true
	}
	for _, fk := range old.ForeignKeys {
		had[fk.Name] = true
	}
	fits := func(name string) error {
		if had[name] {
			return nil
		}
		return nameFits(name)
	}
	for _, c := range t.Checks {
		if err := fits(c.Name); err != nil {
			return err
		}
	}
	for _, fk := range t.ForeignKeys {
		if err := fits(fk.Name); err != nil {
			return err
		}
	}
	return nil
}

// Weights of what a descriptor takes in the memory of a process, beside its text: the maps that lead to it,
// and what the engine makes of it once it is used. They are measured (a table of three columns and two keys
// takes 7 KB here and 10 KB in the engine), and rather too large.
const (
	tableWeight  = 6 << 10
	columnWeight = 3 << 10
	indexWeight  = 1 << 10
	otherWeight  = 4 << 10
	textWeight   = 2 // for each byte
)

// weigh is what a descriptor of n bytes takes.
func weigh(v any, n int) int64 {
	w := int64(n) * textWeight
	if t, ok := v.(*Table); ok {
		return w + tableWeight + int64(len(t.Columns))*columnWeight + int64(len(t.Indexes))*indexWeight
	}
	return w + otherWeight
}

// fits refuses to add a descriptor, or to make it larger, where the catalog would take more memory than it
// may: it is in the memory of every process, before anybody has logged in. A database may take as much as is
// still free, so that there is always room for others: alone it gets a half of all, the second a quarter.
func (c *Catalog) fits(s *Snapshot, db uint32, v any, n int, old int64) error {
	added := weigh(v, n) - old
	if added < slack {
		return nil // it gets smaller, or no larger than by a version and a state
	}
	if err := textFits(v, n); err != nil {
		return err
	}
	var of int64
	if d := s.databaseIDs[db]; d != nil {
		of = d.weight
	}
	if free := c.o.Memory - s.weight - added; of+added <= free {
		return nil
	}
	return limit(LimitMemory, "Memory capacity of %d bytes for 'catalog' exceeded. The "+
		"tables and the texts of this database take %d, those of all %d, and a database may take as much as "+
		"is left; drop what is not needed, or start the SQL nodes with more --memory-limit-mib.",
		c.o.Memory, of, s.weight)
}

const slack = 128

// unlimited is the Memory of a catalog of which nothing is refused.
const unlimited = math.MaxInt64 / 4

// textFits refuses a descriptor of n bytes that is too large by itself.
func textFits(v any, n int) error {
	name, has := "", 0
	switch v := v.(type) {
	case *Table:
		most := maxTable
		if v.Copy != nil {
			most *= 4 // the table as it was and as it will be, and what else changes with it
		}
		if n > most {
			return limit(LimitColumns, "Table definition is too large: that of '%s' has %d "+
				"bytes, the most are %d", v.Name, n, most)
		}
		return nil
	case *View:
		name, has = v.Name, len(v.Definition)+len(v.CreateStatement)
	case *Trigger:
		name, has = v.Name, len(v.CreateStatement)
	case *Procedure:
		name, has = v.Name, len(v.CreateStatement)
	case *Event:
		name, has = v.Name, len(v.Body)+len(v.Comment)
	case *Observer:
		name, has = v.Name, len(v.CreateStatement)+len(v.Body)
	}
	if has <= maxText {
		return nil
	}
	return limit(LimitText, "Routine body for '%s' is too long: its text has %d bytes, the most "+
		"are %d", name, has, maxText)
}
