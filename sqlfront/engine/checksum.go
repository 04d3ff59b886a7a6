package engine

import (
	"context"
	"encoding/binary"
	"hash/crc32"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// checksumTables is CHECKSUM TABLE t, …: the sum of the CRC-32s of the rows. As in MySQL it depends on the values alone, not on the order of the
// rows, nor on how they happen to be stored, and can be compared between servers of one kind: here each value is hashed as the text that
// a client would get, where MySQL takes the bytes of its record.
func (e *Engine) checksumTables(c parse.CheckTable, auth ast.AuthInformation) ast.Statement {
	columns := sql.Schema{
		{Name: "Table", Type: types.LongText}, {Name: "Checksum", Type: types.Uint64, Nullable: true},
	}
	return ast.InjectedStatement{Auth: auth, Statement: system.NewReport("CHECKSUM TABLE", columns, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, n := range c.Tables {
			if n.Database == "" {
				if n.Database = ctx.GetCurrentDatabase(); n.Database == "" {
					return nil, sql.ErrNoDatabaseSelected.New()
				}
			}
			row := sql.Row{n.Database + "." + n.Name, nil}
			sum, ok, err := e.checksum(ctx, n, c.Quick)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil: // the others are answered for
				final := sqlerr.Final(err, sqlerr.Statement{})
				ctx.Session.Warn(&sql.Warning{Level: "Error", Code: int(final.Num), Message: final.Message})
			case ok:
				row[1] = uint64(sum)
			}
			rows = append(rows, row)
		}
		return rows, nil
	})}
}

// checksum reads the table in the statement's snapshot. ok is false where there is none at hand, which is all that QUICK asks for.
func (e *Engine) checksum(ctx *sql.Context, n parse.Name, quick bool) (sum uint32, ok bool, err error) {
	d, err := e.provider.Database(ctx, n.Database)
	if err != nil {
		return 0, false, err
	}
	found, ok, err := d.GetTableInsensitive(ctx, n.Name)
	if err != nil {
		return 0, false, err
	}
	t := (*Table)(nil)
	if ok {
		t = ownTable(found)
	}
	if t == nil {
		if views, is := d.(sql.ViewDatabase); is && !ok {
			if _, view, err := views.GetViewDefinition(ctx, n.Name); view || err != nil {
				if err == nil {
					err = sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not BASE TABLE", n.Database, n.Name)
				}
				return 0, false, err
			}
		}
		if !ok {
			err = sqlerr.UnknownTable(n.Database, n.Name)
		}
		return 0, false, err
	}
	if quick {
		return 0, false, nil
	}
	tx, err := txOf(ctx)
	if err != nil {
		return 0, false, err
	}
	columns := t.Schema(ctx)
	it := &entryIter{tx: tx, spans: wholeSpan(indexSpan(t.desc.ID, t.desc.RowIndex))}
	defer it.Close()
	var buf []byte
	for {
		entry, more, err := it.Next(ctx)
		if err != nil || !more {
			return sum, err == nil, err
		}
		row, err := t.decode.Decode(entry.value)
		if err != nil {
			return 0, false, err
		}
		if buf, err = appendRowText(ctx, buf[:0], columns, row); err != nil {
			return 0, false, err
		}
		sum += crc32.ChecksumIEEE(buf)
	}
}

// appendRowText writes the values of a row so that no two rows look the same: one byte for NULL, or a length and the text of the value.
func appendRowText(ctx *sql.Context, b []byte, columns sql.Schema, row sql.Row) ([]byte, error) {
	for i, v := range row {
		if v == nil || i >= len(columns) || columns[i].Virtual {
			b = append(b, 0)
			continue
		}
		v, err := sql.UnwrapAny(context.Background(), v)
		if err != nil {
			return nil, err
		}
		text, err := columns[i].Type.SQL(ctx, nil, v)
		if err != nil {
			return nil, err
		}
		b = binary.AppendUvarint(append(b, 1), uint64(text.Len()))
		b = append(b, text.Raw()...)
	}
	return b, nil
}
