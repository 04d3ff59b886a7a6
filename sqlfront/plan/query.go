package plan

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/eval"
	"moka/sqlfront/rowenc"
)

// Table is a table as a plan knows it. It may be kept.
type Table interface {
	Schema(*sql.Context) sql.Schema
	// Keys are the indexes that rows can be found by: entries lie in the order of the values, and a value has
	// one key.
	Keys() []*Key
	// Columns is the table with these columns only.
	Columns(ordinals []int) (Table, error)
	// Rows is about how many rows the table has.
	Rows(*sql.Context) float64
	// Distinct is about how many values the first n columns of a key have; 0 if that is not known.
	Distinct(k *Key, n int) float64
}

// Key is an index.
type Key struct {
	Name    string
	Columns []int // positions in the schema of the whole table
	Types   []sql.Type
	Unique  bool
	Primary bool
	Codec   *rowenc.KeyCodec
	Prefix  []byte // of each of its entries in the store
	Of      any    // what the table knows it by
}

// Query is the plan of a SELECT.
type Query struct {
	// Operands are those of all conditions, and of all accesses: see eval.Frame.
	Operands []eval.Typed
	// Subqueries are run first; what they answer is in eval.Frame.Results, in their order.
	Subqueries []*Subquery
	Sources    []*Source
	// Width is how many slots a row of all sources has.
	Width  int
	Group  *Group
	Having []eval.Predicate // on rows of groups
	// Columns are computed for each row (of a group, if there is Group): those of the result, then those that
	// are only sorted by.
	Columns []Column
	Result  int // how many belong to the result
	// Distinct leaves one of each of the rows that are the same in the result.
	Distinct bool
	// Order is what the rows are sorted by. InOrder: they come so from the only source, backwards if Reverse.
	Order            []Order
	InOrder, Reverse bool
	Limit, Offset    *eval.Operand

	few bool // rows are read
}

// Column is what a row has in one place of the result: a slot, or the first of the others that is there.
type Column struct {
	Slot  int // -1: none
	Expr  sql.Expression
	Truth eval.Predicate // as 1 or 0
	// Result is which of Query.Subqueries has the value.
	Result int
	Type   sql.Type
}

// Order is one column that rows are sorted by.
type Order struct {
	Column     int // in Query.Columns
	Descending bool
	Codec      *rowenc.KeyCodec
}

// Group is GROUP BY, or aggregates over all rows.
type Group struct {
	// By are the columns that make a group; none for one group of all rows, which there is also when there
	// are no rows.
	By []Column
	// Outputs are the columns of a group's row: an aggregate, or the first row's value.
	Outputs []Output
}

// Output is one column of a group.
type Output struct {
	Aggregate sql.Aggregation // over rows of all sources; nil: First
	First     Column
}

// Source is one table, or derived table, of the FROM clause.
type Source struct {
	Name    string
	Table   Table  // with the columns that are needed only
	Derived *Query // instead of Table
	Slot    int    // of its first column
	Width   int
	Types   []sql.Type
	// Left: of a LEFT JOIN. A row for which there is none goes on with NULLs.
	Left   bool
	Access Access
	// KeyColumns are where the source has the columns of Access.Equal, if these depend on the row so far.
	KeyColumns []int
	// On is asked of each pair; a pair that fails is none. After holds conditions that a row of the sources
	// so far has to pass, which for a LEFT JOIN are those of WHERE.
	On, After []eval.Predicate
}

// Access is how the rows of a source are found.
type Access struct {
	Key *Key // nil: all rows
	// Equal are the values of the key's first columns.
	Equal []Value
	// In is a list for the column behind these; Lower and Upper are a range of it.
	In           []eval.Operand
	Lower, Upper *Bound
	// Hash are columns of the source that are equal to slots of the rows before, where no key is used that
	// depends on those: the source is read once and looked up in memory.
	Hash []Match
}

// Value is a slot of the row so far, a subquery's, or an operand.
type Value struct {
	Slot     int  // -1: Subquery or Operand
	Subquery bool // the value is that of Query.Subqueries[Result]
	Result   int
	Operand  eval.Operand
	Type     sql.Type // of the key's column
}

// Bound is one end of a range.
type Bound struct {
	Operand   eval.Operand
	Inclusive bool
	Type      sql.Type
}

// Match is a column of a source that equals a slot of the row so far.
type Match struct {
	Column int // of the source's columns
	Slot   int
	Type   sql.Type
}

// Point reports whether the access finds at most one row for each row so far.
func (a *Access) Point() bool {
	return a.Key != nil && a.Key.Unique && len(a.Equal) == len(a.Key.Columns)
}

// Depends reports whether what is found depends on the row so far.
func (a *Access) Depends() bool {
	for i := range a.Equal {
		if a.Equal[i].Slot >= 0 {
			return true
		}
	}
	return false
}

// Worth reports whether the plan is as good as the general planner's, which has aggregates over ranges
// computed where the rows are.
func (q *Query) Worth() bool {
	if len(q.Sources) != 1 || q.Group == nil || q.few || q.Sources[0].Derived != nil {
		return true
	}
	a := &q.Sources[0].Access
	return a.Key != nil && (len(a.Equal) > 0 || a.In != nil)
}
