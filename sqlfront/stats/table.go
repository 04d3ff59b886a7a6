package stats

import (
	"context"
	"log/slog"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/txn"
)

// Table is a table as statistics see it.
type Table interface {
	Descriptor() *catalog.Table
	Database() string
	IsTemporary() bool
	// Span is where the rows are, DecodeRow makes one of what is stored there, with the columns of Columns.
	Span() kv.Span
	DecodeRow(stored []byte) (sql.Row, error)
	Columns() sql.Schema
	// PublicKeys are the indexes that statements may use.
	PublicKeys() []Index
}

// Index is an index of such a table.
type Index interface {
	sql.Index
	Number() uint32
	// Ordinals are the positions of its columns among the table's, ColumnIDs what the catalog calls them.
	Ordinals() []int
	ColumnIDs() []uint32
	// Unique says that rows differ in their columns.
	Unique() bool
	// AppendKey appends the key of a row's first columns.
	AppendKey(ctx context.Context, dst []byte, row sql.Row, columns int) ([]byte, error)
}

// Options are what a Store needs of the process that it is in.
type Options struct {
	Client *txn.Client
	Logger *slog.Logger
	// Go runs a task in the background until the process ends, which cancels its context.
	Go func(func(context.Context))
	// Commit runs a transaction until it commits.
	Commit func(context.Context, func(*txn.Txn) error) error
}
