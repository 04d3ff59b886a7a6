package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// maxWarnings is how many conditions of a statement are kept (MySQL's max_error_count); the others are counted.
const maxWarnings = 1024

// Variables that say how much the last statement has raised.
const (
	warningCount = "warning_count"
	errorCount   = "error_count"
)

// duplicateIndex is MySQL's number for an index that is like another; the library warns of each second index of a table.
const duplicateIndex = 1831

// conditions counts what a statement has warned of.
type conditions struct{ warnings, errors uint64 }

func (c *conditions) add(level string) {
	if level == "Error" {
		c.errors++
	}
	c.warnings++
}

// Warn implements sql.Session. What IGNORE forgives the library notes in its own words, with no number or one of another error; clients read
// the numbers.
func (s *Session) Warn(w *sql.Warning) {
	if w.Code == sqlerr.DivisionByZero && !s.mayDivide() {
		return
	}
	if s.ofClient && w.Level == "Note" && (w.Code == sqlerr.Unknown || w.Code == sqlerr.BadNull || w.Code == sqlerr.DuplicateKeyEntry ||
		w.Code == sqlerr.NoReferencedRow || w.Code == sqlerr.RowIsReferenced) {
		var err error = errors.New(w.Message)
		if w.Code == sqlerr.DuplicateKeyEntry {
			err = mysql.NewSQLError(w.Code, "", "%s", w.Message)
		}
		if e := sqlerr.Final(err, sqlerr.Statement{ForeignKey: s.ForeignKey}); e.Num != sqlerr.Unknown {
			w = &sql.Warning{Level: "Warning", Code: e.Num, Message: e.Message}
			if e.Num == sqlerr.DataTooLong { // which is no error here
				w.Code = sqlerr.DataTruncated
			}
		}
	}
	switch {
	case w.Code == duplicateIndex && !s.isDuplicateIndex(w.Message):
		return
	case w.Code == sqlerr.DivisionByZero:
		if mode, _ := s.GetSessionVariable(nil, "sql_mode"); !strings.Contains(fmt.Sprint(mode), "ERROR_FOR_DIVISION_BY_ZERO") {
			return
		}
		s.divided = true
	}
	if short := sqlerr.Shortened(w.Message); short != w.Message {
		w = &sql.Warning{Level: w.Level, Code: w.Code, Message: short}
	}
	if s.raised.add(w.Level); s.raised.warnings <= maxWarnings {
		s.BaseSession.Warn(w)
	}
}

// Failed notes the error that a statement of the client ends with, for SHOW WARNINGS and SHOW ERRORS.
func (s *Session) Failed(e *mysql.SQLError) {
	s.early = earlyWarnings{}
	if !s.cleared {
		s.ClearWarnings()
	}
	s.Warn(&sql.Warning{Level: "Error", Code: e.Num, Message: e.Message})
}

// Warnings implements sql.Session, in the order in which they came.
func (s *Session) Warnings() []*sql.Warning {
	all := s.BaseSession.Warnings() // the newest first
	slices.Reverse(all)
	return all
}

// ShowErrors answers parse.Hooks.ShowErrors. Warnings are gone when the statement runs.
func ShowErrors(ctx context.Context) (ast.Statement, error) {
	var rows []sql.Row
	if sc, ok := ctx.(*sql.Context); ok {
		for _, w := range sc.Session.Warnings() {
			if w.Level == "Error" {
				rows = append(rows, sql.NewRow(w.Level, int32(w.Code), w.Message))
			}
		}
	}
	columns := sql.Schema{system.Text("Level"), {Name: "Code", Type: types.Int32}, system.Text("Message")}
	report := system.NewReport("SHOW ERRORS", columns, func(*sql.Context) ([]sql.Row, error) { return rows, nil })
	return ast.InjectedStatement{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE, TargetType: ast.AuthTargetType_Ignore}, Statement: report}, nil
}

// ClearWarnings implements sql.Session.
func (s *Session) ClearWarnings() {
	s.BaseSession.ClearWarnings()
	if !s.cleared {
		s.counted = s.raised
	}
	s.raised, s.cleared = conditions{}, true
	early := s.early
	s.early = earlyWarnings{}
	for _, w := range early.kept {
		s.Warn(w)
	}
	s.raised.warnings += early.more
}

// LockWarnings implements sql.Session for lock_warnings, a variable that MySQL does not have: a list that is
// never cleared has no bound, and shows what was warned of elsewhere.
func (s *Session) LockWarnings() {}

// unwarned begins a trigger or an observer: its statements see nothing of what the one that fires it has
// warned of, and what they warn of themselves is theirs until end. They read with their definer's rights, and
// warnings quote values. (In MySQL, too, a trigger's diagnostics area is popped when it ends.)
func (s *Session) unwarned() (end func()) {
	raised, counted, cleared, early := s.raised, s.counted, s.cleared, s.early
	kept, told := s.Warnings(), s.WarningCount()
	s.BaseSession.ClearWarnings()
	s.raised, s.early = conditions{}, earlyWarnings{}
	return func() {
		s.BaseSession.ClearWarnings()
		for _, w := range kept {
			s.BaseSession.Warn(w)
		}
		if told == 0 {
			s.ClearWarningCount()
		}
		s.raised, s.counted, s.cleared, s.early = raised, counted, cleared, early
	}
}

// earlyWarnings are what was found in a statement before it is bound: what the statement before has raised is not cleared yet.
type earlyWarnings struct {
	kept []*sql.Warning
	more uint64
}

// warnEarly raises a warning as soon as those of the statement before are cleared.
func (s *Session) warnEarly(code int, text string) {
	if len(s.early.kept) == maxWarnings {
		s.early.more++
		return
	}
	s.early.kept = append(s.early.kept, &sql.Warning{Level: "Warning", Code: code, Message: text})
}

// conditionCount is the value of @@warning_count or @@error_count.
func (s *Session) conditionCount(name string) uint64 {
	c := s.counted
	if !s.cleared {
		c = s.raised
	}
	if name == errorCount {
		return c.errors
	}
	return c.warnings
}

// divisionByZero is the error that a change of rows ends with if it has divided by zero and the SQL mode is strict.
func (s *Session) divisionByZero(ctx *sql.Context) error {
	s.divided = false
	mode := sql.LoadSqlMode(ctx)
	if !mode.ModeEnabled("STRICT_TRANS_TABLES") && !mode.ModeEnabled("STRICT_ALL_TABLES") {
		return nil
	}
	forgiven := false
	if s.root != nil {
		transform.Inspect(s.root, func(n sql.Node) bool {
			switch n := n.(type) {
			case *plan.InsertInto:
				forgiven = forgiven || n.Ignore
			case *plan.Update:
				forgiven = forgiven || n.Ignore
			}
			return !forgiven
		})
	}
	if forgiven {
		return nil
	}
	return sqlerr.New(sqlerr.DivisionByZero, "Division by 0")
}

var duplicateIndexText = regexp.MustCompile(`^Duplicate index '(.*)' defined on the table '(.*)\.(.*)'\. This`)

// isDuplicateIndex reports whether the index that the library warns of is over the columns of another.
func (s *Session) isDuplicateIndex(message string) bool {
	m := duplicateIndexText.FindStringSubmatch(message)
	tx := s.tx()
	if m == nil || tx == nil || tx.view == nil {
		return false
	}
	db, ok := tx.view.snap.Database(m[2])
	if !ok {
		return false
	}
	t, ok := db.Table(m[3])
	if !ok {
		return false
	}
	at := t.Index(m[1])
	return at >= 0 && slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool {
		return !strings.EqualFold(x.Name, m[1]) && x.Unique == t.Indexes[at].Unique && slices.Equal(x.Columns, t.Indexes[at].Columns)
	})
}

// mayDivide reports whether a division by zero is worth a warning. What a strict mode says of it in a statement that writes is said by the editor:
// expressions that divide have nobody to tell but the list of warnings.
func (s *Session) mayDivide() bool {
	ctx := sql.NewContext(context.Background(), sql.WithSession(s))
	if !sql.LoadSqlMode(ctx).ModeEnabled("ERROR_FOR_DIVISION_BY_ZERO") {
		return false
	}
	if tx, ok := s.GetTransaction().(*Tx); ok && tx.writing && !tx.forgiving && strict(ctx) {
		tx.divided = true
	}
	return true
}

// divided is the error of a statement that has divided by zero where the SQL mode does not forgive it.
func divided(ctx *sql.Context) error {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || !tx.divided {
		return nil
	}
	tx.divided = false
	return sqlerr.New(sqlerr.DivisionByZero, "Division by 0")
}
