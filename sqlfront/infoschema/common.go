package infoschema

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Common are the rows that two accounts see alike, as often as both do.
func Common(ours, theirs []sql.Row) []sql.Row {
	known := make(map[string]int, len(theirs))
	for _, r := range theirs {
		known[spelled(r)]++
	}
	var common []sql.Row
	for _, r := range ours {
		if key := spelled(r); known[key] > 0 {
			known[key]--
			common = append(common, r)
		}
	}
	return common
}

// spelled is a row as one text; NULL is not the word.
func spelled(r sql.Row) string {
	var b strings.Builder
	for _, v := range r {
		text := fmt.Sprint(v)
		fmt.Fprintf(&b, "%d %t:%s", len(text), v == nil, text)
	}
	return b.String()
}
