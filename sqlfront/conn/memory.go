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
	// Reads charges n bytes for the reading of a statement, until it is told 0.
	Reads(n int64) error
}

func (c *Connection) keep(n int64, what string) error {
	if k, ok := c.session.(keeper); ok {
		return k.Keep(n, what)
	}
	return nil
}

// longText is from where on the reading of a statement is charged for.
const longText = 64 << 10

// reads charges for the copies of a long statement; done gives that back.
func (c *Connection) reads(query string) (done func(), err error) {
	if len(query) < longText {
		return func() {}, nil
	}
	return c.charged(parse.CopiesOfText * int64(len(query)))
}

// grows charges for the tree and the plan that the engine makes of a statement, beside the copies of its
// text; done gives that back. Of a text of several only the first is made one.
func (c *Connection) grows(query string, multi bool) (done func(), err error) {
	if len(query) < parse.LeastTree {
		return func() {}, nil
	}
	ansi := c.limit().ansiQuotes
	if multi {
		if at, more := parse.Second(query, ansi); more {
			query = query[:at]
		}
	}
	return c.charged(parse.ReadingBytes(query, ansi))
}

func (c *Connection) charged(n int64) (done func(), err error) {
	k, ok := c.session.(keeper)
	if !ok {
		return func() {}, nil
	}
	if err := k.Reads(n); err != nil {
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
