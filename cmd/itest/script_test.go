package itest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A script is a file of SQL statements, each of which ends at the end of a line and is
// followed by what it answers:
//
//	SELECT id, s FROM t ORDER BY id;
//	-- > 1	x
//	-- > 2	NULL
//	-- differs: MariaDB's number is 4025
//	UPDATE t SET id = -1;
//	-- mariadb> ERROR 4025 (23000)
//	-- moka> ERROR 3819 (HY000)
//
// A statement without an answer succeeds and has no result. Other lines that begin with -- are comments, but
// for those of options, which hold for the whole file.
type script struct {
	path       string
	lines      []string // of the file, without its answers
	statements []scripted
	columns    bool // the names of columns are part of the answer
	// the insert id of writes, prepared or not, and LAST_INSERT_ID() after them are the answer
	insertIDs bool
	prepared  bool // queries are asked as prepared statements, too
}

// scripted is one statement. Its answers are lines; moka's are others than MariaDB's where a
// reason is given for it.
type scripted struct {
	text          string
	line          int // where it begins in the file, from 1
	end           int // the index in lines of the statement's last one
	differs       string
	mariadb, moka []string
}

// Marks of lines in scripts.
const (
	markSame    = "-- > "
	markMariaDB = "-- mariadb> "
	markMoka    = "-- moka> "
	markDiffers = "-- differs: "

	success = "OK" // the answer of what has no result

	optionColumns   = "-- prints: names of columns"
	optionInsertIDs = "-- prints: insert ids"
	optionPrepared  = "-- runs: each query is prepared, too"
)

func readScript(t *testing.T, path string) *script {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, problem := parseScript(path, string(data))
	if problem != "" {
		t.Fatalf("%s: %s", path, problem)
	}
	return s
}

// parseScript reads a file, and says what is wrong with it.
func parseScript(path, text string) (s *script, problem string) {
	s = &script{path: path}
	var cur scripted
	var last *scripted // whose answers follow
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if mark, answer, ok := answerLine(l); ok {
			if last == nil || cur.text != "" {
				return nil, "an answer without its statement: " + l
			}
			if mark != markMoka {
				last.mariadb = append(last.mariadb, answer)
			}
			if mark != markMariaDB {
				last.moka = append(last.moka, answer)
			}
			continue
		}
		s.lines = append(s.lines, l)
		switch reason, differs := strings.CutPrefix(l, markDiffers); {
		case differs:
			cur.differs = reason
			continue
		case l == optionColumns:
			s.columns = true
			continue
		case l == optionInsertIDs:
			s.insertIDs = true
			continue
		case l == optionPrepared:
			s.prepared = true
			continue
		case strings.HasPrefix(l, "--") || cur.text == "" && strings.TrimSpace(l) == "":
			continue
		}
		if cur.text == "" {
			cur.line = i + 1
		}
		cur.text += l + "\n"
		if strings.HasSuffix(l, ";") {
			cur.text, cur.end = strings.TrimSuffix(strings.TrimSpace(cur.text), ";"), len(s.lines)-1
			s.statements = append(s.statements, cur)
			last, cur = &s.statements[len(s.statements)-1], scripted{}
		}
	}
	if cur.text != "" || cur.differs != "" {
		return nil, "the last statement has no end: " + cur.text
	}
	for i := range s.statements {
		if st := &s.statements[i]; len(st.mariadb) == 0 && len(st.moka) == 0 {
			st.mariadb, st.moka = []string{success}, []string{success}
		}
	}
	return s, ""
}

func answerLine(l string) (mark, answer string, ok bool) {
	for _, mark := range []string{markSame, markMariaDB, markMoka} {
		if answer, ok := strings.CutPrefix(l, mark); ok {
			return mark, answer, true
		}
	}
	return "", "", false
}

// String is the file: each statement with its answers after it.
func (s *script) String() string {
	var b strings.Builder
	write := func(mark string, lines []string) {
		for _, l := range lines {
			b.WriteString(mark + l + "\n")
		}
	}
	next := 0
	for _, st := range s.statements {
		for ; next <= st.end; next++ {
			b.WriteString(s.lines[next] + "\n")
		}
		switch {
		case st.differs == "" && len(st.mariadb) == 1 && st.mariadb[0] == success:
		case st.differs == "":
			write(markSame, st.mariadb)
		default:
			write(markMariaDB, st.mariadb)
			write(markMoka, st.moka)
		}
	}
	write("", s.lines[next:])
	return b.String()
}

func TestScriptsKeepTheirAnswers(t *testing.T) {
	const text = `-- A comment.
-- prints: names of columns

CREATE TABLE t (id INT);
SELECT id,
 s FROM t;
-- > # id	s
-- > 1	x
-- Why it is so.
-- differs: MariaDB's number is 4025
UPDATE t SET id = -1;
-- mariadb> ERROR 4025 (23000)
-- moka> ERROR 3819 (HY000)
-- The end.
`
	s, problem := parseScript("x.sql", text)
	if problem != "" {
		t.Fatal(problem)
	}
	if got := s.String(); got != text {
		t.Errorf("written anew it is\n%s", got)
	}
	if len(s.statements) != 3 || !s.columns || s.insertIDs {
		t.Fatalf("%+v", s)
	}
	if st := s.statements[1]; st.line != 5 || st.text != "SELECT id,\n s FROM t" || len(st.moka) != 2 ||
		!slices.Equal(st.moka, st.mariadb) {
		t.Errorf("%+v", st)
	}
	if st := s.statements[2]; st.differs != "MariaDB's number is 4025" || slices.Equal(st.moka, st.mariadb) {
		t.Errorf("%+v", st)
	}
	for _, bad := range []string{
		"-- > 1\nSELECT 1;\n", "SELECT 1\n", "SELECT 1,\n-- > 1\n2;\n", "SELECT 1;\n-- differs: x\n",
	} {
		if _, problem := parseScript("x.sql", bad); problem == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}
