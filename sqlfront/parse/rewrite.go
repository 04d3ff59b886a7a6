package parse

import (
	"context"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	transport "moka/sqlfront/charset"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/upcoming"
)

// rewriter looks at the head of one statement, edits its text where the grammar falls short, or parses it
// whole.
type rewriter struct {
	parser *Parser
	src    string
	ansi   bool
	edits  edits
	parens pairs // of src, once somebody has asked

	shared    bool // FOR SHARE was written as FOR UPDATE
	exclusive bool // the text has a FOR UPDATE of its own
	locks     bool // the text has some lock clause: look for it in the tree
	moved     bool // an edit moved text that is kept
	past      bool // it has AS OF
	assigns   bool // it has @a := … within a query
	sounds    bool // it has SOUNDS LIKE
	whole     bool // semicolons are within the statement: it defines a routine

	taken   []tableOption // taken out of a CREATE or ALTER TABLE
	refused error         // what is wrong with a statement that is edited

	edited  string       // the text with the edits, once somebody has asked
	routine *routineHead // the statement is CREATE PROCEDURE or CREATE FUNCTION
	// the text is that of a stored trigger, whose statements are edited one by one (EditBody)
	stored bool
}

// mention is a set of words that occur in a statement; one pass over the bytes finds them all.
type mention uint8

const (
	mentionsUpdate mention = 1 << iota
	mentionsShare
	mentionsPrimary
	mentionsQuantifier
	mentionsOf
	mentionsHint
	mentionsDefault
)

func mentions(s string) (m mention) {
	for i := 0; i+4 <= len(s); i++ { // "of ?" is the shortest
		switch s[i] | 0x20 {
		case 'a':
			if foldPrefix(s[i:], "any") || foldPrefix(s[i:], "all") {
				m |= mentionsQuantifier
			}
		case 'u':
			if foldPrefix(s[i:], "update") {
				m |= mentionsUpdate
			}
		case 'd':
			if foldPrefix(s[i:], "default") {
				m |= mentionsDefault
			}
		case 's':
			if foldPrefix(s[i:], "share") {
				m |= mentionsShare
			}
			if foldPrefix(s[i:], "some") {
				m |= mentionsQuantifier
			}
		case 'o':
			if s[i+1]|0x20 == 'f' && s[i+2] <= ' ' && i > 0 && s[i-1] <= ' ' {
				m |= mentionsOf
			}
		case 'i':
			if foldPrefix(s[i:], "index for") {
				m |= mentionsHint
			}
		case 'k':
			if foldPrefix(s[i:], "key for") {
				m |= mentionsHint
			}
		case 'p':
			if foldPrefix(s[i:], "primary") {
				m |= mentionsPrimary
			}
		}
	}
	return m
}

// head dispatches on the statement's first word. done says that the statement was parsed here.
func (r *rewriter) head(ctx context.Context, o ast.ParserOptions) (stmt ast.Statement, end int, done bool,
	err error) {
	l := &lexer{s: r.src, ansi: r.ansi}
	first := l.next()
	if first.kind != word {
		if l.isByte(first, '(') {
			r.outerParens(l, first)
		}
		return nil, 0, false, nil
	}
	w := l.text(first)
	if aboutAccounts(w) {
		if stmt, end, done, err = r.account(ctx, l, first); done {
			return stmt, end, done, err
		}
	}
	switch len(w) {
	case 2:
		if fold(w, "do") {
			r.do(l, first)
		}
	case 3:
		if fold(w, "set") {
			if r.set(l); r.refused != nil {
				return nil, 0, true, r.refused
			}
		}
	case 4:
		switch {
		case fold(w, "with"):
			r.selectWords(l, false)
		case fold(w, "desc"):
			r.describe(l, first)
		case fold(w, "drop"):
			return r.dropObserver(ctx, l)
		case fold(w, "lock"):
			return r.instanceLock(ctx, l, false)
		case fold(w, "show"):
			return r.show(ctx, l, first)
		case fold(w, "wait"):
			return r.waitForObservers(ctx, l)
		}
	case 5:
		switch {
		case fold(w, "start"):
			startTransaction(ctx, l)
		case fold(w, "alter"):
			if stmt, end, done, err = r.alterObserver(ctx, l, o); !done && err == nil {
				r.columnTypes()
			}
			return stmt, end, done, err
		case fold(w, "check"):
			return r.checkTable(ctx, l, false)
		case fold(w, "flush"):
			return r.flush(ctx, l)
		case fold(w, "reset"):
			return r.resetPersist(ctx, l)
		case fold(w, "admin"):
			if t := l.next(); l.is(t, "check") {
				return r.checkTable(ctx, l, false)
			}
		case fold(w, "table"):
			r.selectWords(l, false)
		}
	case 6:
		switch {
		case fold(w, "select"):
			r.selectWords(l, true)
		case fold(w, "insert"), fold(w, "update"), fold(w, "delete"):
			r.modifiers(l)
			r.selectWords(l, false)
		case fold(w, "create"):
			if stmt, end, done, err = r.createObserver(ctx, l, o); !done && err == nil {
				r.columnTypes()
			}
			return stmt, end, done, err
		case fold(w, "commit"):
			return r.chain(l, false)
		case fold(w, "unlock"):
			return r.instanceLock(ctx, l, true)
		case fold(w, "notify"):
			return r.notify(ctx, l, o)
		case fold(w, "replay"):
			return r.replayObserver(ctx, l)
		}
	case 7:
		switch {
		case fold(w, "replace"):
			r.modifiers(l)
			r.selectWords(l, false)
		case fold(w, "explain"):
			if stmt, end, done, err = r.explainObserver(ctx, *l); done || err != nil {
				return stmt, end, done, err
			}
			r.explain(l)
		}
	case 8:
		switch {
		case fold(w, "optimize"):
			// What it does in MySQL, space that comes back and fresh statistics: the first is done all
			// the time, by compaction.
			if t := l.next(); l.is(t, "local") || l.is(t, "no_write_to_binlog") {
				r.edits.blank(t.start, t.end)
			}
			r.edits.replace(first.start, first.end, "analyze ")
		case fold(w, "checksum"):
			return r.checkTable(ctx, l, true)
		case fold(w, "rollback"):
			return r.chain(l, true)
		case fold(w, "resignal"):
			return nil, 0, true, sqlerr.New(sqlerr.ResignalWithoutHandler, "RESIGNAL when handler not active")
		case fold(w, "describe"):
			r.describe(l, first)
		}
	}
	return nil, 0, false, nil
}

// selectWords handles what a query may contain: lock clauses, an unquoted PRIMARY in an index hint, and (with
// modifiers set, the lexer standing behind SELECT) the modifiers that have no meaning here.
func (r *rewriter) selectWords(l *lexer, withModifiers bool) {
	if withModifiers {
		for {
			t := l.next()
			switch {
			case l.is(t, "high_priority"), l.is(t, "sql_small_result"), l.is(t, "sql_big_result"),
				l.is(t, "sql_buffer_result"):
				r.edits.blank(t.start, t.end)
				continue
			case l.is(t, "distinctrow"):
				r.edits.replace(t.start, t.end, "distinct   ")
				continue
			case l.is(t, "distinct"), l.is(t, "all"), l.is(t, "straight_join"), l.is(t, "sql_no_cache"),
				l.is(t, "sql_calc_found_rows"):
				continue
			}
			break
		}
	}
	m := mentions(r.src)
	if m == 0 {
		return
	}
	l = &lexer{s: r.src, ansi: r.ansi}
	var prev, before token
	for t := l.next(); t.kind != eof && (r.whole || !l.isByte(t, ';')); t = l.next() {
		switch {
		case l.is(t, "share") && l.is(prev, "for"):
			r.edits.replace(t.start, t.end, "update")
			r.shared, r.locks = true, true
		case l.is(t, "update") && l.is(prev, "for"):
			r.exclusive, r.locks = true, true
		case l.is(t, "mode") && l.is(prev, "share"):
			r.locks = true
		case l.is(t, "primary") && (l.isByte(prev, '(') && (l.is(before, "index") || l.is(before, "key"))):
			r.edits.replace(t.start, t.end, "`PRIMARY`")
		case l.is(t, "for") && (l.is(prev, "index") || l.is(prev, "key")):
			// USE INDEX FOR ORDER BY (…): what a hint is for has no meaning here.
			ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
			switch n := ahead.next(); {
			case ahead.is(n, "join"):
				r.edits.blank(t.start, n.end)
			case ahead.is(n, "order"), ahead.is(n, "group"):
				if by := ahead.next(); ahead.is(by, "by") {
					r.edits.blank(t.start, by.end)
				}
			}
		case prev.kind == punct && (l.is(t, "any") || l.is(t, "some") || l.is(t, "all")):
			r.quantifier(l, prev, t)
		case l.is(t, "default"):
			r.columnDefault(l, t)
		case l.is(t, "of") && l.is(prev, "as"):
			r.past = true
		case l.is(t, "timestamp") && l.is(prev, "of") && l.is(before, "as"):
			// As TiDB writes it. The grammar takes the word before a string only.
			next := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
			if n := next.next(); n.kind != str && !next.isByte(n, '(') {
				r.edits.blank(t.start, t.end)
			}
		}
		before, prev = prev, t
	}
}

// columnDefault writes DEFAULT(c) as a call of a function: the grammar has it in a few places
// only, and without a table.
func (r *rewriter) columnDefault(l *lexer, t token) {
	ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
	if !ahead.isByte(ahead.next(), '(') {
		return
	}
	if name := ahead.next(); name.kind != word && name.kind != quoted {
		return
	}
	if after := ahead.next(); ahead.isByte(after, ')') || ahead.isByte(after, '.') {
		r.edits.replace(t.start, t.end, expr.DefaultFunction)
	}
}

// quantifier writes a > ANY (query) as a > moka_any((query)), which package expr knows what to make of. = ANY
// is IN and <> ALL is NOT IN; the planner turns those into joins.
func (r *rewriter) quantifier(l *lexer, prev, word token) {
	after := lexer{s: l.s, pos: word.end, ansi: l.ansi}
	open := after.next()
	if !after.isByte(open, '(') {
		return
	}
	if t := after.next(); !after.is(t, "select") && !after.is(t, "with") && !after.is(t, "table") &&
		!after.is(t, "values") && !after.isByte(t, '(') {
		return
	}
	closing := r.pairs().of(open).closing
	start := prev.start // of the comparison
	for start > 0 && strings.IndexByte("<>=!", l.s[start-1]) >= 0 {
		start--
	}
	switch op, all := l.s[start:prev.end], l.is(word, "all"); {
	case strings.Trim(op, "<>=!") != "" || op == "<=>":
	case op == "=" && !all:
		r.edits.replace(start, word.end, " in")
	case (op == "<>" || op == "!=") && all:
		r.edits.replace(start, word.end, " not in")
	case closing.kind != eof:
		name := expr.AnyFunction
		if all {
			name = expr.AllFunction
		}
		r.edits.replace(word.start, word.end, name+"(")
		r.edits.replace(closing.end, closing.end, ")")
	}
}

// closing returns the parenthesis that closes the one behind which the lexer stands.
func (l *lexer) closing() token {
	depth := 1
	for t := l.next(); ; t = l.next() {
		switch {
		case t.kind == eof:
			return t
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			if depth--; depth == 0 {
				return t
			}
		}
	}
}

// outerParens opens up a statement that is one query in parentheses, (SELECT … FOR UPDATE) or ((SELECT …)):
// as a part of a UNION the grammar knows it, alone it does not.
func (r *rewriter) outerParens(l *lexer, open token) {
	inner := *l
	t := inner.next()
	for inner.isByte(t, '(') {
		t = inner.next()
	}
	if !inner.is(t, "select") && !inner.is(t, "with") {
		return
	}
	end := len(r.src) // of what is within the pairs that were taken away
	for l.isByte(open, '(') {
		closing := r.pairs().of(open).closing
		at := lexer{s: l.s, pos: closing.end, ansi: l.ansi}
		if n := at.next(); closing.kind == eof || n.kind != eof && !at.isByte(n, ';') && n.start < end {
			break // it belongs to the first of several queries
		}
		r.edits.blank(open.start, open.end)
		r.edits.blank(closing.start, closing.end)
		end, open = closing.start, l.next()
	}
	r.selectWords(nil, false)
}

// containsWord reports whether a word, in lower case, is anywhere in a text, within others too.
func containsWord(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && foldPrefix(s[i:], word) {
			return true
		}
	}
	return false
}

// rollup writes WITH ROLLUP, which the grammar does not know, as a last column of GROUP BY.
func (r *rewriter) rollup() {
	l := &lexer{s: r.src, ansi: r.ansi}
	var prev token
	for t := l.next(); t.kind != eof; t = l.next() {
		if l.is(t, "rollup") && l.is(prev, "with") {
			r.edits.replace(prev.start, t.end, ", "+expr.RollupFunction+"()")
			r.moved = true
		}
		prev = t
	}
}

// modifiers wipes out the scheduling hints of table locks that MySQL itself ignores for transactional tables.
func (r *rewriter) modifiers(l *lexer) {
	for {
		t := l.next()
		switch {
		case l.is(t, "delayed"), l.is(t, "low_priority"), l.is(t, "high_priority"):
			r.edits.blank(t.start, t.end)
		case l.is(t, "ignore"), l.is(t, "quick"):
		default:
			return
		}
	}
}

// do turns DO expr, … into SET of a scratch variable: the expressions are evaluated, and the
// answer is OK without rows.
func (r *rewriter) do(l *lexer, head token) {
	r.edits.replace(head.start, head.end, "set @`"+upcoming.NoVariable+"` = (")
	depth, last := 0, head.end
	for t := l.next(); ; t = l.next() {
		switch {
		case t.kind == eof || depth == 0 && l.isByte(t, ';'):
			r.edits.replace(last, last, ")")
			return
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case depth == 0 && l.isByte(t, ','):
			r.edits.replace(t.start, t.end, "), @`"+upcoming.NoVariable+"` = (")
		}
		last = t.end
	}
}

// setNames handles what stands behind SET NAMES, and returns what comes then: the grammar drops COLLATE, and
// the planner leaves the connection's collation as it was. names is the word itself.
func (r *rewriter) setNames(l *lexer, names token) token {
	charset := l.next()
	name := l.name(charset)
	if charset.kind == str {
		name = strings.Trim(l.text(charset), `'"`)
	}
	id, err := sql.ParseCharacterSet(name)
	t := l.next()
	if l.is(charset, "default") || err != nil {
		return t
	}
	if transport.Transport(name) { // literals stay Unicode's: no literal can have the client's set
		if l.is(t, "collate") {
			r.refused = sqlerr.New(sqlerr.UnknownCollation, "Unknown collation: '%s'", l.text(l.next()))
			return l.next()
		}
		r.edits.replace(names.start, charset.end,
			"character_set_client = '"+id.Name()+"', character_set_results = '"+id.Name()+
				"', collation_connection = '"+sql.Collation_Default.Name()+"'")
		return t
	}
	if !l.is(t, "collate") {
		r.edits.replace(charset.end, charset.end,
			", collation_connection = '"+id.DefaultCollation().Name()+"'")
		return t
	}
	collation := l.next()
	name = l.name(collation)
	if collation.kind == str {
		name = strings.Trim(l.text(collation), `'"`)
	}
	switch c, err := sql.ParseCollation("", name, false); {
	case l.is(collation, "default"):
	case err != nil:
		r.refused = sqlerr.New(sqlerr.UnknownCollation, "Unknown collation: '%s'", name)
	case c.CharacterSet() != id:
		r.refused = sqlerr.New(sqlerr.CollationMismatch, "COLLATION '%s' is not valid for CHARACTER SET '%s'",
			name, id.Name())
	default:
		r.edits.replace(t.start, collation.end, ", collation_connection = '"+c.Name()+"'")
	}
	return l.next()
}

// set quotes BINARY where it is the name of a character set (mariadb-import sends SET
// @@character_set_database=binary).
func (r *rewriter) set(l *lexer) {
	var prev token
	for t := l.next(); t.kind != eof && !l.isByte(t, ';'); t = l.next() {
		if l.isByte(t, '=') && l.is(prev, "transaction") { // which the grammar takes for SET TRANSACTION
			r.refused = sql.ErrUnknownSystemVariable.New("transaction")
			return
		}
		if l.is(t, "names") && (prev.kind == 0 || l.isByte(prev, ',')) {
			t = r.setNames(l, t)
			if t.kind == eof || l.isByte(t, ';') {
				return
			}
		}
		if l.is(t, "binary") && l.isByte(prev, '=') {
			next := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
			if n := next.next(); n.kind == eof || next.isByte(n, ';') || next.isByte(n, ',') {
				r.edits.replace(t.start, t.end, "'binary'")
			}
		}
		prev = t
	}
}

// describe turns DESCRIBE t column and DESCRIBE t 'pattern' into SHOW COLUMNS.
func (r *rewriter) describe(l *lexer, head token) {
	table := l.next()
	if table.kind != word && table.kind != quoted {
		return
	}
	last, t := table, l.next()
	if l.isByte(t, '.') {
		last = l.next()
		t = l.next()
	}
	if t.kind != word && t.kind != quoted && t.kind != str {
		return
	}
	if t.kind == word {
		switch strings.ToLower(l.text(table)) { // the other DESCRIBE: of a statement
		case "select", "insert", "update", "delete", "replace", "with", "table", "analyze", "format", "plan",
			"extended", "values", "for":
			r.explain(&lexer{s: l.s, pos: head.end, ansi: l.ansi})
			return
		}
	}
	if n := l.next(); n.kind != eof && !l.isByte(n, ';') {
		return
	}
	pattern := l.text(t)
	if t.kind != str {
		pattern = "'" + strings.ReplaceAll(strings.ReplaceAll(l.name(t), `\`, `\\`), "'", "''") + "'"
	}
	r.edits.replace(head.start, head.end, "show columns from")
	r.edits.replace(last.end, t.end, " like "+pattern)
}

// explain edits the statement that an EXPLAIN is about, as it would be edited by itself.
func (r *rewriter) explain(l *lexer) {
	t := l.next()
	for l.is(t, "analyze") || l.is(t, "extended") || l.is(t, "partitions") || l.is(t, "format") {
		if l.is(t, "format") {
			_, _ = l.next(), l.next() // = name
		}
		t = l.next()
	}
	switch {
	case l.is(t, "select"):
		r.selectWords(l, true)
	case l.is(t, "with"), l.is(t, "table"):
		r.selectWords(l, false)
	case l.is(t, "insert"), l.is(t, "update"), l.is(t, "delete"), l.is(t, "replace"):
		r.modifiers(l)
		r.selectWords(l, false)
	}
}

// checkTable parses CHECK TABLE t, … with options that change nothing (QUICK, EXTENDED, …: the check is
// always the whole one), ADMIN CHECK TABLE t, …, and CHECKSUM TABLE t, ….
func (r *rewriter) checkTable(ctx context.Context, l *lexer, checksum bool) (ast.Statement, int,
	bool, error) {
	t := l.next()
	if l.is(t, "incremental") && !checksum {
		return r.incremental(ctx, l, CheckIncremental)
	}
	if !l.is(t, "table") && !l.is(t, "tables") {
		return nil, 0, false, nil // the grammar says what is wrong
	}
	c := CheckTable{Checksum: checksum}
	for {
		n, next, err := r.qualified(l, l.next())
		if err != nil {
			return nil, 0, true, err
		}
		c.Tables = append(c.Tables, n)
		if t = next; !l.isByte(t, ',') {
			break
		}
	}
	for ; t.kind == word; t = l.next() {
		switch option := strings.ToLower(l.text(t)); {
		case option == "quick":
			c.Quick = true
		case option == "extended":
		case !c.Checksum && (option == "fast" || option == "medium" || option == "changed" ||
			option == "for" || option == "upgrade"):
		default:
			return nil, 0, true, r.errAt(t)
		}
	}
	return deliver(r, ctx, l, t, "CHECK TABLE", r.parser.hooks.CheckTable, c)
}

// columnTypes makes the types of a table definition such as the grammar knows. It replaces BLOB(n) and
// TEXT(n) in a table definition by the smallest type that holds n, which is what MySQL does. A column that is
// named so in an index (KEY (text(10))) follows '(' or ',', a type follows a column's name.
func (r *rewriter) columnTypes() {
	l := &lexer{s: r.src, ansi: r.ansi}
	first := l.next()
	if !tableDDL(l) {
		return
	}
	if at := *l; r.skipTable(&at) {
		if l.is(first, "alter") {
			r.alterOptions(&at)
		} else {
			r.createOptions(&at)
		}
	}
	var prev token
	for t := l.next(); t.kind != eof && !l.isByte(t, ';'); {
		if l.is(t, "year") && (prev.kind == word || prev.kind == quoted) {
			// YEAR(4), which is YEAR: the grammar does not know a width.
			if open, n, end := l.next(), l.next(),
				l.next(); l.isByte(open, '(') && l.text(n) == "4" && l.isByte(end, ')') {
				r.edits.blank(open.start, end.end)
				prev, t = end, l.next()
				continue
			}
			l.pos = t.end
		}
		if l.is(t, "using") && !l.isByte(prev, ')') {
			// KEY k USING BTREE (a): the grammar knows the algorithm behind the columns only.
			// It has no meaning here.
			if n := l.next(); l.is(n, "btree") || l.is(n, "hash") {
				r.edits.blank(t.start, n.end)
				prev, t = n, l.next()
				continue
			}
			l.pos = t.end
		}
		isBlob, isText := l.is(t, "blob"), l.is(t, "text")
		if (isBlob || isText) && (prev.kind == word || prev.kind == quoted) && !l.is(prev, "column") {
			open, n := l.next(), l.next()
			size, err := strconv.ParseUint(l.text(n), 10, 64)
			end := l.next()
			if l.isByte(open, '(') && n.kind == num && err == nil && l.isByte(end, ')') {
				r.edits.replace(t.start, end.end, sizedType(l.text(t), isText, size))
				prev, t = end, l.next()
				continue
			}
			l.pos = open.start
		}
		prev, t = t, l.next()
	}
}

// tableDDL reports whether what follows CREATE or ALTER defines a table; bodies of triggers and
// procedures are left alone.
func tableDDL(l *lexer) bool {
	t := l.next()
	if l.is(t, "temporary") || l.is(t, "online") || l.is(t, "ignore") {
		t = l.next()
	}
	return l.is(t, "table")
}

func sizedType(name string, text bool, n uint64) string {
	if text {
		n *= 4 // the length counts characters, the limits bytes
	}
	prefix := ""
	switch {
	case n <= 255:
		prefix = "tiny"
	case n <= 65535:
	case n <= 1<<24-1:
		prefix = "medium"
	default:
		prefix = "long"
	}
	return prefix + strings.ToLower(name)
}
