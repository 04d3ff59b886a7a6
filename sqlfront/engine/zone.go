package engine

import (
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones have names also where the system has no list of them
	_ "unsafe"      // linkname

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/moment"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// TIMESTAMP columns. What is stored is an instant; what a session sees is the time of day in its time_zone. The codecs of a table convert
// (rowenc.Zone), and a table is made for a zone: what a session finds in its view of the catalog (view.in) reads and writes in the session's
// zone, whoever asks, by whatever way. Tables without TIMESTAMP columns are the same in all zones, and UTC converts nothing.
//
// What cannot be said in a codec is said here and where folded is asked: where clocks are turned, the order of times of day is not that
// of the instants.

// The library holds the times of day of TIMESTAMPs to limits that are instants. They are widened by more than any zone is from UTC, and what is
// written is looked at by ourselves (fitStamps).
//
//go:linkname leastStamp github.com/dolthub/go-mysql-server/sql/types.datetimeTypeMinTimestamp
var leastStamp time.Time

//go:linkname greatestStamp github.com/dolthub/go-mysql-server/sql/types.datetimeTypeMaxTimestamp
var greatestStamp time.Time

func widenStamps() {
	leastStamp, greatestStamp = time.UnixMicro(rowenc.MinInstant).Add(-16*time.Hour).UTC(), time.UnixMicro(rowenc.MaxInstant).Add(16*time.Hour).UTC()
}

// systemZone is time_zone = 'SYSTEM'.
var systemZone = sync.OnceValue(func() *rowenc.Zone { return rowenc.NewZone(time.Local) })

// zones are those that some session has had, by name; there are as many as tz and the offsets have.
var zones sync.Map

// parseZone finds a zone by what a client calls it, and the name by which it is known from then on.
func parseZone(name string) (zone *rowenc.Zone, known string, ok bool) {
	if strings.EqualFold(name, "SYSTEM") {
		return systemZone(), "SYSTEM", true
	}
	if z, ok := zones.Load(name); ok {
		return z.(*rowenc.Zone), name, true
	}
	loc, known, ok := moment.Zone(name)
	if !ok {
		return nil, "", false
	}
	z, _ := zones.LoadOrStore(known, rowenc.NewZone(loc))
	return z.(*rowenc.Zone), known, true
}

const zoneVariable = "time_zone"

// zoneValue is a value of time_zone as it is kept.
func zoneValue(value any) (any, error) {
	name, ok := value.(string)
	if !ok {
		return value, nil // the variable's type has something to say
	}
	_, known, ok := parseZone(name)
	if !ok {
		return nil, sqlerr.New(sqlerr.UnknownTimeZone, "Unknown or incorrect time zone: '%s'", name)
	}
	return known, nil
}

// sessionZone is what a session's time_zone means.
type sessionZone struct{ zone *rowenc.Zone }

// timeZone is the session's zone, nil if that is UTC. Rows are read by several goroutines.
func (s *Session) timeZone() *rowenc.Zone {
	if z := s.zone.Load(); z != nil {
		return z.zone
	}
	name, _ := s.text(zoneVariable)
	z, _, _ := parseZone(name)
	s.zone.Store(&sessionZone{z})
	return z
}

func zoneOf(ctx *sql.Context) *rowenc.Zone {
	if s := sessionOf(ctx); s != nil {
		return s.timeZone()
	}
	return nil
}

// isStamp reports whether a column is a TIMESTAMP.
func isStamp(t sql.Type) bool { return t.Type() == sqltypes.Timestamp }

// folded reports whether the values of a column, as the table's rows have them, may be equal for different instants, and are not in their order.
func (t *Table) folded(ordinal int) bool {
	return !t.zone.Fixed() && isStamp(t.pk.Schema[ordinal].Type)
}

// fitStamps looks at the TIMESTAMPs of a row that is to be written: a time of day that the zone's clocks have left out and an instant that TIMESTAMP
// cannot hold are errors, or, where values are made to fit, the next one that there is, and zero. number is the row's, in errors.
func (t *Table) fitStamps(ctx *sql.Context, row sql.Row, ignore bool, number uint64) (sql.Row, error) {
	row = t.presentStamps(ctx, row)
	for _, i := range t.stamps {
		at, micros, ok := t.stampFits(row, i)
		if ok {
			continue
		}
		name := t.pk.Schema[i].Name
		if !ignore && sql.LoadSqlMode(ctx).Strict() {
			return nil, sqlerr.New(sqlerr.TruncatedWrongValue, "Incorrect datetime value: '%s' for column '%s' at row %d",
				displayValue(ctx, t.pk.Schema[i].Type, at), name, number)
		}
		row = row.Copy()
		if micros < rowenc.MinInstant || micros > rowenc.MaxInstant {
			ctx.Warn(sqlerr.OutOfRange, "Out of range value for column '%s' at row %d", name, number)
			row[i] = types.ZeroTime
		} else {
			ctx.Warn(sqlerr.InvalidTimestamp, "Invalid TIMESTAMP value in column '%s' at row %d", name, number)
			row[i] = t.zone.Local(micros)
		}
	}
	return row, nil
}

// presentStamps is the row in which a time of day that comes twice, and is the statement's, is that of the statement: the library's conversions take
// the mark from what NOW() says.
func (t *Table) presentStamps(ctx *sql.Context, row sql.Row) sql.Row {
	if t.zone.Fixed() {
		return row
	}
	present := t.zone.Local(ctx.QueryTime().UnixMicro())
	if !rowenc.Marked(present) {
		return row
	}
	same := true
	for _, i := range t.stamps {
		at, ok := row[i].(time.Time)
		if !ok || at.Sub(present).Abs() >= time.Second || !t.zone.Unmarked(at) { // it was cut or rounded to the column's digits
			continue
		}
		if same {
			row, same = row.Copy(), false
		}
		row[i] = rowenc.Marking(at)
	}
	return row
}

// stampFits reports whether nothing is wrong with a TIMESTAMP of a row, and what it is.
func (t *Table) stampFits(row sql.Row, i int) (at time.Time, micros int64, ok bool) {
	if at, ok = row[i].(time.Time); !ok || at.Equal(types.ZeroTime) {
		return at, 0, true
	}
	micros, exists := t.zone.Instant(at)
	return at, micros, exists && micros >= rowenc.MinInstant && micros <= rowenc.MaxInstant
}

// stamped reports whether a table has TIMESTAMP columns.
func stamped(desc *catalog.Table) bool {
	return slices.ContainsFunc(desc.Columns, func(c catalog.Column) bool { return c.Type.Kind == "timestamp" })
}

// filled is what rows that are older than the column have in it.
func (t *Table) filled(c *catalog.Column, typ sql.Type) (any, error) {
	v, err := rowenc.DecodeValue(typ, c.Fill)
	if at, ok := v.(time.Time); ok && isStamp(typ) {
		return t.zone.Local(at.UnixMicro()), err
	}
	return v, err
}

// A DEFAULT of a TIMESTAMP column that is one literal is an instant, too: stored in UTC, and shown in the session's zone.

// localDefault is such a default in a zone; other texts stay as they are.
func localDefault(zone *rowenc.Zone, text string) string {
	at, ok := literalDefault(text)
	if zone == nil || !ok {
		return text
	}
	return stampText(zone.Local(at.UnixMicro()))
}

// storedDefault is the way back. There is one for each time of day; what clocks have left out is an error.
func storedDefault(zone *rowenc.Zone, column, text string) (string, error) {
	at, ok := literalDefault(text)
	if zone == nil || !ok {
		return text, nil
	}
	micros, exists := zone.Instant(at)
	if !exists {
		return "", sqlerr.New(sqlerr.InvalidDefault, "Invalid default value for '%s'", column)
	}
	return stampText(time.UnixMicro(micros).UTC()), nil
}

func literalDefault(text string) (time.Time, bool) {
	if len(text) < 2 || text[0] != '\'' || text[len(text)-1] != '\'' {
		return time.Time{}, false
	}
	at, _, ok := eval.ParseTime(text[1 : len(text)-1])
	return at, ok
}

func stampText(at time.Time) string {
	return "'" + at.Format("2006-01-02 15:04:05.999999") + "'"
}

// unmarked reports whether a row has a time of day that comes twice and does not say which it is: it may have come from the second by a way on
// which that was lost.
func (t *Table) unmarked(row sql.Row) bool {
	if t.zone.Fixed() {
		return false
	}
	return slices.ContainsFunc(t.stamps, func(i int) bool {
		at, ok := row[i].(time.Time)
		return ok && t.zone.Unmarked(at)
	})
}

// sameStamps is the new form of a row in which times of day that stay are the same instants.
func (t *Table) sameStamps(old, row sql.Row) sql.Row {
	if t.zone.Fixed() {
		return row
	}
	same := true
	for _, i := range t.stamps {
		was, ok := old[i].(time.Time)
		is, ok2 := row[i].(time.Time)
		if !ok || !ok2 || !was.Equal(is) || !rowenc.Marked(was) || rowenc.Marked(is) {
			continue
		}
		if same {
			row, same = row.Copy(), false
		}
		row[i] = was
	}
	return row
}
