package txn

import (
	"context"
	"time"

	"moka/kv"
)

type Client struct{}

func NewClient(store kv.Store, clock Timestamps, o Options) (*Client, error) { return &Client{}, nil }
func (c *Client) Close() error                                               { panic("txn: not built yet") }
func (c *Client) Begin(o TxnOptions) *Txn                                    { panic("txn: not built yet") }
func (c *Client) ResolveOrphans(ctx context.Context, olderThan time.Duration) (resolved int, err error) {
	panic("txn: not built yet")
}
func (c *Client) Metrics() Metrics { panic("txn: not built yet") }

type Metrics struct{}

type Txn struct{}
type Savepoint struct{}

func (t *Txn) StartTS(ctx context.Context) (kv.Timestamp, error) { panic("txn: not built yet") }
func (t *Txn) Get(ctx context.Context, c kv.Column) (value []byte, ok bool, err error) {
	panic("txn: not built yet")
}
func (t *Txn) BatchGet(ctx context.Context, cs []kv.Column) ([]Value, error) {
	panic("txn: not built yet")
}
func (t *Txn) Scan(ctx context.Context, o ScanOptions) *Scanner { panic("txn: not built yet") }
func (t *Txn) Put(c kv.Column, value []byte, o WriteOptions)    { panic("txn: not built yet") }
func (t *Txn) Delete(c kv.Column, o WriteOptions)               { panic("txn: not built yet") }
func (t *Txn) Require(c kv.Column)                              { panic("txn: not built yet") }
func (t *Txn) LockForUpdate(c kv.Column)                        { panic("txn: not built yet") }
func (t *Txn) NotifyWeak(c kv.Column, observers []uint32)       { panic("txn: not built yet") }
func (t *Txn) Savepoint() Savepoint                             { panic("txn: not built yet") }
func (t *Txn) RollbackTo(s Savepoint)                           { panic("txn: not built yet") }
func (t *Txn) Size() (bytes int64, keys int)                    { panic("txn: not built yet") }
func (t *Txn) Err() error                                       { panic("txn: not built yet") }
func (t *Txn) Commit(ctx context.Context) (kv.Timestamp, error) { panic("txn: not built yet") }
func (t *Txn) Rollback()                                        { panic("txn: not built yet") }

type Scanner struct{}

func (s *Scanner) Next() bool        { panic("txn: not built yet") }
func (s *Scanner) Column() kv.Column { panic("txn: not built yet") }
func (s *Scanner) Value() []byte     { panic("txn: not built yet") }
func (s *Scanner) Err() error        { panic("txn: not built yet") }
func (s *Scanner) Close() error      { panic("txn: not built yet") }

type CoprocessorOptions struct{}

func NewCoprocessor(o CoprocessorOptions) kv.Coprocessor { panic("txn: not built yet") }
