package operator

import (
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// VarQueryMemory is the session's limit for one statement, in bytes; 0 is none.
const VarQueryMemory = "moka_query_memory"

// DefaultQueryMemory is VarQueryMemory's default.
const DefaultQueryMemory = 1 << 30

// Options of a Pool; the zero value is what a server runs with.
type Options struct {
	TempDir string // of files that have no name; "" is the system's
	// SpillAt is how many bytes an operator keeps before it goes to disk, 0 for a part of what its statement may have.
	SpillAt int64
	// MakeTemp makes the files, nil for TempDir.
	MakeTemp func() (*os.File, error)
}

// Pool is what the statements of a process may hold in memory together, and the place where the rest goes.
type Pool struct {
	Options
	total   int64
	used    atomic.Int64
	spilled atomic.Uint64
}

// NewPool takes half of the process's memory limit for statements, or a gigabyte if there is none, and clears the directory of what
// a process that died has left.
func NewPool(o Options) (*Pool, error) {
	p := &Pool{Options: o, total: 1 << 30}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<50 {
		p.total = max(limit/2, 64<<20)
	}
	return p, cleanRuns(o.TempDir)
}

// Held is the number of bytes that statements have been charged for and have not given back.
func (p *Pool) Held() int64 { return p.used.Load() }

// Spilled is the number of bytes that operators have put on disk since the process began.
func (p *Pool) Spilled() uint64 { return p.spilled.Load() }

// Account is what a session's statement holds. Its zero value is ready.
type Account struct {
	used atomic.Int64
	pool *Pool
}

// Settle takes back what a statement's operators have not given back: a hash table lives as long as its plan.
func (a *Account) Settle() {
	if a.pool != nil {
		a.pool.used.Add(-a.used.Swap(0))
	}
}

// holder is a session whose statements are charged for what they hold.
type holder interface {
	sql.Session
	Memory() *Account
}

// Charge is one operator's part of an account. Nil charges nobody.
type Charge struct {
	account *Account
	limit   int64
	held    int64
	what    string
	code    int
}

// Charge begins to charge an operator of the statement in ctx; nil if nobody counts. code is the error of a statement that goes over its limit.
func (p *Pool) Charge(ctx *sql.Context, what string, code int) *Charge {
	s, ok := ctx.Session.(holder)
	if !ok {
		return nil
	}
	c := &Charge{account: s.Memory(), what: what, code: code}
	c.account.pool = p
	v, err := s.GetSessionVariable(ctx, VarQueryMemory)
	if err == nil {
		switch n := v.(type) {
		case int64:
			c.limit = n
		case uint64:
			c.limit = int64(n)
		}
	}
	return c
}

// Add charges n bytes, or fails with the error of who has held too much.
func (c *Charge) Add(n int64) error {
	if c == nil {
		return nil
	}
	used := c.account.used.Add(n)
	all := c.account.pool.used.Add(n)
	c.held += n
	if c.limit > 0 && used > c.limit {
		return c.exceeded(c.limit)
	}
	if total := c.account.pool.total; all > total {
		return c.exceeded(total)
	}
	return nil
}

func (c *Charge) exceeded(limit int64) error {
	if c.code == sqlerr.OutOfSortMemory {
		return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory, consider increasing server sort buffer size")
	}
	return sqlerr.New(sqlerr.CapacityExceeded, "Memory capacity of %d bytes for '%s' exceeded. The statement was ended; see %s.", limit, c.what, VarQueryMemory)
}

// Release gives back what was charged.
func (c *Charge) Release() {
	if c == nil {
		return
	}
	c.account.used.Add(-c.held)
	c.account.pool.used.Add(-c.held)
	c.held = 0
}

// RowBytes is about how much memory a row takes.
func RowBytes(row sql.Row) int64 {
	n := int64(24 + 16*len(row))
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += 16 + int64(len(v))
		case []byte:
			n += 24 + int64(len(v))
		case *apd.Decimal:
			n += 64
		case time.Time:
			n += 24
		case nil, bool, int8, uint8:
		case int16, int32, int64, uint16, uint32, uint64, int, uint, float32, float64:
			n += 8
		case []any:
			n += RowBytes(v)
		default:
			n += 256
		}
	}
	return n
}
