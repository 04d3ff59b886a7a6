package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// loadFile is LOAD_FILE(name): NULL for all that it may not or cannot read, as in MySQL. The library's stops at the type of
// max_allowed_packet, leaves directories open, and asks for no privilege.
func (e *Engine) loadFile() sql.Function {
	return sql.Function1{Name: "load_file", Fn: func(_ *sql.Context, name sql.Expression) sql.Expression {
		return &computed{
			NaryExpression: expression.NaryExpression{ChildExpressions: []sql.Expression{name}},
			name:           "load_file", typ: types.LongBlob, takes: []sql.Type{types.LongText},
			compute: func(ctx *sql.Context, args []any) (any, error) {
				name, ok := args[0].(string)
				if !ok || !e.mayAdminister(ctx, sql.PrivilegeType_File) {
					return nil, nil
				}
				data, ok := readFile(name, expr.MaxPacket(ctx))
				if !ok {
					return nil, nil
				}
				return data, nil
			},
		}
	}}
}

// readFile reads a file of the directory that is set aside for files, if it has at most that many bytes.
func readFile(name string, most int64) (data []byte, ok bool) {
	f, err := openFile(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() > most {
		return nil, false
	}
	data, err = io.ReadAll(io.LimitReader(f, most+1)) // it may have grown
	return data, err == nil && int64(len(data)) <= most
}
