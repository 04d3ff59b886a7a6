package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"moka/tpce/client"
	"moka/tpce/gen"
	"moka/tpce/schema"
)

// ChecksumReport says what the 33 tables hold. After a load, and before any run, every table equals what the
// generator makes, on every server.
type ChecksumReport struct {
	Target  string          `json:"target"`
	Seconds float64         `json:"seconds"`
	Tables  []TableChecksum `json:"tables"`
}

// TableChecksum is one table. The sum does not depend on the order of rows.
type TableChecksum struct {
	Table     string `json:"table"`
	Rows      int64  `json:"rows"`
	Sum       string `json:"sum"`
	Generated bool   `json:"generated"` // the rows are the generator's
}

// Differing are the tables that do not hold the generator's rows.
func (r ChecksumReport) Differing() []string {
	var names []string
	for _, t := range r.Tables {
		if !t.Generated {
			names = append(names, t.Table)
		}
	}
	return names
}

// Text is one line for each table.
func (r ChecksumReport) Text() string {
	var b strings.Builder
	for _, t := range r.Tables {
		as := "as generated"
		if !t.Generated {
			as = "NOT as generated"
		}
		fmt.Fprintf(&b, "%-20s %12s rows  %s  %s\n", t.Table, grouped(t.Rows), t.Sum, as)
	}
	return b.String()
}

// Checksum reads every row of every table, and generates every row, and compares.
func Checksum(ctx context.Context, cfg Config) (ChecksumReport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return ChecksumReport{}, err
	}
	db, err := client.Open(cfg.Target, 2)
	if err != nil {
		return ChecksumReport{}, err
	}
	defer db.Close()
	u, _, err := universeOf(ctx, db, cfg)
	if err != nil {
		return ChecksumReport{}, err
	}
	r := ChecksumReport{Target: client.Redact(cfg.Target)}
	started := time.Now()
	want, err := generatedSums(u)
	if err != nil {
		return r, err
	}
	bar := startProgress(cfg.Progress, "checksum", "rows", loadedRows(u), nil)
	defer bar.finish()
	for _, t := range schema.Tables() {
		have, err := storedSum(ctx, db, t, bar)
		if err != nil {
			return r, fmt.Errorf("tpce: checksum of %s: %w", t.Name, err)
		}
		r.Tables = append(r.Tables, TableChecksum{t.Name, have.rows, fmt.Sprintf("%016x", have.sum),
			have == want[t.Name]})
	}
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}

// tableSum adds up the hashes of rows.
type tableSum struct {
	rows int64
	sum  uint64
}

func (s *tableSum) add(row []byte) {
	s.rows++
	s.sum += xxhash.Sum64(row)
}

// appendCanonical writes a row such that equal rows, whoever holds them, give equal bytes.
func appendCanonical(b []byte, r gen.Row) []byte {
	for _, v := range r {
		switch v := v.(type) {
		case nil:
			b = append(b, 'N')
		case string:
			b = append(append(b, 'S'), v...)
		default:
			b = client.AppendPlain(append(b, 'V'), v)
		}
		b = append(b, 0)
	}
	return b
}

func loadedRows(u *gen.Universe) (n int64) {
	for rows := range maps.Values(u.Totals().Rows) {
		n += rows
	}
	return n
}

func generatedSums(u *gen.Universe) (map[string]tableSum, error) {
	sums := map[string]tableSum{}
	var buf []byte
	add := func(table string, r gen.Row) {
		s := sums[table]
		buf = appendCanonical(buf[:0], r)
		s.add(buf)
		sums[table] = s
	}
	for _, s := range u.Static() {
		for i := range s.Units {
			s.Unit(i, func(r gen.Row) { add(s.Table, r) })
		}
	}
	for unit := range u.LoadUnits() {
		err := u.History(unit, gen.Grown, func(table string, r gen.Row) error {
			add(table, r)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func storedSum(ctx context.Context, db *client.Pool, t schema.Table, bar *progress) (tableSum, error) {
	var s tableSum
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(t.ColumnNames(), ", ")+" FROM "+t.Name)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	dest := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		dest[i] = receiver(c.Type)
	}
	values := make(gen.Row, len(dest))
	var buf []byte
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return s, err
		}
		for i, d := range dest {
			if values[i], err = received(d); err != nil {
				return s, err
			}
		}
		buf = appendCanonical(buf[:0], values)
		s.add(buf)
		bar.done.Add(1)
	}
	return s, rows.Err()
}

// receiver is where a value of the type can be scanned to, NULL included.
func receiver(t schema.Type) any {
	switch t {
	case schema.Balance, schema.FinAgg, schema.Price, schema.Value, schema.Rate:
		return new(sql.Null[gen.Cents])
	case schema.TaxRate:
		return new(sql.Null[gen.TaxFraction])
	case schema.Char, schema.Text:
		return new(sql.NullString)
	case schema.Date:
		return new(sql.Null[dateValue])
	case schema.DateTime:
		return new(sql.NullTime)
	default:
		return new(sql.NullInt64)
	}
}

// dateValue tells a DATE from a DATETIME when both arrive as time.Time.
type dateValue struct{ time.Time }

// Scan reads a DATE.
func (d *dateValue) Scan(src any) error {
	at, ok := src.(time.Time)
	if !ok {
		return fmt.Errorf("a date arrives as %T", src)
	}
	d.Time = at
	return nil
}

func received(d any) (any, error) {
	v, valid := any(nil), false
	switch d := d.(type) {
	case *sql.Null[gen.Cents]:
		v, valid = d.V, d.Valid
	case *sql.Null[gen.TaxFraction]:
		v, valid = d.V, d.Valid
	case *sql.NullString:
		v, valid = d.String, d.Valid
	case *sql.Null[dateValue]:
		v, valid = gen.Date{Time: d.V.Time}, d.Valid
	case *sql.NullTime:
		v, valid = d.Time, d.Valid
	case *sql.NullInt64:
		v, valid = d.Int64, d.Valid
	default:
		return nil, errors.New("no receiver")
	}
	if !valid {
		return nil, nil
	}
	return v, nil
}
