package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// reserved are MySQL 8.0's reserved words. Everything else may be a name without quotes, but the
// grammar reserves more.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
		accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call cascade case change char
		character check collate column condition constraint continue convert create cross cube cume_dist current_date current_time
		current_timestamp current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare default
		delayed delete dense_rank desc describe deterministic distinct distinctrow div double drop dual each else elseif empty enclosed
		escaped except exists exit explain false fetch first_value float float4 float8 for force foreign from fulltext function generated get
		grant group grouping groups having high_priority hour_microsecond hour_minute hour_second if ignore in index infile inner inout
		insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join
		json_table key keys kill lag last_value lateral lead leading leave left like limit linear lines load localtime localtimestamp lock
		long longblob longtext loop low_priority master_bind master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext
		middleint minute_microsecond minute_second mod modifies natural not no_write_to_binlog nth_value ntile null numeric of on optimize
		optimizer_costs option optionally or order out outer outfile over partition percent_rank precision primary procedure purge range rank
		read reads read_write real recursive references regexp release rename repeat replace require resignal restrict return revoke right
		rlike row rows row_number schema schemas second_microsecond select sensitive separator set show signal smallint spatial specific sql
		sqlexception sqlstate sqlwarning sql_big_result sql_calc_found_rows sql_small_result ssl starting stored straight_join system table
		terminated then tinyblob tinyint tinytext to trailing trigger true undo union unique unlock unsigned update usage use using utc_date
		utc_time utc_timestamp values varbinary varchar varcharacter varying virtual when where while window with write xor year_month
		zerofill`) {
		m[w] = true
	}
	return m
}()

// maxReparsed bounds what quoteNames parses in bytes: KILL is not heard within a parse.
const maxReparsed = 32 << 20

// quoteNames parses a statement that the grammar has refused once more, with the word that it stumbled over
// in quotes, if MySQL does not reserve the word; and again, as long as that brings it further. MySQL takes
// such a word for a name wherever a name makes the statement right, so a statement that is right with the
// quotes is right without them.
func (r *rewriter) quoteNames(ctx context.Context, o ast.ParserOptions, multi bool, text string,
	failed error) (ast.Statement, int, bool) {
	left := maxReparsed
	for range 16 {
		at, ok := errorAt(ctx, text, o, failed)
		if !ok {
			return nil, 0, false
		}
		at = r.edits.original(at)
		progress := false
		for _, t := range r.candidates(at) {
			before := append(edits(nil), r.edits...)
			r.edits.replace(t.start, t.end, "`"+r.src[t.start:t.end]+"`")
			next := r.edits.apply(r.src)
			if left -= len(next); left < 0 || ctx.Err() != nil {
				return nil, 0, false
			}
			stmt, end, err := vitess(ctx, next, o, multi)
			if err == nil {
				return stmt, end, true
			}
			if further, ok := errorAt(ctx, next, o, err); ok && r.edits.original(further) > at {
				text, failed, progress = next, err, true
				break
			}
			r.edits = before
		}
		if !progress {
			return nil, 0, false
		}
	}
	return nil, 0, false
}

// candidates are the word at a place of the user's text and the one before it, unless they are
// reserved or part of an edit.
func (r *rewriter) candidates(at int) (found []token) {
	l := lexer{s: r.src, ansi: r.ansi}
	var prev token
	usable := func(t token) bool {
		if t.kind != word || t.end == 0 || reserved[strings.ToLower(r.src[t.start:t.end])] {
			return false
		}
		for _, e := range r.edits {
			if t.start < e.end && e.start < t.end {
				return false
			}
		}
		return true
	}
	for t := l.next(); t.kind != eof; t = l.next() {
		if t.end > at {
			if usable(t) {
				found = append(found, t)
			}
			break
		}
		prev = t
	}
	if usable(prev) {
		found = append(found, prev)
	}
	return found
}
