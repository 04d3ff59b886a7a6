package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/rights"
)

// loadFile is LOAD_FILE(name): NULL for all that it may not or cannot read, as in MySQL. The library's stops at the type of
// max_allowed_packet, leaves directories open, and asks for no privilege. In the text of a view, in, it takes FILE of who made the view as well: a routine
// of somebody who has FILE may read the view.
func (e *Engine) loadFile(in *rights.Stored) sql.Function {
	return sql.Function1{Name: "load_file", Fn: func(_ *sql.Context, name sql.Expression) sql.Expression {
		read := func(ctx *sql.Context, args []any) (any, error) {
			name, ok := args[0].(string)
			if !ok || !e.mayAdminister(ctx, sql.PrivilegeType_File) ||
				!e.definerMay(ctx, in, sql.PrivilegeType_File) {
				return nil, nil
			}
			data, ok := readFile(name, expr.MaxPacket(ctx))
			if !ok {
				return nil, nil
			}
			return data, nil
		}
		return builtin.Of("load_file", types.LongBlob, types.LongText, name, read)
	}}
}

// definerMay reports whether who made a view has a privilege for the whole server; in is nil outside of views.
func (e *Engine) definerMay(ctx *sql.Context, in *rights.Stored, p sql.PrivilegeType) (may bool) {
	s := sessionOf(ctx)
	if in == nil || in.Definer == "" || s == nil {
		return true
	}
	by := definerName(in.Definer)
	err := s.ActAs(ctx, by.User, by.Host, func() error {
		may = e.mayAdminister(ctx, p)
		return nil
	})
	return err == nil && may
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
