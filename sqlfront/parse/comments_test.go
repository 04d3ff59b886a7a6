package parse

import (
	"strings"
	"testing"
)

// TestUnwrap: the rules of MySQL 8.0's scanner, beside which each was read.
func TestUnwrap(t *testing.T) {
	for in, expect := range map[string]string{
		"select 1":                              "select 1",
		"select 1 /*! + 1 */":                   "select 1     + 1   ",
		"select 1 /*!50000 + 1 */":              "select 1          + 1   ",
		"select 1 /*!80040 + 1 */":              "select 1          + 1   ",
		"select 1 /*!80041 + 1 */":              "select 1 /* 80041 + 1 */",
		"select 1 /*!99999+1*/":                 "select 1 /* 99999+1*/",
		"select 1 /*!080040 + 1 */":             "select 1           + 1   ",
		"select 1 /*!080041 + 1 */":             "select 1 /* 080041 + 1 */",
		"select 1 /*!100200\n+ 1 */":            "select 1 /* 100200\n+ 1 */",
		"select 1 /*!100200+ 1 */":              "select 1         0+ 1   ", // 10020, and 0+ 1
		"select 1 /*!0800401+ 1 */":             "select 1         01+ 1   ",
		"select 1 + /*!1234 */":                 "select 1 +    1234   ",
		"a/*!*/b":                               "a     b",
		"/*!*/":                                 "/**/ ",
		"/*!50000 */":                           "/**/       ",
		"/*M!100000 + 1 */ x":                   "/*M 100000 + 1 */ x",
		"/*M!999999\\- sandbox */":              "/*M 999999\\- sandbox */",
		"'/*!' /*!1*/ \"*/\" `/*!`":             "'/*!'    1   \"*/\" `/*!`",
		`'\' /*! ' /*!1*/`:                      `'\' /*! '    1  `,
		"/* /*! */ 1 /*! 2 */":                  "/* /*! */ 1     2   ",
		"# /*!\n/*! 2 */":                       "# /*!\n    2   ",
		"-- /*!\n/*! 2 */":                      "-- /*!\n    2   ",
		"--/*! 2 */":                            "--    2   ",
		"/*! 1 /* x */ + /* ' */ 2 */ - 3":      "    1 /* x */ + /* ' */ 2    - 3",
		"/*!99999 a /* b */ c */ d":             "/* 99999 a    b    c */ d",
		"/*!99999 a /* b */ c /* e */ */ d":     "/* 99999 a    b    c    e    */ d",
		"/*!99999 don't */ d":                   "/* 99999 don't */ d",
		"/*!99999 a /*/ b */ c */ d":            "/* 99999 a   / b    c */ d",
		"/*!50000 a /*!99999 b /* c */ */ d */": "         a /* 99999 b    c    */ d   ",
		"/*!50000 a /*!50000 b */ c */":         "         a          b    c */", // an error then
	} {
		if got, open := unwrap(in, false); got != expect || open >= 0 {
			t.Errorf("%q: %q, %d; want %q", in, got, open, expect)
		}
	}
	for in, at := range map[string]int{
		"select 1 /*!50000 + 1":            9,
		"select /*! 1 */ /*! 2":            16,
		"/*!50000 select 1 # */":           0,
		"/*!50000 select 1 -- */":          0,
		"/*!50000 select '*/":              0,
		"select /*!50000 1 /* */":          7,
		"select /*!99999 1 /* */":          7,
		"select /*!99999 1 /* ":            7,
		"select /*!50000 1 /*!99999 */ ":   7,
		"select /*!50000 1 /*!99999 /* */": 7,
		"select /*!":                       7,
	} {
		got, open := unwrap(in, false)
		if open != at || got[at:] != in[at:] {
			t.Errorf("%q: %q, %d; want %d", in, got, open, at)
		}
	}
	if got, _ := unwrap(`"\" /*! 1 */`, true); got != `"\"     1   ` {
		t.Errorf("ANSI_QUOTES: %q", got)
	}
}

// FuzzUnwrap: the text stays as long as it is, once is enough, and what is in strings stays.
func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{"select 1 /*!50000 + /* c */ 1 */", "/*!99999 a /* b */ c */ d",
		"'/*!' \"*/\" `/*!`", "/*M!100000 x */", "a/*!080040 b*/c", "-- /*!\n# */\n/*! '*/' */",
		"/*! \n*/", "/*!80070/*/\"*/*/", "/*!/*!/*!*/", "/*!50000 a /*!99999 b"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, ansi bool) {
		once, open := unwrap(s, ansi)
		if len(once) != len(s) || open >= len(s) {
			t.Fatalf("%q: %q, %d", s, once, open)
		}
		twice, again := unwrap(once, ansi)
		if twice != once || again != open {
			t.Fatalf("%q: %q, %d; again %q, %d", s, once, open, twice, again)
		}
		for i := range len(s) {
			if once[i] != s[i] && once[i] != ' ' && strings.TrimSpace(once) != "/**/" {
				t.Fatalf("%q: %q at %d", s, once, i)
			}
		}
		l := &lexer{s: once, ansi: ansi}
		for tok := l.next(); tok.kind != eof && (open < 0 || tok.end <= open); tok = l.next() {
			if text := l.text(tok); (tok.kind == str || tok.kind == quoted) && text != s[tok.start:tok.end] {
				t.Fatalf("%q: string %q was %q", s, text, s[tok.start:tok.end])
			}
		}
	})
}
