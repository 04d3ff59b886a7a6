package syntax

import (
	"fmt"
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// BitsAsHex makes 0x41 of b'01000001', as MySQL does: bytes, and a number beside numbers. To the library the
// one is bytes and the other a number. Other constants stay.
func BitsAsHex(v *ast.SQLVal) *ast.SQLVal {
	n, err := strconv.ParseUint(string(v.Val), 2, 64)
	if v.Type != ast.BitVal || err != nil {
		return v
	}
	return ast.NewHexNum(fmt.Appendf(nil, "0x%0*x", (len(v.Val)+7)/8*2, n))
}
