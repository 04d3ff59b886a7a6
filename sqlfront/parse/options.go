package parse

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Options of tables. The grammar reads most of them and the planner forgets them; behind ALTER TABLE the
// grammar wants commas between them. So they are taken out of ALTER TABLE before it is parsed, and in either
// statement they go to the catalog in front of the table's comment.

// alterOptions takes the options out of the clauses of ALTER TABLE, and PARTITION BY out of it and CREATE
// TABLE; l stands behind the name of the table.
func (r *rewriter) alterOptions(l *lexer) {
	t := l.next()
	for t.kind != eof && !l.isByte(t, ';') {
		if t = r.optionRun(l, t); t.kind == eof || l.isByte(t, ';') {
			return
		}
		// The rest of a clause.
		depth := 0
		for ; t.kind != eof && !(depth == 0 && (l.isByte(t, ',') || l.isByte(t, ';'))); t = l.next() {
			switch {
			case l.isByte(t, '('):
				depth++
			case l.isByte(t, ')'):
				depth--
			case depth == 0 && l.is(t, "partition") && r.partitionBy(l, t):
				return
			}
		}
		if l.isByte(t, ',') {
			t = l.next()
		}
	}
}

// optionRun handles the options at the beginning of a clause, which may stand without commas, and returns
// what comes behind them.
func (r *rewriter) optionRun(l *lexer, t token) token {
	separate := false // the last thing was an option that the grammar is to see
	for first := true; ; first = false {
		at := *l
		name := strings.ToLower(l.text(t))
		var value, next token
		switch own := catalog.KnownOption(name) || name == "engine" || ignoredOptions[name]; {
		case t.kind != word:
			return t
		case own:
			value = l.next()
			if l.isByte(value, '=') {
				value = l.next()
			}
			if value.kind != word && value.kind != quoted && value.kind != num && value.kind != str {
				*l = at
				return t
			}
			r.taken = append(r.taken, tableOption{name, optionValue(l, value)})
			next = l.next()
			switch {
			case first:
				r.edits.replace(t.start, value.end, "force")
			case separate:
				r.edits.replace(t.start, value.end, ", force")
			default:
				r.edits.blank(t.start, value.end)
			}
			separate = false
		case name == "alter" && first:
			what, check, word := l.next(), l.next(), l.next()
			not := l.is(word, "not")
			if not {
				word = l.next()
			}
			if !l.is(what, "check") && !l.is(what, "constraint") || !l.is(word, "enforced") {
				*l = at
				return t
			}
			enforced := "1"
			if not {
				enforced = "0"
			}
			r.taken = append(r.taken, tableOption{catalog.OptionCheck + l.name(check), enforced})
			r.edits.replace(t.start, word.end, "force")
			return l.next()
		case name == "order":
			if by := l.next(); !l.is(by, "by") {
				*l = at
				return t
			}
			end := l.next()
			for next = l.next(); ; next = l.next() {
				if l.isByte(next, ',') {
					ahead := *l
					if n := ahead.next(); n.kind == quoted ||
						n.kind == word && !alterWords[strings.ToLower(l.text(n))] {
						continue
					}
				} else if next.kind == word || next.kind == quoted {
					end = next
					continue
				}
				break
			}
			r.taken = append(r.taken, tableOption{catalog.OptionOrder, "1"})
			r.edits.replace(t.start, end.end, "force")
			return next
		case name == "comment" || name == "auto_increment":
			if value = l.next(); l.isByte(value, '=') {
				value = l.next()
			}
			if !first {
				r.edits.replace(t.start, t.start, ", ")
			}
			next, separate = l.next(), true
		case name == "default" || name == "charset" || name == "character" || name == "collate":
			if !first {
				r.edits.replace(t.start, t.start, ", ")
			}
			// [DEFAULT] {CHARSET | CHARACTER SET} [=] x [[DEFAULT] COLLATE [=] y]
			for next = t; next.kind == word && (l.is(next, "default") || l.is(next, "charset") ||
				l.is(next, "character") || l.is(next, "collate")); {
				if l.is(next, "charset") {
					r.edits.replace(next.start, next.end, "character set")
				}
				if l.is(next, "default") && next != t {
					r.edits.blank(next.start, next.end)
				}
				v := l.next()
				if l.is(next, "default") {
					next = v
					continue
				}
				if l.is(v, "set") {
					v = l.next()
				}
				if l.isByte(v, '=') {
					v = l.next()
				}
				next = l.next()
			}
			separate = true
		default:
			if !first && t.kind == word && !l.is(t, "partition") && !l.is(t, "remove") {
				// An option of the grammar's that takes no comma, or something that is wrong: the grammar
				// says so.
				return t
			}
			return t
		}
		if next.kind != word {
			return next
		}
		t = next
	}
}

// ignoredOptions are read and mean nothing here.
var ignoredOptions = map[string]bool{
	"insert_method": true, "table_checksum": true, "page_checksum": true, "transactional": true,
	"password": true, "connection": true, "engine_attribute": true,
	"secondary_engine_attribute": true, "autoextend_size": true, "encryption": true, "compression": true,
}

// alterWords begin clauses of ALTER TABLE.
var alterWords = map[string]bool{
	"add": true, "alter": true, "change": true, "drop": true, "modify": true, "rename": true, "convert": true,
	"default": true, "engine": true, "force": true, "lock": true,
	"algorithm": true, "comment": true, "auto_increment": true, "row_format": true, "order": true,
	"disable": true, "enable": true,
}

type tableOption struct{ name, value string }

func optionValue(l *lexer, t token) string {
	if t.kind == str {
		return strings.Trim(l.text(t), `'"`)
	}
	return l.name(t)
}

// createOptions looks for PARTITION BY behind the definitions of a CREATE TABLE.
func (r *rewriter) createOptions(l *lexer) {
	depth := 0
	for t := l.next(); t.kind != eof && !l.isByte(t, ';'); t = l.next() {
		switch {
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case depth == 0 && (l.is(t, "select") || l.is(t, "with") || l.is(t, "values")):
			return
		case depth == 0 && l.is(t, "partition") && r.partitionBy(l, t):
			return
		}
	}
}

// partitionBy takes a PARTITION BY out of the text: tables are cut into tablets by their keys, by themselves,
// and the grammar does not know what dumps say of partitions. The table is one without partitions from then
// on: whoever names one is told so.
func (r *rewriter) partitionBy(l *lexer, start token) bool {
	at := *l
	if by := l.next(); !l.is(by, "by") {
		*l = at
		return false
	}
	switch t := l.next(); strings.ToLower(l.text(t)) {
	case "range", "list", "hash", "key", "linear":
	default:
		*l = at
		return false
	}
	end, depth := start, 0
	for t := l.next(); t.kind != eof && !l.isByte(t, ';'); t = l.next() {
		switch {
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case depth == 0 && (l.is(t, "select") || l.is(t, "with") || l.is(t, "as") || l.is(t, "ignore") ||
			l.is(t, "replace")):
			r.cutPartitions(start, end)
			return true
		}
		end = t
	}
	if depth != 0 || end == start {
		*l = at
		return false // the grammar says what is wrong
	}
	r.cutPartitions(start, end)
	return true
}

func (r *rewriter) cutPartitions(start, end token) {
	r.taken = append(r.taken, tableOption{catalog.OptionPartitions, "1"})
	text := blankLines(r.src[start.start:end.end])
	if r.altersOnly(start) {
		text = "force" + text[min(len(text), len("force")):]
	}
	// constants in it, that were written anew
	r.edits = slices.DeleteFunc(r.edits, func(e edit) bool {
		return e.start >= start.start && e.end <= end.end
	})
	r.edits.replace(start.start, end.end, text)
}

// altersOnly reports whether PARTITION BY is all that an ALTER TABLE does: something has to be left.
func (r *rewriter) altersOnly(start token) bool {
	l := &lexer{s: r.src[:start.start], ansi: r.ansi}
	if t := l.next(); !l.is(t, "alter") {
		return false
	}
	if l.next(); !r.skipTable(l) {
		return false
	}
	t := l.next()
	return t.kind == eof
}

// skipTable passes the name of a table behind the word TABLE.
func (r *rewriter) skipTable(l *lexer) bool {
	t := l.next()
	if l.is(t, "if") { // NOT EXISTS
		for t = l.next(); l.is(t, "not") || l.is(t, "exists"); t = l.next() {
		}
	}
	if t.kind != word && t.kind != quoted {
		return false
	}
	at := *l
	if dot := l.next(); l.isByte(dot, '.') {
		l.next()
	} else {
		*l = at
	}
	return true
}

// tableOptions hands the options of a statement to the catalog.
func (r *rewriter) tableOptions(ctx context.Context, stmt ast.Statement) error {
	options := r.taken
	create, _ := stmt.(*ast.DDL)
	if create != nil && create.TableSpec != nil && create.Action == ast.CreateStr {
		create.TableSpec.TableOpts = slices.DeleteFunc(slices.Clone(create.TableSpec.TableOpts),
			func(o *ast.TableOption) bool {
				name := strings.ToLower(o.Name)
				if name != "engine" && !catalog.KnownOption(name) {
					return false
				}
				options = append(options, tableOption{name, strings.Trim(o.Value, "'")})
				return true
			})
	}
	for _, o := range options {
		if o.name == "engine" {
			if err := knownEngine(ctx, o.value); err != nil {
				return err
			}
		}
	}
	kept := map[string]string{}
	for _, o := range options {
		if !ignoredOptions[o.name] && !(o.name == catalog.OptionEngine &&
			strings.EqualFold(o.value, "innodb")) {
			kept[o.name] = o.value
		}
	}
	if create != nil && create.TableSpec != nil && create.Action == ast.CreateStr {
		for _, x := range create.TableSpec.Indexes {
			if x.Info == nil || !x.Info.Primary {
				continue
			}
			var which []string
			for i, f := range x.Fields {
				if strings.EqualFold(f.Order, ast.DescScr) {
					which = append(which, strconv.Itoa(i))
				}
			}
			if which != nil {
				kept[catalog.OptionDescending] = strings.Join(which, ",")
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	switch s := stmt.(type) {
	case *ast.DDL:
		if create == nil || create.TableSpec == nil {
			return nil
		}
		for _, o := range create.TableSpec.TableOpts {
			if strings.EqualFold(o.Name, "comment") {
				o.Value = catalog.MarkOptions(o.Value, kept)
				return nil
			}
		}
		create.TableSpec.TableOpts = append(create.TableSpec.TableOpts,
			&ast.TableOption{Name: "COMMENT", Value: catalog.MarkOptions("", kept)})
	case *ast.AlterTable:
		s.Statements = slices.Insert(s.Statements, 0, &ast.DDL{ // before a RENAME
			Action: ast.AlterStr, Table: s.Table,
			AlterCommentSpec: &ast.AlterCommentSpec{Comment: catalog.MarkOptions("", kept)},
			Auth: ast.AuthInformation{AuthType: ast.AuthType_ALTER,
				TargetType:  ast.AuthTargetType_SingleTableIdentifier,
				TargetNames: []string{s.Table.DbQualifier.String(), s.Table.Name.String()}},
		})
	}
	return nil
}

// engines are those that MySQL knows. All tables are the store's, whichever is named.
var engines = map[string]bool{
	"innodb": true, "myisam": true, "memory": true, "heap": true, "csv": true, "archive": true,
	"blackhole": true, "merge": true, "mrg_myisam": true, "federated": true,
	"ndb": true, "ndbcluster": true, "performance_schema": true,
}

func knownEngine(ctx context.Context, name string) error {
	if engines[strings.ToLower(name)] {
		return nil
	}
	if sc, ok := ctx.(*sql.Context); ok && !sql.LoadSqlMode(sc).ModeEnabled("NO_ENGINE_SUBSTITUTION") {
		return nil // it is the store's, with a warning
	}
	return sqlerr.New(sqlerr.UnknownStorageEngine, "Unknown storage engine '%s'", name)
}

// noPartitions refuses what is said of partitions: there are none, and a statement for one of them must
// not be one for all rows.
func (r *rewriter) noPartitions(stmt ast.Statement) error {
	if !mentionsPartition(r.src) {
		return nil
	}
	if a, ok := stmt.(*ast.AlterTable); ok && len(a.PartitionSpecs) > 0 {
		return sqlerr.New(sqlerr.NotPartitioned,
			"Partition management on a not partitioned table is not possible")
	}
	found := false
	switch s := stmt.(type) {
	case *ast.Insert:
		found = len(s.Partitions) > 0
	case *ast.Delete:
		found = len(s.Partitions) > 0
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if t, ok := n.(*ast.AliasedTableExpr); ok && len(t.Partitions) > 0 {
			found = true
		}
		return !found, nil
	}, stmt)
	if found {
		return sqlerr.New(sqlerr.PartitionClause, "PARTITION () clause on non partitioned table")
	}
	return nil
}

func mentionsPartition(s string) bool {
	for i := 0; i+9 <= len(s); i++ {
		if s[i]|0x20 == 'p' && foldPrefix(s[i:], "partition") {
			return true
		}
	}
	return false
}
