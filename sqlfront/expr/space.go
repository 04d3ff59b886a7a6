package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// spaceFunctions is SPACE(n). The library's copies what it has for each character more: a minute for ten
// megabytes, and does not hear of KILL.
func spaceFunctions() []sql.Function {
	typ := func(*sql.Context, []sql.Expression) sql.Type { return types.LongText }
	b := &builtin{name: "space", min: 1, max: 1, typ: typ,
		eval: func(ctx *sql.Context, _ *call, vs []any) (any, error) {
			n, err := integerOf(ctx, vs[0])
			if err != nil {
				return nil, err
			}
			return strings.Repeat(" ", int(max(0, min(n, MaxPacket(ctx))))), nil
		}}
	return []sql.Function{b.function()}
}
