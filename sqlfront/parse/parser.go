package parse

import (
	"context"
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"

	"moka/sqlfront/expr"
	"moka/sqlfront/identifier"
	"moka/sqlfront/loaddata"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/sqlfront/unions"
)

// Parser is go-mysql-server's parser with MySQL's and Moka's additions. It has no state; one serves all
// sessions.
type Parser struct {
	hooks Hooks
}

var _ sql.Parser = (*Parser)(nil)

// ViewReader is a session that knows whether a text is that of a view which the planner has just
// asked it for, and of which.
type ViewReader interface {
	ReadsView(text string) (v *rights.Stored, ok bool)
}

// TableCopier is a session that is told of CREATE TABLE … LIKE: it then names to the planner what
// it hides from queries.
type TableCopier interface{ CopiesTable() }

// SnapshotPinner is a session that is told of START TRANSACTION WITH CONSISTENT SNAPSHOT, which the grammar
// takes for one without.
type SnapshotPinner interface{ PinsSnapshot() }

// New returns a parser. Statements whose hook is nil are refused with "not yet supported".
func New(h Hooks) *Parser { return &Parser{hooks: h} }

// ParseSimple implements sql.Parser. It is for what is kept as text of a table, conditions and values, which
// mean the same whoever writes a row, and have no comments.
func (p *Parser) ParseSimple(query string) (ast.Statement, error) {
	stmt, _, err := p.one(context.Background(), query, ast.ParserOptions{}, false)
	if s, ok := stmt.(*ast.Select); ok && err == nil && len(s.SelectExprs) == 1 && len(s.From) == 0 {
		expr.CollateColumn(s, sql.Collation_utf8mb4_0900_ai_ci)
	}
	return stmt, err
}

// Parse implements sql.Parser.
func (p *Parser) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	return p.ParseWithOptions(ctx, query, ';', multi, sql.LoadSqlMode(ctx).ParserOptions())
}

// ParseWithOptions implements sql.Parser. What it returns as the parsed text is the user's text, not the
// edited one: it is shown in process lists and logs, and views and procedures are cut out of it by offset
// (texts of which are never moved by an edit, only blanked).
func (p *Parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool,
	o ast.ParserOptions) (stmt ast.Statement, parsed, remainder string, err error) {
	var stored *rights.Stored
	if sc, ok := ctx.(*sql.Context); ok {
		if reader, ok := sc.Session.(ViewReader); ok {
			stored, _ = reader.ReadsView(query)
		}
	}
	code, open := unwrap(query, o.AnsiQuotes)
	code = dashes(code, o.AnsiQuotes)
	all := sql.RemoveSpaceAndDelimiter(code, delimiter)
	s, cut, one := all, 0, false
	if multi {
		cut, one = firstStatement(all, o.AnsiQuotes)
	}
	if open >= 0 {
		if open -= strings.Index(code, all); !one || open < cut {
			return nil, "", "", sqlerr.Syntax(all, min(open, len(all)))
		}
	}
	if one {
		s = all[:min(cut+afterStatement, len(all))]
	}
	parsed = s
	stmt, end, err := p.one(ctx, s, o, multi)
	if d, ok := stmt.(*ast.DDL); ok && stored != nil && d.ViewSpec != nil {
		rights.View(d, stored)
		expr.Collate(d.ViewSpec.ViewExpr, stored.Literals)
	}
	if err == nil {
		stmt, err = p.throughView(ctx, stmt, s)
		if x, ok := stmt.(*ast.Explain); ok { // of what writes through a view
			rights.Explained(x)
		}
	}
	if err == nil {
		err = askUnions(stmt)
	}
	if multi && 0 < end && end < len(all) {
		parsed, remainder = sql.RemoveSpaceAndDelimiter(s[:end], delimiter), all[end:]
		if d, ok := stmt.(*ast.DDL); ok { // the grammar had read on when it came to its end
			d.SubStatementPositionEnd = min(d.SubStatementPositionEnd, len(parsed))
		}
	}
	return stmt, parsed, remainder, err
}

// ParseOneWithOptions implements sql.Parser. It is how the library reads what is prepared, by either
// protocol.
func (p *Parser) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement,
	int, error) {
	query, open := unwrap(query, o.AnsiQuotes)
	if open >= 0 {
		return nil, 0, sqlerr.Syntax(query, open)
	}
	query = dashes(query, o.AnsiQuotes)
	stmt, end, err := p.one(ctx, query, o, true)
	if err == nil {
		stmt, err = p.throughView(ctx, stmt, query[:min(end, len(query))])
	}
	if err == nil {
		err = askUnions(stmt)
	}
	return stmt, end, err
}

func askUnions(stmt ast.Statement) error {
	if what := unions.Refused(stmt); what != "" {
		return sqlerr.Unsupported(what)
	}
	unions.Ask(stmt)
	return nil
}

// throughView hands the statement to ThroughView. text is what it was parsed from.
func (p *Parser) throughView(ctx context.Context, stmt ast.Statement, text string) (ast.Statement, error) {
	if p.hooks.ThroughView == nil {
		return stmt, nil
	}
	out, err := p.hooks.ThroughView(ctx, stmt, containsWord(text, "using") || containsWord(text, "natural"),
		strings.Count(text, "*") > fewStars)
	if err != nil {
		return nil, err // with a statement at hand the library would not look at the error
	}
	return out, nil
}

// one parses the first statement of s and says where the next begins. With multi unset there must be no next.
func (p *Parser) one(ctx context.Context, s string, o ast.ParserOptions, multi bool) (stmt ast.Statement,
	end int, err error) {
	defer func() {
		// The grammar's helpers slice by offsets that they computed from the text; what they
		// make of junk is theirs.
		if r := recover(); r != nil {
			stmt, end, err = nil, 0, sqlerr.New(sqlerr.SyntaxError, "the statement cannot be parsed (%v)", r)
		}
	}()
	if s, err = scannable(s, o.AnsiQuotes); err != nil {
		return nil, 0, err
	}
	if identifier.Mentions(s) {
		if s, err = spelledNames(s, o.AnsiQuotes); err != nil {
			return nil, 0, err
		}
		if identifier.Mentions(s) {
			defer func() {
				if stmt != nil && err == nil {
					err = checkNames(stmt)
				}
			}()
		}
	}
	if mentionsOldNames(s) {
		s = spelled(s, oldIntervalFunction, oldUnitsFunction, padded)
	}
	r := rewriter{parser: p, src: s, ansi: o.AnsiQuotes}
	stmt, end, err = p.parse(ctx, &r, o, multi)
	if d, ok := stmt.(*ast.DDL); ok && err == nil && r.routine != nil && d.ProcedureSpec != nil {
		created, err := r.finishRoutine(ctx, d, strings.TrimSuffix(strings.TrimSpace(s[:end]), ";"), o)
		if err != nil {
			return nil, 0, err
		}
		if stmt, err = p.hooks.CreateRoutine(ctx, *created); err != nil {
			return nil, 0, err
		}
		return stmt, end, nil
	}
	if err == nil {
		if hook := p.hooks.RenameTables; hook != nil {
			if moved, err := RenameTables(ctx, stmt, hook); moved != nil || err != nil {
				return moved, end, err
			}
		}
		rights.Demand(stmt)
		stmt = p.replaceCalls(stmt, false)
		if l, ok := stmt.(*ast.Load); ok {
			if err := loaddata.Order(l); err != nil {
				return nil, 0, err
			}
		}
		if d, ok := stmt.(*ast.DDL); ok && d.OptLike != nil && len(d.OptLike.LikeTables) == 1 &&
			d.TableSpec == nil && p.hooks.CreateLike != nil {
			stmt, err = p.hooks.CreateLike(ctx, CreateLike{
				Table: nameOf(d.Table), Source: nameOf(d.OptLike.LikeTables[0]), Temporary: d.Temporary,
				IfNotExists: d.IfNotExists, Auth: d.Auth,
			})
			return stmt, end, err
		}
		if d, ok := stmt.(*ast.DDL); ok && d.TriggerSpec != nil && p.hooks.TriggerBody != nil {
			d.TriggerSpec.Body = p.hooks.TriggerBody()
		}
	}
	return stmt, end, err
}

func nameOf(t ast.TableName) Name { return Name{t.DbQualifier.String(), t.Name.String()} }

// parse does the work of one; the user's text is that of r.
func (p *Parser) parse(ctx context.Context, r *rewriter, o ast.ParserOptions, multi bool) (stmt ast.Statement,
	end int, err error) {
	s := r.src
	if containsWord(r.src, "rollup") {
		r.rollup()
	}
	r.assignments()
	r.announced()
	r.constants()
	r.intervals()
	r.comparedExists()
	r.forms()
	stmt, end, done, err := r.head(ctx, o)
	if err == nil && !done {
		text := r.edits.apply(r.src)
		stmt, end, err = vitess(ctx, text, o, multi)
		if err != nil {
			plain := append(edits(nil), r.edits...)
			again, to, ok := r.quoteNames(ctx, o, multi, text, err)
			if !ok {
				if refused := r.notSupported(); refused != nil {
					return nil, 0, refused
				}
				if at, ok := errorAt(ctx, text, o, err); ok {
					return nil, 0, sqlerr.Syntax(s, plain.original(at))
				}
				return nil, end, err
			}
			stmt, end, err = again, to, nil
			r.moved = true
		}
		if r.sounds {
			sounding(stmt)
		}
		if end = r.edits.original(end); end > len(s) {
			end = len(s)
		}
		if d, ok := stmt.(*ast.DDL); ok && r.moved {
			// The body of a trigger is cut out of the user's text, where there is no block around it.
			d.SubStatementPositionStart = r.edits.original(d.SubStatementPositionStart)
			d.SubStatementPositionEnd = min(r.edits.original(d.SubStatementPositionEnd), len(s))
		}
		if d, ok := stmt.(*ast.DDL); ok && d.EventSpec != nil {
			// The grammar sees where a body of one statement ends when it has read what is behind it.
			one := s
			if multi && 0 < end && end < len(s) {
				one = s[:end]
			}
			d.SubStatementPositionEnd = min(d.SubStatementPositionEnd,
				len(sql.RemoveSpaceAndDelimiter(one, ';')))
		}
		if d, ok := stmt.(*ast.DDL); ok && d.ViewSpec != nil &&
			d.ViewSpec.CheckOption != ast.ViewCheckOptionUnspecified {
			// The grammar has read the WITH of WITH CHECK OPTION before it knows where the SELECT ends.
			if from, to := d.SubStatementPositionStart,
				d.SubStatementPositionEnd; 0 <= from && from <= to && to <= len(s) {
				if def := strings.TrimRight(s[from:to], " \t\r\n"); len(def) > 4 &&
					strings.EqualFold(def[len(def)-4:], "with") {
					d.SubStatementPositionEnd = from + len(strings.TrimRight(def[:len(def)-4], " \t\r\n"))
				}
			}
		}
		run := explained(stmt)
		if err := shallow(run, text, r.assigns); err != nil {
			return nil, 0, err
		}
		if err := joinable(run, text); err != nil {
			return nil, 0, err
		}
		if err := nameable(run); err != nil {
			return nil, 0, err
		}
		if err := semijoinable(run, text); err != nil {
			return nil, 0, err
		}
		if err := soundLiterals(run, text); err != nil {
			return nil, 0, err
		}
		nearRows(run, text)
		if err := narrow(run, text); err != nil {
			return nil, 0, err
		}
		if err := expandable(run, text); err != nil {
			return nil, 0, err
		}
		if err := evaluable(run, text); err != nil {
			return nil, 0, err
		}
		if err := convertible(run, text); err != nil {
			return nil, 0, err
		}
		if what := syntax.Stray(run); what == "``" {
			return nil, 0, sqlerr.New(sqlerr.BadField, "Unknown column '' in 'field list'")
		} else if what != "" {
			return nil, 0, sqlerr.New(sqlerr.SyntaxError, "You have an error in your SQL syntax: "+
				"%s is no value by itself", what)
		}
		if err := onePrimaryKey(stmt); err != nil {
			return nil, 0, err
		}
		if err := r.noPartitions(stmt); err != nil {
			return nil, 0, err
		}
		if a, ok := stmt.(*ast.AlterTable); ok {
			a.Statements = namedLater(a.Statements)
			checksOfNew(a)
		}
		if err := r.tableOptions(ctx, stmt); err != nil {
			return nil, 0, err
		}
		if err := noMisusedAggregate(stmt); err != nil {
			return nil, 0, err
		}
		if err := explainFormat(stmt); err != nil {
			return nil, 0, err
		}
		if err := noBlindGeometry(stmt); err != nil {
			return nil, 0, err
		}
		if err := p.computable(ctx, stmt); err != nil {
			return nil, 0, err
		}
		for _, d := range clauses(stmt) {
			if err := noHiddenNames(d); err != nil {
				return nil, 0, err
			}
			if err := r.declarable(d); err != nil {
				return nil, 0, err
			}
		}
		if d, ok := stmt.(*ast.DDL); ok {
			if d.OptLike != nil {
				copiesTable(ctx)
			}
			if err := functionalKeys(d); err != nil {
				return nil, 0, err
			}
			if d.ViewSpec != nil && !storedDefinition(ctx) {
				if err := distinctColumns(d.ViewSpec); err != nil {
					return nil, 0, err
				}
			}
			if d.ViewSpec != nil && !storedDefinition(ctx) && expr.MentionsVariables(d.ViewSpec.ViewExpr) {
				return nil, 0, sqlerr.New(sqlerr.ViewVariable,
					"View's SELECT contains a variable or parameter")
			}
		}
		for _, d := range clauses(stmt) {
			if err := storedExpressions(ctx, d, o); err != nil {
				return nil, 0, err
			}
		}
		if err := declareDigits(stmt); err != nil {
			return nil, 0, err
		}
		declareDescending(stmt)
		if r.routine == nil && !r.stored {
			p.editTree(ctx, stmt, r)
		}
	}
	if err == nil && done && !multi && strings.TrimSpace(s[end:]) != "" {
		return nil, 0, sqlerr.Syntax(s, end)
	}
	return stmt, end, err
}

func copiesTable(ctx context.Context) {
	if sc, ok := ctx.(*sql.Context); ok {
		if c, ok := sc.Session.(TableCopier); ok {
			c.CopiesTable()
		}
	}
}

// startTransaction looks for WITH CONSISTENT SNAPSHOT.
func startTransaction(ctx context.Context, l *lexer) {
	for _, w := range []string{"transaction", "with", "consistent", "snapshot"} {
		if t := l.next(); !l.is(t, w) {
			return
		}
	}
	if sc, ok := ctx.(*sql.Context); ok {
		if p, ok := sc.Session.(SnapshotPinner); ok {
			p.PinsSnapshot()
		}
	}
}

// errorAt finds the offset of the token that the grammar could not use. vitess reports the place one byte
// behind that token. When that is the end of the text, it cannot be told from the message whether the last
// token was wrong or whether more was expected; parsing once more with a junk token behind it can: only in
// the second case the error moves to it.
func errorAt(ctx context.Context, text string, o ast.ParserOptions, err error) (int, bool) {
	if errors.Is(err, ast.ErrEmpty) {
		return 0, false
	}
	end, ok := syntaxPosition(err)
	if !ok {
		return 0, false
	}
	if end >= len(text) {
		trimmed := strings.TrimRight(text, " \t\r\n;")
		_, _, again := ast.ParseOneWithOptions(ctx, trimmed+" \x01", o)
		if pos, ok := syntaxPosition(again); !ok || pos > len(trimmed) {
			return len(text), true
		}
		end = len(trimmed)
	}
	l := lexer{s: text, ansi: o.AnsiQuotes}
	at := end
	for t := l.next(); t.kind != eof && t.start < end; t = l.next() {
		at = t.start
	}
	return at, true
}

// syntaxPosition is where the offending token ends.
func syntaxPosition(err error) (int, bool) {
	if err == nil {
		return 0, false
	}
	se, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return 0, false
	}
	return max(0, se.Position-1), true
}

// blankLines is as long as s and has its line breaks, so that places and line numbers stay.
func blankLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(asciiOnly(s), " "))
}

func asciiOnly(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 0x80 {
			b[i] = ' '
		}
	}
	return string(b)
}

// errAt is a syntax error at a token of the user's text.
func (r *rewriter) errAt(t token) error { return sqlerr.Syntax(r.src, t.start) }

func unsupported(what string) error { return sqlerr.Unsupported(what) }

// KeptBytes is about what the tree of a statement takes that is kept to be executed: small nodes, of which
// a list of numbers has one for two characters.
func KeptBytes(text string) int64 { return 32 * int64(len(text)) }

// ReadingBytes is about what the reading of a statement takes and its plan, with the copies of its text.
func ReadingBytes(text string, ansiQuotes bool) int64 {
	return CopiesOfText*int64(len(text)) + TreeBytes(text, ansiQuotes)
}

const (
	// LeastTree is from which text on the reading is charged for.
	LeastTree = 4 << 10
	// CopiesOfText is about how often the text of a statement is there while it is read and run.
	CopiesOfText = 8
)

// TreeBytes is about what the tree and the plan of a statement take beside its text: a node or two for each
// word, number and sign.
func TreeBytes(text string, ansiQuotes bool) (n int64) {
	l := &lexer{s: text, ansi: ansiQuotes}
	for t := l.next(); t.kind != eof; t = l.next() {
		n += tokenBytes
	}
	return n
}

// tokenBytes is a token's part of them: a list of ten million numbers, with its commas, was seen to take
// 1.7 GB.
const tokenBytes = 80
