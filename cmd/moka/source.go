package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moka/cmd/moka/page"
	"moka/kv"
	"moka/sqlfront"
	"moka/tpce"
)

// source is what the page is told of this process.
type source struct{ *stack }

var _ page.Source = source{}

var (
	errNoSQL     = errors.New("this process does not serve SQL")
	errNoStorage = errors.New("this process has no storage")
)

// pageRows bounds what a panel reads of a table.
const pageRows = 1000

func (s source) Head() page.Head {
	st := s.warnings()
	return page.Head{Version: version, SQL: s.sqlAddr, Started: s.started, Warning: st}
}

func (s source) Figures() page.Figures {
	t := s.txn.Metrics()
	f := page.Figures{OnePhase: t.CommitsOnePhase, Async: t.CommitsAsync,
		TwoPhase: t.Commits - min(t.Commits, t.CommitsOnePhase+t.CommitsAsync), Conflicts: t.Conflicts,
		LatencyUpTo: sqlfront.LatencyUpTo}
	if s.node != nil {
		e := s.node.Stats().Engine
		f.Storage, f.Syncs, f.SyncSeconds = true, e.LogSyncs, e.LogSyncTime.Seconds()
	}
	if s.worker != nil {
		w := s.worker.Metrics()
		f.Runs, f.Collapsed, f.Failures, f.Parked = w.Runs, w.Collapsed, w.Failures, w.Parked
	}
	if s.sql != nil {
		m := s.sql.Metrics()
		f.SQL, f.Latency, f.Connections = true, s.sql.Latencies(), m.Connections
		f.Transactions = int64(len(s.sql.Engine().Transactions()))
		f.Statements = uint64(m.Selects + m.Inserts + m.Updates + m.Deletes + m.Definitions +
			m.TransactionCommands + m.OtherStatements)
		f.Errors = uint64(m.Errors)
	}
	return f
}

func (s source) Shards(context.Context) ([]page.Shard, error) {
	if s.node == nil {
		return nil, errNoStorage
	}
	var list []page.Shard
	for _, x := range s.node.Stats().Shards {
		list = append(list, page.Shard{ID: uint64(x.Shard), Tablets: x.Tablets, Reads: x.Reads,
			Writes: x.Writes, Batches: x.Proposals, Sent: x.Bytes, Locks: x.InMemory["lock"],
			Notes: x.InMemory["notify"]})
	}
	return list, nil
}

func (s source) Replicas(context.Context) (page.Table, error) {
	if s.node == nil {
		return page.Table{}, errNoStorage
	}
	if !s.o.Cluster {
		return page.Table{}, nil
	}
	sec := s.replicaSection()
	return tableOf(sec), nil
}

func tableOf(sec section) page.Table {
	t := page.Table{Columns: sec.Columns}
	for _, r := range sec.Rows {
		row := make([]any, len(r))
		for i := range r {
			row[i] = r[i]
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s source) Tablets(ctx context.Context) ([]page.Tablet, error) {
	if s.node == nil {
		return nil, errNoStorage
	}
	loads, err := s.node.TabletLoads()
	if err != nil {
		return nil, err
	}
	var keys []kv.RowKey
	for _, l := range loads {
		keys = append(keys, l.Tablet.Span.Start, l.Tablet.Span.End)
	}
	names := s.rowNames(ctx, keys)
	list := make([]page.Tablet, len(loads))
	for i, l := range loads {
		list[i] = page.Tablet{ID: uint64(l.Tablet.ID), Shard: uint64(l.Tablet.Shard),
			Generation: l.Tablet.Generation, Begins: names[2*i], Ends: names[2*i+1], Bytes: l.Bytes,
			Rate: l.Rate}
	}
	return list, nil
}

func (s source) View(ctx context.Context, name string) (page.Table, error) {
	if s.sql == nil {
		return page.Table{}, errNoSQL
	}
	r, err := s.sql.View(ctx, name, pageRows)
	return page.Table(r), err
}

func (s source) Processes(ctx context.Context) (page.Table, error) {
	if s.sql == nil {
		return page.Table{}, errNoSQL
	}
	r, err := s.sql.Processes(ctx)
	return page.Table(r), err
}

func (s source) Explain(ctx context.Context, digest string) (string, page.Table, error) {
	if s.sql == nil {
		return "", page.Table{}, errNoSQL
	}
	text, r, err := s.sql.Explain(ctx, digest)
	return text, page.Table(r), err
}

func (s source) Settings() []page.Setting { return s.o.Origins }

func (s source) Mix() *page.Mix { return s.runningMix() }

func (s source) Kill(ctx context.Context, id uint32, connection bool) error {
	if s.sql == nil {
		return errNoSQL
	}
	return s.sql.Kill(ctx, id, connection)
}

func (s source) Operate(ctx context.Context, statement string) error {
	if s.sql == nil {
		return errNoSQL
	}
	_, err := s.sql.Operate(ctx, "", statement)
	return err
}

// originsOf lists the settings of a command with where each comes from.
func originsOf(cmd *cobra.Command) (list []page.Setting) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		from := "default"
		if w := f.Annotations[settingFrom]; len(w) > 0 {
			from = w[0]
		}
		x := setting{nil, f}
		list = append(list, page.Setting{Name: f.Name, Value: f.Value.String(), Env: x.env(), From: from})
	})
	return list
}

// warnings are what an operator should know before anything else.
func (s *stack) warnings() string {
	var all []error
	if s.o.Insecure {
		all = append(all, errors.New(insecureWarning))
	}
	if s.node != nil {
		all = append(all, s.node.Room())
		if s.o.Cluster {
			all = append(all, errors.New(labWarning))
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Sprint(err)
	}
	return ""
}

// A workload tells a server's page how it goes: by a call where both are one process, over HTTP else.

const (
	mixPath = "/mix/report"
	// mixBytes bounds a report, mixAge how long the last one is shown.
	mixBytes = 64 << 10
	mixAge   = 15 * time.Second
	// mixPatience bounds one report; the next comes a second later.
	mixPatience = 2 * time.Second
)

// runningMix is the last report, if it is young.
func (s *stack) runningMix() *page.Mix {
	m := s.mix.Load()
	if m == nil || time.Since(m.At) > mixAge {
		return nil
	}
	return m
}

// takeMix answers mixPath.
func (h *httpServer) takeMix(w http.ResponseWriter, r *http.Request) {
	var l tpce.Live
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mixBytes)).Decode(&l); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.stack.mix.Store(mixOf(l))
	w.WriteHeader(http.StatusNoContent)
}

func mixOf(l tpce.Live) *page.Mix {
	m := &page.Mix{Name: "TPC-E-like mix", Target: l.Target, At: time.Now(), Elapsed: l.Elapsed, Of: l.Of,
		Rate: l.TRTPS, Unit: "trtps (Trade-Results a second)"}
	for _, t := range l.Txns {
		m.Lines = append(m.Lines, page.MixLine(t))
	}
	return m
}

// showOn makes what a run calls to be shown by the server at addr. What goes wrong is told by say once: a run
// is not worth less because nobody watches.
func showOn(ctx context.Context, to asked, say func(error)) func(tpce.Live) {
	said := false
	return func(l tpce.Live) {
		if err := sendMix(ctx, to, l); err != nil && !said {
			said = true
			say(fmt.Errorf("--show-on %s: %w", to.addr, err))
		}
	}
}

func sendMix(ctx context.Context, to asked, l tpce.Live) error {
	ctx, cancel := context.WithTimeout(ctx, mixPatience)
	defer cancel()
	token, err := readToken(filepath.Join(to.data, tokenFile))
	if err != nil {
		token = ""
	}
	status, hint, text, err := postMix(ctx, to.addr, token, l)
	if err == nil && status == http.StatusUnauthorized {
		if token, err = hintedToken(to.addr, hint); err != nil {
			return err
		}
		status, _, text, err = postMix(ctx, to.addr, token, l)
	}
	if err == nil && status != http.StatusNoContent {
		err = fmt.Errorf("%s", text)
	}
	return err
}

func postMix(ctx context.Context, addr, token string, l tpce.Live) (status int, hint, text string,
	err error) {
	b, err := json.Marshal(l)
	if err != nil {
		return 0, "", "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+mixPath, bytes.NewReader(b))
	if err != nil {
		return 0, "", "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, mixBytes))
	return resp.StatusCode, resp.Header.Get(tokenHeader), string(bytes.TrimSpace(said)), err
}
