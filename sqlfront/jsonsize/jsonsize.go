// Package jsonsize measures JSON documents: how long their texts are and what memory they take, before
// anybody writes them, and how deep they are.
//
// JSON values share their parts: JSON_ARRAY(d, d, d) is three pointers, and three documents as text. So what
// a function of JSON makes is measured as text before anybody writes it, and the measuring stops at the
// limit: nested calls double the text, not the memory.
package jsonsize

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// scalar is as long as numbers and dates are as text.
const scalar = 84

// maxDepth is how deep a document may be, as in MySQL. Everything that looks into one calls itself
// for each level, and a document that functions put into itself doubles its depth each time: a few
// statements, and the stack that ends the process is full.
const maxDepth = 100

// Shallow is MySQL's error for a document that is deeper than functions may make it. A value that is none
// passes.
func Shallow(v any) error {
	d, ok := v.(types.JSONDocument)
	if !ok { // a text, which the parser bounds
		return nil
	}
	if deeper(d.Val, maxDepth) {
		return sqlerr.New(sqlerr.JSONTooDeep, "The JSON document exceeds the maximum depth.")
	}
	return nil
}

func deeper(v any, levels int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if levels == 0 || deeper(e, levels-1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if levels == 0 || deeper(e, levels-1) {
				return true
			}
		}
	case types.JSONDocument:
		return deeper(v.Val, levels)
	}
	return false
}

// Text is how long a document is as text; ok is false if that is more than most.
func Text(doc sql.JSONWrapper, most int64) (n int64, ok bool) {
	switch d := doc.(type) {
	case types.JSONDocument:
		left := most
		text(d.Val, &left)
		return most - left, left >= 0
	case *types.LazyJSONDocument:
		return int64(len(d.Bytes)), int64(len(d.Bytes)) <= most
	}
	return scalar, scalar <= most
}

// text takes the length of a value's text from what is left, until nothing is.
func text(v any, left *int64) {
	switch v := v.(type) {
	case string:
		*left -= int64(len(v)) + 2 + escapes(v)
	case map[string]any:
		*left -= 2
		for k, e := range v {
			if *left < 0 {
				return
			}
			*left -= int64(len(k)) + 6 + escapes(k) // quotes, colon, comma, and spaces behind these
			text(e, left)
		}
	case []any:
		*left -= 2
		for _, e := range v {
			if *left < 0 {
				return
			}
			*left -= 2
			text(e, left)
		}
	case sql.JSONWrapper:
		n, _ := Text(v, max(0, *left)+1)
		*left -= n
	case nil, bool:
		*left -= 5
	default:
		*left -= 8
	}
}

// escapes is how much longer the text of a string is for what must be escaped in it.
func escapes(s string) (n int64) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			n++
		case c < 0x20:
			n += 5
		}
	}
	return n
}

// Memory is about how much memory a JSON value takes.
func Memory(v any) (n int64) {
	switch v := v.(type) {
	case string:
		return 16 + int64(len(v))
	case map[string]any:
		for k, e := range v {
			n += 48 + int64(len(k)) + Memory(e)
		}
	case []any:
		for _, e := range v {
			n += 16 + Memory(e)
		}
	case types.JSONDocument:
		return Memory(v.Val)
	case *types.LazyJSONDocument:
		return int64(len(v.Bytes))
	}
	return n + 24
}

// Pretty is how long JSON_PRETTY's text is: each value stands in a line, behind two spaces for each
// level.
func Pretty(v any, depth int64, left *int64) {
	var parts int64
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if parts++; *left < 0 {
				return
			}
			Pretty(e, depth+1, left)
		}
	case []any:
		for _, e := range v {
			if parts++; *left < 0 {
				return
			}
			Pretty(e, depth+1, left)
		}
	}
	*left -= 3 * (depth + 1)
	if parts > 0 {
		*left -= 2*depth + 2
	}
}

// Paths is how long the paths of all texts in a document are together: JSON_SEARCH may find each.
func Paths(v any, path int64, left *int64) {
	switch v := v.(type) {
	case string:
		*left -= path + 4
	case map[string]any:
		for k, e := range v {
			if *left < 0 {
				return
			}
			Paths(e, path+int64(len(k))+3, left)
		}
	case []any:
		for _, e := range v {
			if *left < 0 {
				return
			}
			Paths(e, path+10, left)
		}
	}
}

// Value parses a document that came as a text, so that it can be measured, and returns its
// value; nil for what is none.
func Value(ctx *sql.Context, v *any) any {
	if text, ok := (*v).(string); ok {
		if doc, _, err := types.JSON.Convert(ctx, text); err == nil {
			*v = doc
		}
	}
	if doc, ok := (*v).(sql.JSONWrapper); ok {
		if val, err := doc.ToInterface(ctx); err == nil {
			return val
		}
	}
	return nil
}
