package sqlfront

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/account"
	"moka/sqlfront/engine"
	"moka/sqlfront/node"
	"moka/sqlfront/rights"
	"moka/sqlfront/statements"
	"moka/sqlfront/system"
	"moka/txn"
)

// What an operator asks without a connection: the page of cmd/moka, which has asked for the token. It is done
// with the rights of somebody who may do everything, whatever accounts there are: who can read the token can
// read the directory of the data.

// Result is what a statement, or a table of the server's, gave.
type Result struct {
	Columns []string
	Rows    [][]any
	Cut     bool // there were more rows than were asked for
}

// View reads a table of the database moka by its name, and no more than most rows of it.
func (s *Server) View(ctx context.Context, name string, most int) (r Result, err error) {
	for i := range s.tables {
		if s.tables[i].TableName == name {
			err = s.within(ctx, func(sctx *sql.Context) error {
				r, err = s.read(sctx, &s.tables[i], most)
				return err
			})
			return r, err
		}
	}
	return r, fmt.Errorf("there is no table moka.%s", name)
}

// within runs f in a session of its own and a transaction that reads.
func (s *Server) within(ctx context.Context, f func(*sql.Context) error) error {
	session := s.operator()
	defer session.SessionEnd()
	sctx := sql.NewContext(ctx, sql.WithSession(session))
	t := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	sctx.SetTransaction(s.engine.Adopt(t))
	return f(sctx)
}

// operator makes a session of the server's own. The library looks for an account even where rights are lent
// (rights.As), so the session has the name of one that there is: root@localhost may have been dropped.
func (s *Server) operator() *engine.Session {
	as := sql.Client{User: "root", Address: "localhost"}
	accounts := s.engine.Directory()
	root := account.Name{User: as.User, Host: as.Address}
	if all := accounts.Accounts(); len(all) > 0 && accounts.Account(root) == nil {
		as.User, as.Address = all[0].User, all[0].Host
	}
	return s.engine.NewSession(sql.NewBaseSessionWithClientServer("moka", as, 0))
}

func (s *Server) read(sctx *sql.Context, t *system.Table, most int) (r Result, err error) {
	for _, c := range t.Columns {
		r.Columns = append(r.Columns, c.Name)
	}
	err = rights.As(sctx, s.engine.Accounts(), func() error {
		rows, err := t.Rows(sctx)
		for i, row := range rows {
			if r.Cut = i == most; r.Cut {
				break
			}
			r.Rows = append(r.Rows, row)
		}
		return err
	})
	return r, err
}

// Processes is SHOW PROCESSLIST.
func (s *Server) Processes(ctx context.Context) (r Result, err error) {
	r.Columns = []string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info"}
	err = s.within(ctx, func(sctx *sql.Context) error {
		all, err := s.engine.Processes(sctx)
		for _, x := range all {
			r.Rows = append(r.Rows, []any{x.Connection, x.User, x.Host, x.Database, x.Command, x.Seconds(),
				x.State, x.Query})
		}
		return err
	})
	return r, err
}

// operated bounds the rows that Operate returns.
const operated = 1000

// Operate runs one statement in a database, in autocommit. A change is tried again as a client's would be.
func (s *Server) Operate(ctx context.Context, db, text string) (r Result, err error) {
	session := s.operator()
	defer session.SessionEnd()
	session.SetCurrentDatabase(db)
	for range blobAttempts {
		if r, err = s.operate(ctx, session, text); !engine.IsRetryable(err) {
			break
		}
	}
	return r, err
}

func (s *Server) operate(ctx context.Context, session *engine.Session, text string) (r Result, err error) {
	if err := session.CommandBegin(); err != nil {
		return r, err
	}
	defer session.CommandEnd()
	sctx := sql.NewContext(ctx, sql.WithSession(session)).WithQuery(text)
	err = rights.As(sctx, s.engine.Accounts(), func() error {
		schema, it, _, err := s.engine.SQL().Query(sctx, text)
		if err != nil {
			return err
		}
		r = Result{}
		for _, c := range schema {
			r.Columns = append(r.Columns, c.Name)
		}
		for {
			row, err := it.Next(sctx)
			if err == io.EOF {
				return it.Close(sctx)
			}
			if err != nil {
				_ = it.Close(sctx)
				return err
			}
			if r.Cut = len(r.Rows) == operated; r.Cut {
				return it.Close(sctx)
			}
			r.Rows = append(r.Rows, row)
		}
	})
	return r, err
}

// Kill ends the statement of a connection or, with connection, the connection itself, on whichever server
// that is.
func (s *Server) Kill(ctx context.Context, id uint32, connection bool) error {
	k := node.Kill{ID: id, Connection: connection, User: "root", Everybody: true}
	if s.node.Own(id) {
		return s.kill(ctx, k)
	}
	return s.node.Ask(ctx, k)
}

// Explain says how the statement would be run of which the digest has a sample. Only what clients have sent
// is explained: the caller has no text of his own to give.
func (s *Server) Explain(ctx context.Context, digest string) (text string, plan Result, err error) {
	for _, d := range s.statements.Digests() {
		if d.Digest != digest || d.Sample == "" {
			continue
		}
		sample := strings.TrimRight(d.Sample, "; \n\t")
		plan, err = s.Operate(ctx, d.Database, "EXPLAIN "+sample)
		return sample, plan, err
	}
	return "", plan, fmt.Errorf("there is no statement of that digest any more")
}

// Latencies counts all statements by how long they took; see statements.Recorder.
func (s *Server) Latencies() []uint64 { return s.statements.Latencies() }

// LatencyUpTo is where a bucket of Latencies ends, in seconds.
func LatencyUpTo(bucket int) float64 { return statements.LatencyUpTo(bucket).Seconds() }
