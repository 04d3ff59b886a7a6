package conn

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/parse"
)

// keeper is a session that answers for the memory that its client makes it keep.
type keeper interface {
	// Keep charges for n more bytes between statements, or fewer.
	Keep(n int64, what string) error
	// Transit charges for n more bytes of messages between client and server, or fewer.
	Transit(n int64) error
	// Reads charges for the reading of a statement of n bytes, until it is told 0.
	Reads(n int) error
}

func (c *Connection) keep(n int64, what string) error {
	if k, ok := c.session.(keeper); ok {
		return k.Keep(n, what)
	}
	return nil
}

// longText is from where on the reading of a statement is charged for.
const longText = 64 << 10

// reads charges for the tree of a long statement; done gives that back.
func (c *Connection) reads(query string) (done func(), err error) {
	k, ok := c.session.(keeper)
	if !ok || len(query) < longText {
		return func() {}, nil
	}
	if err := k.Reads(len(query)); err != nil {
		return nil, err
	}
	return func() { _ = k.Reads(0) }, nil // giving back does not fail
}

// variable is a global variable that is a number.
func variable(name string) int64 {
	_, v, _ := sql.SystemVariables.GetGlobal(name)
	switch n := v.(type) {
	case int64:
		return n
	case uint64:
		return int64(min(n, math.MaxInt64))
	}
	return math.MaxInt64
}

// preparedBytes is about what a prepared statement takes.
func preparedBytes(text string) int64 { return 1<<10 + parse.KeptBytes(text) }
