package operator

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsonsize"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/tempfile"
)

// VarQueryMemory is the session's limit for one statement, in bytes; 0 is none.
const VarQueryMemory = "moka_query_memory"

// DefaultQueryMemory is VarQueryMemory's default.
const DefaultQueryMemory = 1 << 30

// VarSessionMemory is the server's limit for what a session keeps between statements, in bytes: user
// variables, parameters that were sent in pieces, and prepared statements.
const VarSessionMemory = "moka_session_memory"

// DefaultSessionMemory is VarSessionMemory's default.
const DefaultSessionMemory = 256 << 20

// Options of a Pool; the zero value is what a server runs with.
type Options struct {
	// Temp is where files are. Default: the system's directory for temporary files.
	Temp *tempfile.Space
	// SpillAt is how many bytes an operator keeps before it goes to disk, 0 for a part of what
	// its statement may have.
	SpillAt int64
	// Total is what all statements may hold together; 0 is half of the runtime's soft limit.
	Total int64
}

// Pool is what the statements of a process may hold in memory together, and the place where the rest goes.
type Pool struct {
	Options
	total   int64
	used    atomic.Int64
	kept    atomic.Int64 // the part of used that sessions keep between statements
	spilled atomic.Uint64
	ended   atomic.Uint64 // statements, for the sake of the others

	mu       sync.Mutex
	accounts map[*Account]struct{} // that hold something, or have
}

// NewPool takes half of the process's soft memory limit for statements if Options do not say, or a gigabyte
// if there is none.
func NewPool(o Options) (*Pool, error) {
	p := &Pool{Options: o, total: 1 << 30, accounts: map[*Account]struct{}{}}
	if limit := debug.SetMemoryLimit(-1); o.Total > 0 {
		p.total = max(o.Total, leastTotal)
	} else if limit < 1<<50 {
		p.total = max(limit/2, leastTotal)
	}
	if o.Temp != nil {
		return p, nil
	}
	var err error
	p.Temp, err = tempfile.New(tempfile.Options{})
	return p, err
}

// leastTotal is what statements have together, however small the process is to be.
const leastTotal = 64 << 20

// Total is what all statements and sessions may hold together.
func (p *Pool) Total() int64 { return p.total }

// Held is the number of bytes that statements and sessions have been charged for and have not given back.
func (p *Pool) Held() int64 { return p.used.Load() }

// Spilled is the number of bytes that operators have put on disk since the process began.
func (p *Pool) Spilled() uint64 { return p.spilled.Load() }

// Ended is how many statements were ended for the sake of the process since it began.
func (p *Pool) Ended() uint64 { return p.ended.Load() }

// Open makes the account of a session. interrupt ends the statement under way with an error, and reports
// whether there was one; nil for a session whose statements nobody can end.
func (p *Pool) Open(a *Account, interrupt func(error) bool) { a.pool, a.interrupt = p, interrupt }

// Account is what a session holds: for its statement, which gives it back at its end, and between statements.
// A pool has to open it.
type Account struct {
	pool      *Pool
	interrupt func(error) bool
	most      int64        // see Bound
	used      atomic.Int64 // by the statement
	text      atomic.Int64 // by the reading of the statement's text
	transit   atomic.Int64 // by messages; see Transit
	kept      atomic.Int64 // by the session
	known     atomic.Bool  // to the pool
	told      atomic.Bool  // that its statement is to end

	mu     sync.Mutex
	values map[any]int64 // the last large value that each function of the statement has made
}

// Settle takes back what a statement has not given back: a hash table lives as long as its plan.
func (a *Account) Settle() {
	if !a.known.Load() {
		return
	}
	if n := a.used.Swap(0); n != 0 {
		a.pool.used.Add(-n)
	}
	a.told.Store(false)
	a.mu.Lock()
	clear(a.values)
	a.mu.Unlock()
}

// Close takes back what the session holds.
func (a *Account) Close() {
	a.Settle()
	if !a.known.Swap(false) {
		return
	}
	kept := a.kept.Swap(0)
	a.pool.kept.Add(-kept)
	a.pool.used.Add(-kept - a.text.Swap(0) - a.transit.Swap(0))
	a.pool.mu.Lock()
	delete(a.pool.accounts, a)
	a.pool.mu.Unlock()
}

// Bound is what a statement of the account may hold at most, whatever its session's VarQueryMemory, and who
// ends it when memory is short. It is said before anything is charged.
func (a *Account) Bound(most int64, interrupt func(error) bool) {
	a.most, a.interrupt = most, interrupt
}

// held is all of it.
func (a *Account) held() int64 { return a.ends() + a.kept.Load() }

// ends is the part of it that the end of the statement, or of the message, gives back.
func (a *Account) ends() int64 { return a.used.Load() + a.text.Load() + a.transit.Load() }

// know has the pool look at the account when memory is short.
func (a *Account) know() {
	if a.known.Swap(true) {
		return
	}
	a.pool.mu.Lock()
	a.pool.accounts[a] = struct{}{}
	a.pool.mu.Unlock()
}

// Reads charges n bytes for the tree and the plan of a statement, until it says 0. Both are made before the
// statement has any operator.
func (a *Account) Reads(n, limit int64) error {
	if a.pool == nil {
		return nil
	}
	a.know()
	more := n - a.text.Load()
	if more > 0 {
		if limit > 0 && n > limit {
			return exceeded(limit, "the statement's text", "It was not read", VarQueryMemory)
		}
		if !a.pool.room(a, more) {
			return a.pool.full("the statement's text")
		}
	}
	a.text.Add(more)
	a.pool.used.Add(more)
	return nil
}

// Transit charges for n more bytes, or fewer, of messages on their way: a command that has not come to its
// end, or what a client has not read. limit is the statement's.
func (a *Account) Transit(n, limit int64) error {
	if n == 0 || a.pool == nil {
		return nil
	}
	a.know()
	switch {
	case n < 0:
	case limit > 0 && a.used.Load()+a.transit.Load()+n > limit:
		return exceeded(limit, "a message", "The statement was ended", VarQueryMemory)
	case !a.pool.room(a, n):
		return a.pool.full("messages")
	}
	a.transit.Add(n)
	a.pool.used.Add(n)
	return nil
}

// Keep charges the session for n more bytes, or fewer, that it keeps between statements, of
// which it may have most.
func (a *Account) Keep(n, most int64, what string) error {
	if n == 0 || a.pool == nil {
		return nil
	}
	a.know()
	if n > 0 && a.kept.Load()+n > most {
		return exceeded(most, what, "The session keeps no more", VarSessionMemory)
	}
	if n > 0 && !(a.pool.keeps(a, n) && a.pool.room(a, n)) {
		return a.pool.full(what)
	}
	a.kept.Add(n)
	a.pool.kept.Add(n)
	a.pool.used.Add(n)
	return nil
}

// keeps reports whether a session may keep n bytes more. No statement's end gives back what sessions keep,
// and a client may go to sleep on it: so half of the memory is for statements only, and the last quarter of
// the other half for sessions that keep little.
func (p *Pool) keeps(a *Account, n int64) bool {
	most := p.total / 2
	if a.kept.Load()+n > littleKept {
		most -= most / 4
	}
	return p.kept.Load()+n <= most
}

// littleKept is what a session keeps that has some prepared statements, and variables with numbers and words.
const littleKept = 1 << 20

// Value charges the statement for a value of n bytes that by, one of its functions, has made or is about to
// make: the last large value of each counts until the statement ends or the function says 0, which is when
// what used it is done. limit is the statement's.
func (a *Account) Value(by any, n, limit int64) error {
	if a.pool == nil || n == 0 && !a.known.Load() {
		return nil
	}
	a.know()
	a.mu.Lock()
	defer a.mu.Unlock()
	more := n - a.values[by]
	if more > 0 {
		if limit > 0 && a.used.Load()+more > limit {
			return exceeded(limit, "values", "The statement was ended", VarQueryMemory)
		}
		if !a.pool.room(a, more) {
			return a.pool.full("values")
		}
	}
	a.used.Add(more)
	a.pool.used.Add(more)
	if n == 0 {
		delete(a.values, by)
		return nil
	}
	if a.values == nil {
		a.values = map[any]int64{}
	}
	a.values[by] = n
	return nil
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

// Charge begins to charge an operator of the statement in ctx; nil if nobody counts. code is the error of a
// statement that goes over its limit.
func (p *Pool) Charge(ctx *sql.Context, what string, code int) *Charge {
	s, ok := ctx.Session.(holder)
	if !ok || s.Memory().pool == nil {
		return nil
	}
	return &Charge{account: s.Memory(), what: what, code: code, limit: StatementLimit(ctx, s)}
}

// StatementLimit is what a statement of the session may hold, 0 for no limit.
func StatementLimit(ctx *sql.Context, s sql.Session) int64 {
	v, err := s.GetSessionVariable(ctx, VarQueryMemory)
	if err != nil {
		return 0
	}
	n, ok := v.(int64)
	if u, unsigned := v.(uint64); unsigned && !ok {
		n = int64(u)
	}
	if h, ok := s.(holder); ok && h.Memory().most > 0 && (n <= 0 || n > h.Memory().most) {
		return h.Memory().most
	}
	return n
}

// Add charges n bytes, or fails with the error of who has held too much.
func (c *Charge) Add(n int64) error {
	if c == nil {
		return nil
	}
	a := c.account
	a.know()
	room := n <= 0 || a.pool.room(a, n)
	used := a.used.Add(n)
	a.pool.used.Add(n)
	c.held += n
	switch {
	case c.limit > 0 && used > c.limit:
		return c.exceeded(c.limit)
	case !room:
		return c.exceeded(a.pool.total)
	}
	return nil
}

func (c *Charge) exceeded(limit int64) error {
	if c.code == sqlerr.OutOfSortMemory {
		return sqlerr.New(sqlerr.OutOfSortMemory,
			"Out of sort memory, consider increasing server sort buffer size")
	}
	return exceeded(limit, c.what, "The statement was ended", VarQueryMemory)
}

func exceeded(limit int64, what, then, see string) error {
	return sqlerr.New(sqlerr.CapacityExceeded, "Memory capacity of %d bytes for '%s' exceeded. %s; see %s.",
		limit, what, then, see)
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
		n += ValueBytes(v)
	}
	return n
}

// ValueBytes is about how much memory a value takes beside the two words that point at it.
func ValueBytes(v any) int64 {
	switch v := v.(type) {
	case string:
		return 16 + int64(len(v))
	case []byte:
		return 24 + int64(len(v))
	case *apd.Decimal:
		return 64
	case time.Time:
		return 24
	case nil, bool, int8, uint8:
		return 0
	case int16, int32, int64, uint16, uint32, uint64, int, uint, float32, float64:
		return 8
	case []any:
		return RowBytes(v)
	case types.JSONDocument, *types.LazyJSONDocument:
		return jsonsize.Memory(v)
	case types.GeometryValue:
		return geometryBytes(v)
	default:
		return 256
	}
}

// geometryBytes is what a geometry takes: its points, and the slices that they are in.
func geometryBytes(g types.GeometryValue) int64 {
	const head = 32 // of a slice and a reference system
	n := int64(head)
	switch g := g.(type) {
	case types.LineString:
		n += pointBytes * int64(len(g.Points))
	case types.MultiPoint:
		n += pointBytes * int64(len(g.Points))
	case types.Polygon:
		for _, l := range g.Lines {
			n += geometryBytes(l)
		}
	case types.MultiLineString:
		for _, l := range g.Lines {
			n += geometryBytes(l)
		}
	case types.MultiPolygon:
		for _, p := range g.Polygons {
			n += geometryBytes(p)
		}
	case types.GeomColl:
		for _, part := range g.Geoms {
			n += 16 + geometryBytes(part)
		}
	}
	return n
}

// pointBytes is a point among others.
const pointBytes = 24
