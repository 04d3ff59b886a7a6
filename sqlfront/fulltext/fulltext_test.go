package fulltext

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
)

func analyzer(t testing.TB, c sql.CollationID) *Analyzer {
	t.Helper()
	a, err := NewAnalyzer(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Words are what entries are made of: they are on disks.
func TestWords(t *testing.T) {
	a := analyzer(t, sql.Collation_utf8mb4_0900_ai_ci)
	for text, want := range map[string]string{
		"":                                 "",
		"The quick, quick brown-fox!":      "quick 2 brown 1 fox 1",
		"aaa'bbb don't O'Reilly":           "aaa 1 bbb 1 don 1 reilly 1",
		"under_score a1b2 12 123":          "under_score 1 a1b2 1 123 1",
		"Über CAFÉ café ber":               "uber 1 cafe 2 ber 1",
		"日本語 日本":                           "日本語 1",
		strings.Repeat("x", MaxLength):     strings.Repeat("x", MaxLength) + " 1",
		strings.Repeat("x", MaxLength+1):   "",
		"what will be the www und with it": "",
		"bad\xff\xfebytes":                 "bad 1 bytes 1",
	} {
		counts := map[string]int{}
		if err := a.Words([]string{text}, counts); err != nil {
			t.Fatal(err)
		}
		expected := map[string]int{}
		for f := strings.Fields(want); len(f) > 0; f = f[2:] {
			key, err := a.Key(nil, f[0])
			if err != nil {
				t.Fatal(err)
			}
			var n int
			fmt.Sscan(f[1], &n)
			expected[string(key)] = n
		}
		if fmt.Sprint(counts) != fmt.Sprint(expected) {
			t.Errorf("%q: %v, want %v", text, counts, expected)
		}
	}
	binary := analyzer(t, sql.Collation_utf8mb4_bin)
	counts := map[string]int{}
	if err := binary.Words([]string{"Fox fox The"}, counts); err != nil || len(counts) != 3 {
		t.Errorf("a collation that tells cases apart: %v %v", counts, err)
	}
}

// TestBoolean asks for rows; what is expected was seen on InnoDB, unless a comment says otherwise.
func TestBoolean(t *testing.T) {
	rows := []string{
		"quick the fox", "quick fox", "quick a fox jumps", "quick brown fox", "fox of quick", "foo bar baz",
		"foo-bar the lazy", "foo foo foo bar",
	}
	for query, want := range map[string]string{
		"fox":                     "01234",
		"+quick -brown":           "0124",
		"-quick":                  "",
		"brown jumps":             "23",
		"+fox brown":              "01234",
		"+the +quick":             "", // no row has an entry for a stopword
		"the quick":               "01234",
		"-the quick":              "01234",
		`"quick the fox"`:         "0",
		`"quick fox"`:             "1",
		`"the lazy"`:              "6",
		`"lazy the"`:              "6", // one word that is indexed
		`"quick fox" @2`:          "1",
		`"quick fox" @3`:          "01234",
		`+"quick fox" -foo`:       "1",
		"foo*":                    "567",
		"+qui* -jum*":             "0134",
		"+foo +(baz lazy)":        "56",
		"+foo +(>baz <lazy)":      "56",
		"fox -(brown jumps)":      "014",
		"+fox,jumps":              "2",
		"fox,foo":                 "01234567",
		"foo-bar":                 "", // foo and not bar
		"~foo":                    "",
		"+bar ~foo":               "567",
		"@":                       "error '@'",
		"++fox":                   "error '+'",
		"fox+":                    "error $end",
		"(fox":                    "error $end",
		"fox)":                    "error ')'",
		"*":                       "error '*'",
		`"quick`:                  "01234",
		"+ fox":                   "01234",
		"":                        "",
		", . !":                   "",
		strings.Repeat("(", 1000): "error '(', too many levels",
		`"fox" @x`:                "error 'x'",
	} {
		a := analyzer(t, sql.Collation_utf8mb4_0900_ai_ci)
		q, err := Parse(a, query, Boolean)
		got := ""
		var syntax *SyntaxError
		switch {
		case errors.As(err, &syntax):
			got = "error " + syntax.Unexpected
		case err != nil:
			t.Fatal(err)
		default:
			for i, r := range rows {
				c, err := q.Count([]string{r})
				if err != nil {
					t.Fatal(err)
				}
				if q.Matches(c) {
					got += fmt.Sprint(i)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestRank has figures of InnoDB: the rows of its manual, and those of the operators.
func TestRank(t *testing.T) {
	a := analyzer(t, sql.Collation_utf8mb4_0900_ai_ci)
	rows := []string{"aaa ccc", "foo bar baz", "foo-bar the quick", "cafe", "under_score", "foo foo foo bar",
		"database tutorial for you", "ab word", "don't", "quick brown quick"}
	for _, q := range []struct {
		text string
		mode Mode
		want string
	}{
		{"foo", Boolean, "1:0.273402 2:0.273402 5:0.820207"},
		{"fo*", Boolean, "1:0.273402 2:0.273402 5:0.820207"},
		{">foo bar", Boolean, "1:1.546804 2:1.546804 5:2.093609"},
		{"<foo bar", Boolean, "1:-0.453196 2:-0.453196 5:0.093609"},
		{"+foo +(bar baz)", Boolean, "1:1.546804 2:0.546804 5:1.093609"},
		{"+foo +(>bar <baz)", Boolean, "1:1.546804 2:1.546804 5:2.093609"},
		{`"foo bar"`, Boolean, "1:0.546804 2:0.546804 5:1.093609"},
		{"foo bar", Natural, "1:0.546804 2:0.546804 5:1.093609"},
		{"foo, foo! bar", Natural, "1:0.546804 2:0.546804 5:1.093609"},
		// InnoDB leaves a noise word out of the rank. MySQL's manual says that it counts against the row.
		{"+bar ~foo", Boolean, "1:0.000000 2:0.000000 5:-0.546804"},
	} {
		query, err := Parse(a, q.text, q.mode)
		if err != nil {
			t.Fatal(err)
		}
		var counts []*Counts
		df := make([]uint64, len(query.Terms))
		for _, r := range rows {
			c, err := query.Count([]string{r})
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, c)
			for i, n := range c.tf {
				if n > 0 {
					df[i]++
				}
			}
		}
		idf := make([]float64, len(df))
		for i := range df {
			idf[i] = Rare(uint64(len(rows)), df[i])
		}
		var got []string
		for i, c := range counts {
			if query.Matches(c) {
				got = append(got, fmt.Sprintf("%d:%.6f", i, query.Rank(c, idf)))
			} else if r := query.Rank(c, idf); r != 0 {
				t.Errorf("%s: row %d does not match and has the rank %g", q.text, i, r)
			}
		}
		if s := strings.Join(got, " "); s != q.want {
			t.Errorf("%s: %s, want %s", q.text, s, q.want)
		}
	}
	if r := Rare(7, 7); r != math.Log10(1.0001) {
		t.Errorf("a word of all rows: %g", r)
	}
}

// A phrase, and a distance, end with the column.
func TestPhrasesEndWithTheColumn(t *testing.T) {
	a := analyzer(t, sql.Collation_utf8mb4_0900_ai_ci)
	for _, text := range []string{`"red fox"`, `"red fox" @500`} {
		q, err := Parse(a, text, Boolean)
		if err != nil {
			t.Fatal(err)
		}
		for want, texts := range map[bool][]string{true: {"hen", "red fox"}, false: {"the red", "fox"}} {
			c, err := q.Count(texts)
			if err != nil || q.Matches(c) != want {
				t.Errorf("%s in %q: %v, %v", text, texts, !want, err)
			}
		}
	}
}

// FuzzParse: whatever the query, there is an answer, and what the index is asked leads to
// every row that matches.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`+a -(b "c d" @3) ~e* >f <g`, `""`, `"a`, `((a) b)`, `+foo +(bar* <baz)`,
		"\xff+\xfe*", `-(foo) bar`} {
		f.Add(s, "foo bar baz foobar the")
	}
	a, err := NewAnalyzer(sql.Collation_utf8mb4_general_ci)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, row string) {
		for _, mode := range []Mode{Natural, Boolean} {
			q, err := Parse(a, text, mode)
			if err != nil {
				var syntax *SyntaxError
				if mode == Natural || !errors.As(err, &syntax) {
					t.Fatal(err)
				}
				continue
			}
			c, err := q.Count([]string{row})
			if err != nil {
				t.Fatal(err)
			}
			words := map[string]int{}
			if err := a.Words([]string{row}, words); err != nil {
				t.Fatal(err)
			}
			if q.Matches(c) && !q.leads(q.Docs(), words) {
				t.Errorf("%q matches %q, and the index does not lead to it", text, row)
			}
			for i, term := range q.Terms {
				if n := words[string(term.Key)]; !term.Prefix && n != c.tf[i] {
					t.Errorf("%q has a word %d times, its entry says %d", row, c.tf[i], n)
				}
			}
		}
	})
}

// leads reports whether a row with such words is among those that are looked at.
func (q *Query) leads(d *Docs, words map[string]int) bool {
	switch {
	case d == nil:
		return false
	case len(d.Parts) == 0:
		for w := range words {
			if w == string(q.Terms[d.Term].Key) ||
				q.Terms[d.Term].Prefix && strings.HasPrefix(w, string(q.Terms[d.Term].Key)) {
				return true
			}
		}
		return false
	case d.All:
		return !slices.ContainsFunc(d.Parts, func(p *Docs) bool { return !q.leads(p, words) })
	}
	return slices.ContainsFunc(d.Parts, func(p *Docs) bool { return q.leads(p, words) })
}
