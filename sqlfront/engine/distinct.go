package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// distinct builds DISTINCT over text by the columns' collations: the library tells rows apart by their bytes, so that 'a' and
// 'A', which are equal, would both come.
func (b *execBuilder) distinct(ctx *sql.Context, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	schema := n.Child.Schema(ctx)
	text := false
	for _, c := range schema {
		text = text || types.IsTextOnly(c.Type)
	}
	if !text || len(n.DistinctOn()) > 0 {
		return nil, nil
	}
	it, err := b.base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return iters.NewDistinctIter(ctx, it, collatedRows{schema, len(row)}), nil
}

// collatedRows hashes rows so that equal ones have equal hashes.
type collatedRows struct {
	schema sql.Schema
	outer  int // values of an outer scope in front of each row
}

// HashOf implements iters.DistinctHasher.
func (c collatedRows) HashOf(ctx *sql.Context, row sql.Row) (uint64, error) {
	if len(row) == len(c.schema)+c.outer {
		row = row[c.outer:]
	}
	return hash.HashOf(ctx, c.schema, row)
}
