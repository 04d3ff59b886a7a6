package sqlerr

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/inband"
)

// Statement is what the wire handler knows of the failed statement; texts need it ("Table 'db.t' doesn't exist").
type Statement struct {
	Query    string
	Database string // the session's current database
	// Missed says that a table of this name was looked for and not found. What the library calls a missing table may be one that the statement
	// names before a column and does not read. nil says that nobody has kept account.
	Missed func(table string) bool
	// ForeignKey describes a foreign key of the table child, "" if it is not known. secret says that the
	// user may not know of one of its tables. nil: nobody knows of any.
	ForeignKey func(name, child string) (text string, secret bool)
}

// maxText is how many bytes the text of an error or a warning has at most, as in MySQL. What it quotes is as long as a client likes, and a
// session keeps its warnings.
const maxText = 512

// Shortened is a text with what goes beyond maxText cut off.
func Shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n]) // not a part of what was quoted
}

// Final is the last door: whatever failed the statement goes out as the number, state and text of MySQL. It never returns
// nil for a non-nil error.
func Final(err error, st Statement) *mysql.SQLError {
	e := translated(err, st)
	if e != nil && len(e.Message) > maxText {
		e = &mysql.SQLError{Num: e.Num, State: e.State, Message: Shortened(e.Message), Query: e.Query}
	}
	return e
}

// maxWorded is how much of either end of an error's text is looked at: the message comes from the front of
// it, and what the text ends with tells it from others.
const maxWorded = 2 << 10

// worded is a text without its middle, which is a value that it quotes. What follows tries dozens of
// expressions on it, a minute for a value of some megabytes, in which no statement can be ended.
func worded(text string) string {
	if len(text) <= 2*maxWorded {
		return text
	}
	return strings.ToValidUTF8(text[:maxWorded], "") + strings.ToValidUTF8(text[len(text)-maxWorded:], "")
}

func translated(err error, st Statement) *mysql.SQLError {
	if err == nil {
		return nil
	}
	se, ok := err.(*mysql.SQLError)
	if !ok {
		if known, ok := Known(err); ok {
			se = known
		} else {
			se = sql.CastSQLError(err)
		}
	}
	if len(se.Message) > 2*maxWorded {
		short := *se
		short.Message, se = worded(se.Message), &short
	}
	// One of ours that go-mysql-server turned into text on its way (parse errors, %w): the text ends with its number.
	if m := flattened.FindStringSubmatch(se.Message); m != nil {
		if num, err := strconv.Atoi(m[2]); err == nil {
			return &mysql.SQLError{Num: num, State: m[3], Message: inband.Without(m[1])}
		}
	}
	out := *se
	if out.Num == DuplicateKeyEntry {
		out.Message = duplicateText(out.Message)
	} else if c, m := lookup(se); c != nil {
		out.Num = c.code
		text := c.text
		if code, t := byStatement(c.code, st.Query, argument(m, len(m)-1)); code != 0 {
			out.Num, text = code, t
		} else if code, t := byReference(c.code, st, m); code != 0 {
			out.Num, text = code, t
		}
		if c.code == SyntaxError && len(m) == 3 && c.kind == nil {
			pos, _ := strconv.Atoi(m[1])
			out.Message = foreignSyntaxText(st.Query, pos, m[2])
		} else if text != "" {
			out.Message = expand(text, m, st)
		}
		if (c.kind == sql.ErrForeignKeyChildViolation || c.kind == sql.ErrForeignKeyParentViolation) && st.ForeignKey != nil {
			key, secret := st.ForeignKey(argument(m, 1), argument(m, 2))
			switch head, _, _ := strings.Cut(out.Message, "("); {
			case secret:
				out.Num, out.Message = ForeignKeyChild, strings.TrimRight(head, " ")
				if c.kind == sql.ErrForeignKeyParentViolation {
					out.Num = ForeignKeyParent
				}
			case key != "":
				out.Message = head + "(" + key + ")"
			}
		}
	}
	out.Message = inband.Without(withoutAuthors(out.Message))
	if out.State == "" || out.State == mysql.SSUnknownSQLState {
		out.State = State(out.Num)
	}
	return &out
}

// authors is where the library sends who meets a mistake of its, or of ours.
var authors = regexp.MustCompile(`(?s)[\s.,]*(This is a bug\. )?[Pp]lease (file|create) an issue.*github\.com/dolthub.*$`)

func withoutAuthors(text string) string {
	if !strings.Contains(text, "github.com/dolthub") {
		return text
	}
	return authors.ReplaceAllString(text, "")
}

// byStatement corrects numbers for which MySQL distinguishes by the statement, and the library does not.
func byStatement(code int, query, name string) (int, string) {
	w := words(query)
	if len(w) < 2 {
		return 0, ""
	}
	verb := strings.ToLower(w[0])
	switch {
	case code == CheckViolated && strings.HasPrefix(name, checkOption):
		return ViewCheckFailed, "CHECK OPTION failed '" + strings.TrimPrefix(name, checkOption) + "'"
	case code == NoSuchTable && verb == "drop":
		return BadTable, "Unknown table '$db.1'"
	case code == BadDatabase && verb == "drop" && !strings.EqualFold(w[1], "table"):
		return DBDropExists, "Can't drop database '" + name + "'; database doesn't exist"
	case code == DataTruncated && verb == "set": // of the variables that are sets of words, this is the one that is set
		return WrongValueForVariable, "Variable 'sql_mode' can't be set to the value of '$1'"
	case code == BadField && verb == "set":
		return UnknownSystemVariable, "Unknown system variable '" + name + "'"
	case code == CantDropFieldOrKey && verb == "alter":
		for i := 2; i+4 < len(w); i++ {
			if strings.EqualFold(w[i], "rename") && (strings.EqualFold(w[i+1], "key") || strings.EqualFold(w[i+1], "index")) && (strings.EqualFold(w[i+4], name) || strings.EqualFold(w[i+2], name)) {
				return KeyDoesNotExist, "Key '" + w[i+2] + "' doesn't exist in table '" + w[2] + "'"
			}
		}
	case code == BadField && verb == "alter":
		for i := 2; i < len(w); i++ {
			if strings.EqualFold(w[i], name) && (strings.EqualFold(w[i-1], "drop") || strings.EqualFold(w[i-2], "drop") && strings.EqualFold(w[i-1], "column")) {
				return CantDropFieldOrKey, "Can't DROP '" + name + "'; check that column/key exists"
			}
		}
	}
	return 0, ""
}

var flattened = regexp.MustCompile(`(?s)^(.*) \(errno (\d+)\) \(sqlstate ([0-9A-Z]{5})\)$`)

// lookup finds the mapping of an error of the library. A number that is right already stays: only mappings with the same
// number may then improve the text.
func lookup(se *mysql.SQLError) (*compiled, []string) {
	// The text of an error raised with SIGNAL, or of one made by this package, is not the library's.
	if se.Num != Unknown && se.State != mysql.SSUnknownSQLState && se.State != "" {
		return nil, nil
	}
	if se.State == StateOutcomeUnknown {
		return nil, nil
	}
	for i := range table() {
		c := &table()[i]
		if se.Num != Unknown && se.Num != c.code && !corrects(se.Num, c.code) {
			continue
		}
		if !strings.HasPrefix(se.Message, c.prefix) {
			continue
		}
		if m := c.re.FindStringSubmatch(se.Message); m != nil {
			return c, m
		}
	}
	return nil, nil
}

// corrects lists the few numbers that the library gets wrong (rather than leaving at 1105).
func corrects(from, to int) bool {
	return from == 1366 && (to == DataTooLong || to == OutOfRange || to == DataTruncated || to == TruncatedWrongValue)
}

var (
	libraryDuplicate = regexp.MustCompile(`(?s)^duplicate (primary|unique) key given(?:: (.*))?$`)
	bracketed        = regexp.MustCompile(`(?s)^\[(.*)\]$`)
)

// duplicateText makes MySQL's 1062 text. Storage passes it in whole (DuplicateText); what comes bare from the library's
// own tables has only the values.
func duplicateText(msg string) string {
	m := libraryDuplicate.FindStringSubmatch(msg)
	if m == nil {
		return msg
	}
	if strings.HasPrefix(m[2], "Duplicate entry ") {
		return m[2]
	}
	key := "PRIMARY"
	if m[1] == "unique" {
		key = "UNIQUE"
	}
	vals := m[2]
	if b := bracketed.FindStringSubmatch(vals); b != nil {
		vals = strings.ReplaceAll(b[1], ",", "-")
	}
	return "Duplicate entry '" + vals + "' for key '" + key + "'"
}

// expand fills the placeholders of a mapping's text.
func expand(text string, m []string, st Statement) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			b.WriteByte(text[i])
			continue
		}
		rest := text[i+1:]
		switch {
		case strings.HasPrefix(rest, "clause"):
			b.WriteString(clauseOf(st.Query, argument(m, 1)))
			i += len("clause")
		case strings.HasPrefix(rest, "db.1"):
			name := argument(m, 1)
			db := cmp.Or(databaseOf(st.Query, name), st.Database)
			if db != "" && !strings.Contains(name, ".") {
				name = db + "." + name
			}
			b.WriteString(name)
			i += len("db.1")
		case rest != "" && rest[0] >= '1' && rest[0] <= '9':
			b.WriteString(argument(m, int(rest[0]-'0')))
			i++
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// databaseOf is the database that the statement names with the table; empty if it names it without one
// somewhere, or with several.
func databaseOf(query, table string) (db string) {
	if table == "" || len(query) > maxLooked {
		return ""
	}
	last, bare := "", false // the word in front, which is a database if a dot is between
	eachWord(query, func(start, end int) {
		word := strings.Trim(query[start:end], "`")
		if strings.EqualFold(word, table) && !strings.HasPrefix(strings.TrimSpace(query[end:]), ".") {
			behind := strings.HasSuffix(strings.TrimSpace(query[:start]), ".")
			if bare = bare || !behind || db != "" && !strings.EqualFold(db, last); !bare {
				db = last
			}
		}
		last = word
	})
	if bare {
		return ""
	}
	return db
}

// maxLooked bounds the statements that are looked through.
const maxLooked = 64 << 10

// argument is the n-th argument without quotes that the library's template did not have, but its caller put in.
func argument(m []string, n int) string {
	if n >= len(m) {
		return ""
	}
	s := strings.TrimPrefix(m[n], "@@")
	if len(s) >= 2 && (s[0] == '`' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return s
}

// checkOption begins the names of checks that are the WITH CHECK OPTION of a view.
var checkOption = inband.New("check option")

// CheckOption is the name of the check that a view's WITH CHECK OPTION is. No check of a user's has such a name.
func CheckOption(database, view string) string { return checkOption + database + "." + view }
