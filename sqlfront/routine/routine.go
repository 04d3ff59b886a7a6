package routine

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/assign"
	"moka/sqlfront/sqlerr"
)

// Kind says what a routine is.
type Kind string

const (
	Procedure Kind = "PROCEDURE"
	Function  Kind = "FUNCTION"
	Trigger   Kind = "TRIGGER" // an observer's body, too
)

// Direction is the direction of a procedure's parameter.
type Direction uint8

const (
	In Direction = iota
	Out
	InOut
)

// String is the direction in SQL.
func (d Direction) String() string { return [...]string{"IN", "OUT", "INOUT"}[d] }

// Param is a parameter.
type Param struct {
	Name      string
	Direction Direction
	Type      sql.Type
}

// Routine is a compiled body. It keeps nothing of its runs, but its trees are the planner's to
// read: one session uses it.
type Routine struct {
	Kind     Kind
	Database string
	Name     string
	Params   []Param
	Returns  sql.Type // of a function

	slots    []slot // of a trigger: the columns of OLD, those of NEW, then variables
	old, now int    // how many columns of each
	body     node
	depth    int  // how deep it is nested
	answers  bool // a trigger whose SELECT may have a result

	// Reads are the columns of OLD and NEW whose values the body of a trigger uses, Writes those of NEW
	// that it gives values to.
	Reads, Writes []string
	// ReadsOld are those of Reads that are of OLD.
	ReadsOld []string

	statements []ast.Statement
	// reads is set for a function whose answer may change between two calls of one statement
	// with the same arguments.
	Deterministic bool
}

// Host runs what a body consists of.
type Host interface {
	// Query runs one statement in the session's transaction. A text is given for those that
	// are parsed when they run.
	Query(ctx *sql.Context, stmt ast.Statement, text string) (sql.Schema, sql.RowIter, error)
	// Expression is the value of a SELECT without a table, bound once; nil if it has to be run. It is
	// good for one evaluation.
	Expression(ctx *sql.Context, stmt ast.Statement) sql.Expression
	// Result takes a result set for the client. It closes rows.
	Result(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) error
	// Keep reads all rows and keeps them, charged to the statement, until release is called. It closes rows.
	Keep(ctx *sql.Context, rows sql.RowIter) (kept []sql.Row, release func(), err error)
	// Lost reports whether the transaction of the statement that the body is part of is over.
	Lost(ctx *sql.Context) bool
	// RecursionLimit is how deep a procedure may call itself.
	RecursionLimit(ctx *sql.Context) int
}

// Output is what a run leaves behind.
type Output struct {
	Value        any   // of a function
	Params       []any // values of the parameters
	RowsAffected int64 // by the last statement
}

// depthLimit bounds routines that call each other, nestingLimit how deep their bodies are nested, all
// together: each level takes up to 3 KB of Go's stack while what it calls is run, and a program whose stack
// is full (1 GB) is gone.
const (
	depthLimit   = 64
	nestingLimit = 50_000
)

// Argument is a value for a parameter, of the type that it has where the routine is called.
type Argument struct {
	Value any
	Type  sql.Type
}

// Run runs the body with values for its parameters, converted to their types. sctx is the context of
// the statement that calls.
func (r *Routine) Run(sctx *sql.Context, host Host, args []Argument) (Output, error) {
	f, err := r.enter(sctx, host)
	if err != nil {
		return Output{}, err
	}
	defer f.end()
	for i, p := range r.Params {
		if p.Direction == Out {
			continue
		}
		v, err := assign.Store(f.ctx, p.Type, p.Name, args[i].Value, args[i].Type)
		if err != nil {
			return Output{}, err
		}
		if err := f.keep(i, v); err != nil {
			return Output{}, err
		}
		f.values[i] = v
	}
	j, err := r.body.run(f)
	if err != nil {
		return Output{}, bare(err)
	}
	out := Output{Params: f.values[:len(r.Params)], RowsAffected: max(f.affected, 0)}
	if r.Kind == Function {
		if j == nil || j.kind != jumpReturn {
			return Output{}, sqlerr.New(sqlerr.FunctionNoReturn, "FUNCTION %s ended without RETURN", r.Name)
		}
		out.Value = j.value
	}
	return out, nil
}

// Fire runs the body of a trigger for one row, and returns what NEW has become. Rows that the
// event has not are nil.
func (r *Routine) Fire(sctx *sql.Context, host Host, old, now sql.Row, says ...bool) (sql.Row, error) {
	f, err := r.enter(sctx, host)
	if err != nil {
		return nil, err
	}
	defer f.end()
	copy(f.values[:r.old], old)
	copy(f.values[r.old:r.old+r.now], now)
	for i, is := range says {
		f.values[r.old+r.now+i] = int8(0)
		if is {
			f.values[r.old+r.now+i] = int8(1)
		}
	}
	if _, err := r.body.run(f); err != nil {
		return nil, bare(err)
	}
	return f.values[r.old : r.old+r.now : r.old+r.now], nil
}

// enter makes the frame of a run.
func (r *Routine) enter(sctx *sql.Context, host Host) (*frame, error) {
	parent := frameOf(sctx)
	depth, same, nested := 0, 0, r.depth
	for p := parent; p != nil; p = p.parent {
		nested += p.routine.depth
		if depth++; p.routine.Kind == r.Kind && strings.EqualFold(p.routine.Name, r.Name) &&
			strings.EqualFold(p.routine.Database, r.Database) {
			same++
		}
	}
	switch {
	case same > 0 && r.Kind == Function:
		return nil, sqlerr.New(sqlerr.RoutineNoRecursion,
			"Recursive stored functions and triggers are not allowed.")
	case same > 0 && r.Kind == Procedure:
		if limit := host.RecursionLimit(sctx); same > limit {
			return nil, sqlerr.New(sqlerr.RoutineRecursionLimit,
				"Recursive limit %d (as set by the max_sp_recursion_depth variable) was exceeded for "+
					"routine %s", limit, r.Name)
		}
	}
	if depth >= depthLimit {
		return nil, sqlerr.New(sqlerr.RoutineRecursionLimit,
			"Routines call each other more than %d deep, at %s", depthLimit, r.Name)
	}
	if parent != nil && nested > nestingLimit {
		return nil, sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: the bodies of the routines that "+
			"call %s are nested more than %d levels deep, all together", r.Name, nestingLimit)
	}
	f := &frame{routine: r, host: host, parent: parent, values: make([]any, len(r.slots))}
	// Statements of the body have a context of their own: no process of the list is theirs, and no text.
	f.ctx = sql.NewContext(context.WithValue(sctx.Context, frameKey{}, f), sql.WithSession(sctx.Session),
		sql.WithMemoryManager(sctx.Memory), sql.WithPid(sctx.Pid()))
	f.ctx.SetQueryTime(sctx.QueryTime())
	f.timed = r.Kind == Procedure && (parent == nil || parent.timed)
	return f, nil
}

// frame is one run of a routine.
type frame struct {
	routine *Routine
	host    Host
	parent  *frame
	ctx     *sql.Context
	timed   bool // each statement has a time of its own

	values   []any
	held     int64 // how many bytes they are
	charged  int64 // what of these the statement has been charged for
	cursors  map[*cursorSlot]*cursor
	scopes   []*scope
	signals  []*Condition // those whose handlers run, the innermost last
	area     []*Condition // of the last statement: GET DIAGNOSTICS
	affected int64        // by the last statement, -1 for a result set
}

// within reports whether the run is part of a statement: of one that fires a trigger, or calls a function.
func (f *frame) within() bool {
	for ; f != nil; f = f.parent {
		if f.routine.Kind != Procedure {
			return true
		}
	}
	return false
}

type frameKey struct{}

func frameOf(ctx *sql.Context) *frame {
	f, _ := ctx.Value(frameKey{}).(*frame)
	return f
}

type outParamsKey struct{}

// WithOutParams marks the context of a result that holds the OUT parameters of a prepared CALL.
func WithOutParams(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, outParamsKey{}, true))
}

// OutParams reports whether a result holds OUT parameters.
func OutParams(ctx *sql.Context) bool { return ctx.Value(outParamsKey{}) != nil }

// HostOf is the host of the routine in whose body ctx is, nil if in none.
func HostOf(ctx *sql.Context) Host {
	if f := frameOf(ctx); f != nil {
		return f.host
	}
	return nil
}
