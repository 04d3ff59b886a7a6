// Package explain knows the table that EXPLAIN answers with, and its form as a document.
package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// The columns of EXPLAIN.
const (
	ID = iota
	SelectType
	Table
	Partitions
	Type
	PossibleKeys
	Key
	KeyLen
	Ref
	Rows
	Filtered
	Extra
	Width
)

// block is a query block in EXPLAIN FORMAT=JSON: the rows of EXPLAIN's table in MySQL's other words.
type block struct {
	ID         any                `json:"select_id,omitempty"`
	Kind       string             `json:"select_type,omitempty"` // of blocks within others
	Message    string             `json:"message,omitempty"`
	Table      *table             `json:"table,omitempty"`
	NestedLoop []map[string]any   `json:"nested_loop,omitempty"`
	Within     []map[string]block `json:"subqueries,omitempty"`
}

type table struct {
	Name         string   `json:"table_name"`
	Access       string   `json:"access_type,omitempty"`
	PossibleKeys []string `json:"possible_keys,omitempty"`
	Key          any      `json:"key,omitempty"`
	KeyLength    any      `json:"key_length,omitempty"`
	Ref          []string `json:"ref,omitempty"`
	Rows         any      `json:"rows_examined_per_scan,omitempty"`
	Filtered     string   `json:"filtered,omitempty"`
	UsingIndex   bool     `json:"using_index,omitempty"`
	Extra        []string `json:"extra,omitempty"`
}

// JSON puts the rows of EXPLAIN into one document. What MySQL nests by the place in the
// statement is a list here: of the tables of the first block, and of the other blocks.
func JSON(rows []sql.Row) (string, error) {
	var blocks []*block
	of := map[any]*block{}
	tables := map[*block][]*table{}
	for _, r := range rows {
		b := of[r[ID]]
		if b == nil {
			b = &block{ID: r[ID]}
			if len(blocks) > 0 {
				b.Kind, _ = r[SelectType].(string)
			}
			of[r[ID]] = b
			blocks = append(blocks, b)
		}
		if r[Table] == nil {
			b.Message, _ = r[Extra].(string)
			continue
		}
		tables[b] = append(tables[b], tableJSON(r))
	}
	for _, b := range blocks {
		if ts := tables[b]; len(ts) == 1 {
			b.Table = ts[0]
		} else {
			for _, t := range ts {
				b.NestedLoop = append(b.NestedLoop, map[string]any{"table": t})
			}
		}
		if b != blocks[0] {
			blocks[0].Within = append(blocks[0].Within, map[string]block{"query_block": *b})
		}
	}
	if len(blocks) == 0 {
		blocks = []*block{{ID: 1}}
	}
	text, err := json.MarshalIndent(map[string]*block{"query_block": blocks[0]}, "", "  ")
	return string(text), err
}

func tableJSON(r sql.Row) *table {
	list := func(v any) (parts []string) {
		if s, ok := v.(string); ok && s != "" {
			parts = strings.Split(s, ",")
		}
		return parts
	}
	t := &table{
		Name: fmt.Sprint(r[Table]), PossibleKeys: list(r[PossibleKeys]), Key: r[Key], KeyLength: r[KeyLen],
		Ref: list(r[Ref]), Rows: r[Rows],
	}
	t.Access, _ = r[Type].(string)
	if r[Filtered] != nil {
		t.Filtered = fmt.Sprintf("%.2f", r[Filtered])
	}
	extra, _ := r[Extra].(string)
	for _, e := range strings.Split(extra, "; ") {
		switch e {
		case "":
		case "Using index":
			t.UsingIndex = true
		default:
			t.Extra = append(t.Extra, e)
		}
	}
	return t
}
