// Package prepared has what the statements are charged for that PREPARE gives names: those whose text no
// message of the client has brought.
package prepared

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/parse"
)

// Session is who is charged.
type Session interface {
	GetUserVariable(ctx *sql.Context, name string) (sql.Type, any, error)
	// Keep charges for n more bytes between statements, or fewer.
	Keep(n int64, what string) error
	// ChargeValue charges for what by has made last.
	ChargeValue(ctx *sql.Context, by any, n int64) error
}

// Names are the statements of a session. Those of the binary protocol are charged for by the connection,
// which knows when they are closed.
type Names struct{ by map[string]size }

// size is what a statement takes: as long as it has its name, and while it is read or runs.
type size struct{ kept, reading int64 }

// reading is the user of what Reads charges for.
type reading struct{}

// Reads charges for the tree and the plan of a text that PREPARE reads or EXECUTE runs, before there is one.
// The last one of a statement counts until its end: a procedure may have thousands, one after the other.
func (n *Names) Reads(ctx *sql.Context, s Session, stmt ast.Statement) error {
	var bytes int64
	switch p := stmt.(type) {
	case *ast.Prepare:
		text, err := textOf(ctx, s, p)
		if err != nil {
			return err
		}
		bytes = readingBytes(text)
	case *ast.Execute:
		bytes = n.by[p.Name].reading
	default:
		return nil
	}
	return s.ChargeValue(ctx, reading{}, bytes)
}

// Keep charges for a statement that PREPARE has given a name.
func (n *Names) Keep(ctx *sql.Context, s Session, p *ast.Prepare) error {
	text, err := textOf(ctx, s, p)
	if err != nil {
		return err
	}
	kept := parse.KeptBytes(text)
	if err := s.Keep(kept-n.by[p.Name].kept, "prepared statements"); err != nil {
		return err
	}
	if n.by == nil {
		n.by = map[string]size{}
	}
	n.by[p.Name] = size{kept, readingBytes(text)}
	return nil
}

// Drop gives back what a statement was charged.
func (n *Names) Drop(s Session, name string) {
	_ = s.Keep(-n.by[name].kept, "") // giving back does not fail
	delete(n.by, name)
}

func readingBytes(text string) int64 {
	if len(text) < parse.LeastTree {
		return 0
	}
	return parse.ReadingBytes(text, false)
}

// textOf is what PREPARE prepares: a literal, or what a user variable has.
func textOf(ctx *sql.Context, s Session, p *ast.Prepare) (string, error) {
	name, variable := strings.CutPrefix(p.Expr, "@")
	if !variable {
		return p.Expr, nil
	}
	_, v, err := s.GetUserVariable(ctx, strings.ToLower(strings.Trim(name, "@")))
	if err != nil {
		return "", err
	}
	text, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	word, _ := text.(string)
	return word, nil
}
