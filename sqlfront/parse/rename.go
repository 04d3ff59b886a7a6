package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Rename is one of the renames of RENAME TABLE, or ALTER TABLE … RENAME.
type Rename struct{ From, To Name }

// renames are those of a statement with names of databases in it, which the planner does not look at in a new
// name, and those of ALTER TABLE, which may be of a temporary table; alone says that there is nothing else in
// the statement.
func renames(stmt ast.Statement) (all []Rename, alter, alone bool) {
	add := func(from, to ast.TableName) { all = append(all, Rename{nameOf(from), nameOf(to)}) }
	switch s := stmt.(type) {
	case *ast.DDL:
		if s.Action == ast.RenameStr && len(s.FromTables) == len(s.ToTables) {
			for i := range s.FromTables {
				add(s.FromTables[i], s.ToTables[i])
			}
		}
	case *ast.AlterTable:
		for _, d := range s.Statements {
			if d.Action == ast.RenameStr && len(d.ToTables) == 1 {
				add(s.Table, d.ToTables[0])
			}
		}
		return all, true, len(s.Statements) == 1
	}
	return qualified(all), false, true
}

// qualified are the renames if one of their names has a database.
func qualified(all []Rename) []Rename {
	for _, r := range all {
		if r.From.Database != "" || r.To.Database != "" {
			return all
		}
	}
	return nil
}

// RenameTables is a statement that renames tables of other databases than the current one, or a temporary
// one; nil for any other.
func RenameTables(ctx context.Context, stmt ast.Statement,
	hook func(ctx context.Context, all []Rename, alter bool) (ast.Statement, error)) (ast.Statement, error) {
	all, alter, alone := renames(stmt)
	if all == nil {
		return nil, nil
	}
	moved, err := hook(ctx, all, alter)
	if moved != nil && !alone {
		return nil, unsupported("ALTER TABLE … RENAME of a temporary table, or in another database than " +
			"the current one, beside other changes; make it two statements")
	}
	return moved, err
}

// RetargetTrigger is the text of a CREATE TRIGGER with another table's name in ON. The rest stays as it was
// written: a database before the name, comments, the body. A text without ON comes back as it is.
func RetargetTrigger(text, table string, ansi bool) string {
	l := lexer{s: text, ansi: ansi}
	t := l.next()
	for _, w := range []string{"trigger", "on"} { // both are reserved: no name before them is written so
		for t.kind != eof && !l.is(t, w) {
			t = l.next()
		}
	}
	name := l.next()
	for {
		at := l.pos
		if t = l.next(); !l.isByte(t, '.') {
			l.pos = at
			break
		}
		name = l.next()
	}
	if name.kind == eof {
		return text
	}
	return text[:name.start] + "`" + strings.ReplaceAll(table, "`", "``") + "`" + text[name.end:]
}
