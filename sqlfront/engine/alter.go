package engine

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// AddColumn implements sql.AlterableTable. It is only called for columns that rows need not know of (see
// RewriteInserter): existing rows read NULL.
func (t *Table) AddColumn(ctx *sql.Context, col *sql.Column, order *sql.ColumnOrder) error {
	return t.change(ctx, func(d *catalog.Table) error {
		c, err := describeColumn(ctx, col, t.collation)
		if err != nil {
			return err
		}
		d.Columns = append(d.Columns, c)
		return d.MoveColumn(len(d.Columns)-1, order)
	})
}

// DropColumn implements sql.AlterableTable. Stored rows keep the value; nobody reads it, as ids are not used twice.
func (t *Table) DropColumn(ctx *sql.Context, name string) error {
	return t.change(ctx, func(d *catalog.Table) error {
		i := d.Column(name)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(d.Name, name)
		}
		d.DropFromIndexes(d.Columns[i].ID)
		d.Columns = slices.Delete(d.Columns, i, i+1)
		return nil
	})
}

// ModifyColumn implements sql.AlterableTable, for changes that leave stored values as they are.
func (t *Table) ModifyColumn(ctx *sql.Context, name string, col *sql.Column, order *sql.ColumnOrder) error {
	return t.change(ctx, func(d *catalog.Table) error {
		i := d.Column(name)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(d.Name, name)
		}
		if err := replaceColumn(ctx, d, i, col, t.collation); err != nil {
			return err
		}
		if d.Columns[i].AutoIncrement && d.AutoIncrement.ID == 0 {
			last, err := t.greatest(ctx, name)
			if err != nil {
				return err
			}
			d.AutoIncrement.Start = last + 1
		}
		return d.MoveColumn(i, order)
	})
}

// greatest is the greatest value of an integer column.
func (t *Table) greatest(ctx *sql.Context, name string) (uint64, error) {
	now, err := t.current(ctx)
	if err != nil {
		return 0, err
	}
	tx, err := txOf(ctx)
	if err != nil {
		return 0, err
	}
	o := now.ordinal(name)
	it := &entryIter{tx: tx, spans: wholeSpan(indexSpan(now.desc.ID, now.desc.RowIndex))}
	defer it.Close()
	var last uint64
	for {
		e, ok, err := it.Next(ctx)
		if err != nil || !ok {
			return last, err
		}
		row, err := now.decode.Decode(e.value)
		if err != nil {
			return 0, err
		}
		if n, in, err := sqlUint64(ctx, row[o]); row[o] != nil && err == nil && in == sql.InRange {
			last = max(last, n)
		}
	}
}

func replaceColumn(ctx *sql.Context, d *catalog.Table, i int, col *sql.Column, collation sql.CollationID) error {
	c, err := describeColumn(ctx, col, collation)
	if err != nil {
		return err
	}
	old := &d.Columns[i]
	c.ID, c.Fill, c.State = old.ID, old.Fill, old.State
	if slices.ContainsFunc(d.PrimaryKey, func(k catalog.IndexColumn) bool { return k.Column == c.ID }) {
		c.Nullable = false
	}
	d.Columns[i] = c
	return nil
}

// CreateCheck implements sql.CheckAlterableTable. The engine has checked the rows that exist.
func (t *Table) CreateCheck(ctx *sql.Context, c *sql.CheckDefinition) error {
	return t.change(ctx, func(d *catalog.Table) error {
		text, err := storedText(c.CheckExpression)
		if err != nil {
			return err
		}
		name := c.Name
		if name == "" {
			name = freeName(d.Name+"_chk_", checkNames(d))
		}
		if d.HasCheck(name) {
			return sql.ErrDuplicateCheckName.New(name)
		}
		d.Checks = append(d.Checks, catalog.Check{Name: name, Expression: text, Enforced: c.Enforced})
		return nil
	})
}

// namedCheck is ALTER TABLE … ADD CHECK with the name that the check gets, which the error of a row says.
func namedCheck(ctx *sql.Context, n *plan.CreateCheck) (sql.Node, error) {
	t := ownTable(n.Table.Table)
	if t == nil {
		return nil, nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	check, again := *n.Check, *n
	check.Name = freeName(now.desc.Name+"_chk_", checkNames(now.desc))
	again.Check = &check
	return &again, nil
}

// freeName returns prefix1, prefix2 …, the first that is not taken. It looks at each name once: a table of a
// thousand checks that have none asks it a thousand times.
func freeName(prefix string, names iter.Seq[string]) string {
	taken := map[string]bool{}
	for n := range names {
		if len(n) > len(prefix) && equalFold(n[:len(prefix)], prefix) {
			taken[n[len(prefix):]] = true
		}
	}
	for i := 1; ; i++ {
		if n := strconv.Itoa(i); !taken[n] {
			return prefix + n
		}
	}
}

func checkNames(d *catalog.Table) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range d.Checks {
			if !yield(d.Checks[i].Name) {
				return
			}
		}
	}
}

// DropCheck implements sql.CheckAlterableTable.
func (t *Table) DropCheck(ctx *sql.Context, name string) error {
	return t.change(ctx, func(d *catalog.Table) error {
		i := slices.IndexFunc(d.Checks, func(c catalog.Check) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return sqlerr.New(sqlerr.CheckNotFound, "Check constraint '%s' is not found in the table.", name)
		}
		d.Checks = slices.Delete(d.Checks, i, i+1)
		return nil
	})
}

// ModifyDefaultCollation implements sql.CollationAlterableTable: new columns get it.
func (t *Table) ModifyDefaultCollation(ctx *sql.Context, c sql.CollationID) error {
	return t.change(ctx, func(d *catalog.Table) error {
		d.Collation = c.Name()
		return nil
	})
}

// ModifyStoredCollation implements sql.CollationAlterableTable: all columns that are text get the collation, too.
func (t *Table) ModifyStoredCollation(ctx *sql.Context, c sql.CollationID) error {
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	converts := func(col *catalog.Column) bool {
		return col.Type.Collation != "" && col.Type.Collation != sql.Collation_binary.Name() && col.Type.Collation != c.Name()
	}
	convert := func(d *catalog.Table) error {
		d.Collation = c.Name()
		for i := range d.Columns {
			if converts(&d.Columns[i]) {
				d.Columns[i].Type.Collation = c.Name()
			}
		}
		return nil
	}
	for i := range now.desc.Columns {
		if converts(&now.desc.Columns[i]) {
			return t.rebuild(ctx, convert) // keys are made of it, and characters have to be in the new set
		}
	}
	return t.change(ctx, convert)
}

// noteOptions tells what becomes of options that are not kept.
func noteOptions(ctx *sql.Context, table string, clustered bool, options map[string]string) {
	if engine := options[catalog.OptionEngine]; engine != "" && !strings.EqualFold(engine, "innodb") {
		ctx.Warn(sqlerr.UsingOtherEngine, "Using storage engine InnoDB for table '%s'", table)
	}
	if options[catalog.OptionOrder] != "" && clustered {
		ctx.Warn(sqlerr.Unknown, "ORDER BY ignored as there is a user-defined clustered index in the table '%s'", table)
	}
	if options[catalog.OptionPartitions] != "" {
		ctx.Warn(sqlerr.NotPartitioned, "PARTITION BY ignored: table '%s' is split into tablets by its key, and has no partitions", table)
	}
}

// enforceChecks carries out ALTER CHECK.
func (t *Table) enforceChecks(d *catalog.Table, options map[string]string) error {
	for option, on := range options {
		name, ok := strings.CutPrefix(option, catalog.OptionCheck)
		if !ok {
			continue
		}
		i := slices.IndexFunc(d.Checks, func(c catalog.Check) bool { return strings.EqualFold(c.Name, name) })
		switch {
		case i < 0:
			return sqlerr.New(sqlerr.CheckNotFound, "Check constraint '%s' is not found in the table.", name)
		case on == "1" && !d.Checks[i].Enforced: // the rows that are there have to be looked at
			return sqlerr.Unsupported("ALTER CHECK … ENFORCED; drop the check and add it again")
		}
		d.Checks[i].Enforced = on == "1"
	}
	return nil
}

// ModifyComment implements sql.CommentAlterableTable. Options of the table come in place of a comment.
func (t *Table) ModifyComment(ctx *sql.Context, comment string) error {
	comment, options := catalog.TakeOptions(comment)
	noteOptions(ctx, t.desc.Name, len(t.desc.PrimaryKey) > 0, options)
	return t.change(ctx, func(d *catalog.Table) error {
		if d.SetOptions(options); options == nil {
			d.Comment = comment
		}
		return t.enforceChecks(d, options)
	})
}

// CreatePrimaryKey implements sql.PrimaryKeyAlterableTable. The engine rewrites the table instead (RewriteInserter).
func (t *Table) CreatePrimaryKey(*sql.Context, []sql.IndexColumn) error {
	return sqlerr.Unsupported("adding a primary key without rewriting the table")
}

// DropPrimaryKey implements sql.PrimaryKeyAlterableTable. The engine rewrites the table instead.
func (t *Table) DropPrimaryKey(*sql.Context) error {
	return sqlerr.Unsupported("dropping a primary key without rewriting the table")
}

// DropIndex implements sql.IndexAlterableTable. Its entries are left to the janitor.
func (t *Table) DropIndex(ctx *sql.Context, name string) error {
	return t.shrink(ctx, func(d *catalog.Table) error {
		i := d.Index(name)
		if i < 0 {
			return sql.ErrIndexNotFound.New(name)
		}
		d.Indexes = slices.Delete(d.Indexes, i, i+1)
		return nil
	})
}

// RenameIndex implements sql.IndexAlterableTable.
func (t *Table) RenameIndex(ctx *sql.Context, from, to string) error {
	return t.change(ctx, func(d *catalog.Table) error {
		i := d.Index(from)
		if i < 0 {
			return sql.ErrIndexNotFound.New(from)
		}
		if j := d.Index(to); j >= 0 && j != i {
			return sql.ErrDuplicateKey.New(to)
		}
		d.Indexes[i].Name, d.Indexes[i].Implicit = to, false
		return nil
	})
}

// AutoIncrementSetter implements sql.AutoIncrementTable.
func (t *Table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter { return &autoSetter{t} }

type autoSetter struct{ t *Table }

// SetAutoIncrementValue gives the table a new sequence: ranges that other processes have reserved of the old one die with
// the descriptor that named it. A number that is taken gives way to the first behind all that are.
func (s *autoSetter) SetAutoIncrementValue(ctx *sql.Context, n uint64) error {
	if s.t.auto >= 0 {
		last, err := s.t.greatest(ctx, s.t.pk.Schema[s.t.auto].Name)
		if err != nil {
			return err
		}
		n = max(n, min(last, math.MaxUint64-1)+1)
	}
	return s.t.shrink(ctx, func(d *catalog.Table) error {
		seq, err := s.t.eng.catalog.NewSequence(ctx, n)
		if err != nil {
			return err
		}
		d.AutoIncrement = seq
		return nil
	})
}

// AcquireAutoIncrementLock has nothing to lock: every statement takes its numbers from a range of the process.
func (s *autoSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) { return func() {}, nil }

func (s *autoSetter) Close(*sql.Context) error { return nil }

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter.
func (t *Table) PeekNextAutoIncrementValue(ctx *sql.Context) (uint64, error) {
	now, err := t.current(ctx)
	if err != nil {
		return 0, err
	}
	if now.desc.AutoIncrement.ID == 0 {
		return 0, nil
	}
	n, err := t.eng.catalog.PeekSequence(ctx, now.desc.AutoIncrement)
	return min(n, now.lastAuto()), catalogError(sqlerr.From(err))
}

// lastAuto is the greatest number that the AUTO_INCREMENT column can hold.
func (t *Table) lastAuto() uint64 {
	if t.auto < 0 {
		return math.MaxUint64
	}
	c := t.desc.Columns[t.ordinals[t.auto]].Type
	bits, ok := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[c.Kind]
	if !ok {
		return math.MaxUint64
	}
	if !c.Unsigned {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}

// GetNextAutoIncrementValue implements sql.AutoIncrementTable: the next number, or, for a number chosen by hand, the note
// that the sequence has to go on behind it.
func (t *Table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	var chosen uint64
	if given != nil {
		v, _, err := sqlUint64(ctx, given)
		if err != nil {
			return 0, err
		}
		chosen = v
	}
	now, err := t.current(ctx)
	if err != nil {
		return 0, err
	}
	seq := now.desc.AutoIncrement
	if tx, ok := ctx.GetTransaction().(*Tx); seq.ID == 0 || ok && tx.alteration != nil {
		// The column is just being added: rows are numbered when they are brought over. A number that was drawn before would be a write to the
		// sequence that the statement's own snapshot is too old to replace.
		return chosen, nil
	}
	last := now.lastAuto()
	s := sessionOf(ctx)
	switch {
	case given == nil && s != nil && len(s.undrawn[t.desc.ID]) > 0:
		chosen, s.undrawn[t.desc.ID] = s.undrawn[t.desc.ID][0], s.undrawn[t.desc.ID][1:]
	case given == nil && s != nil && s.forced.next > 0 && s.inserting != nil && s.inserting.table == t.desc.ID:
		chosen = uint64(s.forced.next)
		s.forced.next, s.forced.used = s.forced.next+1, true
		err = t.eng.catalog.Raise(ctx, seq, min(chosen, last))
	case given == nil:
		// At the end of the column's range the last number is given out again, and the insert fails with 1062, as MySQL's does.
		numbers := &catalog.Numbers{}
		if s != nil && s.inserting != nil && s.inserting.table == t.desc.ID {
			numbers = &s.inserting.numbers
		}
		chosen, err = numbers.Draw(ctx, t.eng.catalog, seq)
		chosen = min(chosen, last)
	case chosen <= last: // a greater one is about to be refused
		if s != nil && s.inserting != nil && s.inserting.table == t.desc.ID {
			s.inserting.numbers.Chose(chosen)
		}
		err = t.eng.catalog.Raise(ctx, seq, chosen)
	}
	if given == nil && s != nil && s.inserting != nil {
		s.inserting.pending = int64(chosen)
	}
	return chosen, catalogError(sqlerr.From(err))
}
