package shell

import (
	"strings"
)

// Splitter finds statements in lines of text. It knows strings, quoted names and comments, DELIMITER, and
// what ends a statement: the delimiter, or \g and \G.
type Splitter struct {
	delimiter string // empty: a semicolon
	text      strings.Builder
	began     int  // the line of the statement's first word, from 1; 0: there is none yet
	line      int  // lines read
	quote     byte // that is open: ' " or `, * for a comment; 0 for none
}

// Statement is one statement of a text.
type Statement struct {
	Text     string
	Line     int
	Vertical bool // it ended with \G
}

// Pending tells whether a statement has begun and not ended.
func (s *Splitter) Pending() bool { return s.began != 0 || s.quote != 0 }

// Quote is the quote or comment that is open, 0 for none.
func (s *Splitter) Quote() byte { return s.quote }

// Discard forgets what has not ended.
func (s *Splitter) Discard() {
	s.text.Reset()
	s.began, s.quote = 0, 0
}

func (s *Splitter) end() string {
	if s.delimiter == "" {
		return ";"
	}
	return s.delimiter
}

// Line takes one more line, without its end, and returns the statements that end on it.
func (s *Splitter) Line(line string) (done []Statement) {
	s.line++
	if s.began == 0 && s.quote == 0 {
		if f := strings.Fields(line); len(f) > 0 && strings.EqualFold(f[0], "delimiter") {
			if len(f) > 1 {
				s.delimiter = f[1]
			}
			return nil
		}
	}
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case s.quote == '*':
			if n := strings.Index(rest, "*/"); n >= 0 {
				s.text.WriteString(rest[:n+2])
				i, s.quote = i+n+2, 0
			} else {
				s.text.WriteString(rest)
				i = len(line)
			}
		case s.quote != 0:
			n := 1
			if rest[0] == '\\' && s.quote != '`' && len(rest) > 1 {
				n = 2
			} else if rest[0] == s.quote {
				s.quote = 0 // a doubled one opens it again
			}
			s.text.WriteString(rest[:n])
			i += n
		case strings.HasPrefix(rest, s.end()):
			done = s.finish(done, false)
			i += len(s.end())
		case strings.HasPrefix(rest, `\g`), strings.HasPrefix(rest, `\G`):
			done = s.finish(done, rest[1] == 'G')
			i += 2
		case strings.HasPrefix(rest, "/*"):
			if strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*+") {
				s.begin() // it is read by the server
			}
			s.text.WriteString("/*")
			s.quote = '*'
			i += 2
		case rest[0] == '#', rest == "--", strings.HasPrefix(rest, "-- "), strings.HasPrefix(rest, "--\t"):
			if s.began != 0 {
				s.text.WriteString(rest)
			}
			i = len(line)
		default:
			if c := rest[0]; c != ' ' && c != '\t' && c != '\r' {
				s.begin()
				if c == '\'' || c == '"' || c == '`' {
					s.quote = c
				}
			}
			s.text.WriteByte(rest[0])
			i++
		}
	}
	if s.Pending() {
		s.text.WriteByte('\n')
	} else {
		s.text.Reset()
	}
	return done
}

// Rest is what has begun and not ended when the text does: a last statement may do without its delimiter.
func (s *Splitter) Rest() (done []Statement) { return s.finish(nil, false) }

func (s *Splitter) begin() {
	if s.began == 0 {
		s.began = s.line
	}
}

func (s *Splitter) finish(done []Statement, vertical bool) []Statement {
	if s.began != 0 {
		done = append(done, Statement{strings.TrimSpace(s.text.String()), s.began, vertical})
	}
	s.Discard()
	return done
}
