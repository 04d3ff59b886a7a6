package builtin

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
)

// compressedHead is how many bytes COMPRESS writes before what it compresses: its length.
const compressedHead = 4

// uncompress is UNCOMPRESS. The library reads once from what may give its bytes in pieces, and takes all
// beyond the first 32 KiB for corrupted. The bytes that it is about to make are charged for by package expr.
func uncompress(ctx *sql.Context, args []any) (any, error) {
	in := args[0].([]byte)
	if len(in) == 0 {
		return []byte{}, nil
	}
	corrupted := func() (any, error) {
		ctx.Warn(1259, "ZLIB: Input data corrupted")
		return nil, nil
	}
	if len(in) <= compressedHead {
		return corrupted()
	}
	r, err := zlib.NewReader(bytes.NewReader(in[compressedHead:]))
	if err != nil {
		return corrupted()
	}
	defer r.Close()
	length := binary.LittleEndian.Uint32(in) & (1<<30 - 1) // as much as is charged for
	var out bytes.Buffer
	switch n, err := io.Copy(&out, io.LimitReader(r, int64(length)+1)); {
	case err != nil:
		return corrupted()
	case n > int64(length):
		ctx.Warn(1258, "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data "+
			"was corrupted)")
		return nil, nil
	}
	return out.Bytes(), nil
}
