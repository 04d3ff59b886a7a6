package parse

import (
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// declarable refuses column types and names of keys that MySQL refuses, in its words. The planner takes some
// of them, and has no number for others.
func (r *rewriter) declarable(d *ast.DDL) error {
	if d.TableSpec != nil {
		for _, c := range d.TableSpec.Columns {
			if err := r.declarableType(c.Name.String(), &c.Type); err != nil {
				return err
			}
		}
		for _, x := range d.TableSpec.Indexes {
			if x.Info != nil && !x.Info.Primary && strings.EqualFold(x.Info.Name.String(), "primary") {
				return wrongIndexName(x.Info.Name.String())
			}
		}
	}
	if x := d.IndexSpec; x != nil && x.Type != ast.PrimaryStr {
		for _, name := range []string{x.ToName.String(), x.FromName.String()} {
			if strings.EqualFold(name, "primary") && x.Action != ast.DropStr {
				return wrongIndexName(name)
			}
		}
	}
	return nil
}

func wrongIndexName(name string) error {
	return sqlerr.New(sqlerr.WrongIndexName, "Incorrect index name '%s'", name)
}

func (r *rewriter) declarableType(name string, t *ast.ColumnType) error {
	number := func(v *ast.SQLVal) int {
		if v == nil {
			return 0
		}
		n, err := strconv.Atoi(string(v.Val))
		if err != nil {
			return 1 << 30
		}
		return n
	}
	length := number(t.Length)
	tooWide := func(most int) error {
		return sqlerr.New(sqlerr.TooBigDisplayWidth, "Display width out of range for column '%s' (max = %d)",
			name, most)
	}
	switch strings.ToLower(t.Type) {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint":
		if length > 255 {
			return tooWide(255)
		}
	case "bit":
		if length > 64 {
			return tooWide(64)
		}
	case "decimal", "numeric", "dec", "fixed":
		if scale := number(t.Scale); scale > 30 {
			return sqlerr.New(sqlerr.TooBigScale,
				"Too big scale %d specified for column '%s'. Maximum is 30.", scale, name)
		}
	case "float":
		if t.Scale == nil && length > 53 {
			return sqlerr.New(sqlerr.WrongFieldSpec, "Incorrect column specifier for column '%s'", name)
		}
	case "varchar", "varbinary", "character varying", "nvarchar":
		if t.Length == nil && t.ResolvedType == nil {
			return sqlerr.Syntax(r.src, r.behind(t.Type))
		}
	}
	return nil
}

// behind is the place of what follows the first occurrence of a word that is not followed by a parenthesis.
func (r *rewriter) behind(typ string) int {
	last := typ
	if i := strings.LastIndexByte(typ, ' '); i >= 0 {
		last = typ[i+1:]
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	for t := l.next(); t.kind != eof; {
		n := l.next()
		if l.is(t, strings.ToLower(last)) && !l.isByte(n, '(') {
			return n.start
		}
		t = n
	}
	return len(r.src)
}
