package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// explainBlock is a query block in EXPLAIN FORMAT=JSON: the rows of EXPLAIN's table in MySQL's other words.
type explainBlock struct {
	ID         any                       `json:"select_id,omitempty"`
	Kind       string                    `json:"select_type,omitempty"` // of blocks within others
	Message    string                    `json:"message,omitempty"`
	Table      *explainTableJSON         `json:"table,omitempty"`
	NestedLoop []map[string]any          `json:"nested_loop,omitempty"`
	Within     []map[string]explainBlock `json:"subqueries,omitempty"`
}

type explainTableJSON struct {
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

// explainJSON puts the rows of EXPLAIN into one document. What MySQL nests by the place in the statement is a list here: of the tables of
// the first block, and of the other blocks.
func explainJSON(rows []sql.Row) (string, error) {
	var blocks []*explainBlock
	of := map[any]*explainBlock{}
	tables := map[*explainBlock][]*explainTableJSON{}
	for _, r := range rows {
		b := of[r[explainID]]
		if b == nil {
			b = &explainBlock{ID: r[explainID]}
			if len(blocks) > 0 {
				b.Kind, _ = r[explainSelectType].(string)
			}
			of[r[explainID]] = b
			blocks = append(blocks, b)
		}
		if r[explainTable] == nil {
			b.Message, _ = r[explainExtra].(string)
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
			blocks[0].Within = append(blocks[0].Within, map[string]explainBlock{"query_block": *b})
		}
	}
	if len(blocks) == 0 {
		blocks = []*explainBlock{{ID: 1}}
	}
	text, err := json.MarshalIndent(map[string]*explainBlock{"query_block": blocks[0]}, "", "  ")
	return string(text), err
}

func tableJSON(r sql.Row) *explainTableJSON {
	list := func(v any) (parts []string) {
		if s, ok := v.(string); ok && s != "" {
			parts = strings.Split(s, ",")
		}
		return parts
	}
	t := &explainTableJSON{
		Name: fmt.Sprint(r[explainTable]), PossibleKeys: list(r[explainPossibleKeys]), Key: r[explainKey], KeyLength: r[explainKeyLen],
		Ref: list(r[explainRef]), Rows: r[explainRows],
	}
	t.Access, _ = r[explainType].(string)
	if r[explainFiltered] != nil {
		t.Filtered = fmt.Sprintf("%.2f", r[explainFiltered])
	}
	extra, _ := r[explainExtra].(string)
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
