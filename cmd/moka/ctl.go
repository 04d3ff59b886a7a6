package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moka/kv"
	"moka/kv/schedule"
	"moka/triggers"
)

// control is something that "moka ctl" can ask of a running server, over its HTTP address.
type control struct {
	use, short string
	args       int
	changes    bool // POST instead of GET
	keys       bool // it shows keys of rows, names, or words of statements
	run        func(ctx context.Context, s *stack, args []string) (any, error)
}

// guarded reports whether it wants the token: what steers the server, and what shows what is in its
// rows, is not everybody's.
func (c control) guarded() bool { return c.changes || c.keys }

var controls map[string]control

func init() {
	controls = map[string]control{
		"status": {"status", "What the server is and does", 0, false, false,
			func(ctx context.Context, s *stack, _ []string) (any, error) {
				return s.statusOf(ctx)
			}},
		"shards": {"shards", "Shards with their counters", 0, false, false,
			storage(func(_ context.Context, s *stack, _ []string) (any, error) {
				return s.shardSection(), nil
			})},
		"tablets": {"tablets", "Tablets with their row ranges and shards", 0, false, true,
			storage(func(ctx context.Context, s *stack, _ []string) (any, error) {
				return s.tabletSection(ctx, true), nil
			})},
		"split": {"split DB.TABLE KEY", "Split the tablet in front of the row with that primary key", 2,
			true, false, storage(splitTablet)},
		"merge": {"merge DB.TABLE KEY", "Merge the tablet of that row with the one behind it", 2, true,
			false, storage(mergeTablet)},
		"move": {"move DB.TABLE KEY SHARD", "Move the tablet of that row to a shard", 3, true, false,
			storage(moveTablet)},
		"locks": {"locks", "Locks of transactions that have not ended", 0, false, true,
			storage(listLocks)},
		"gc": {"gc", "What garbage collection has done, and who keeps old versions", 0, false,
			true, showGC},
		"nodes": {"nodes", "Nodes of the cluster, what becomes of them, and how many replicas they have", 0,
			false, false, clustered(nodeSection)},
		"replicas": {"replicas", "Replicas of all shards, as their leaders see them", 0, false, false,
			clustered(replicaList)},
		"lacking": {"lacking", "What shards lack until each has all of its replicas; nothing is good", 0,
			false, false, lackingList},
		"checksum": {"checksum", "Compare what the replicas of each shard have, while all goes on", 0, true,
			false, clustered(compareReplicas)},
		"drain": {"drain NODE", "Let a node lead nothing, until undrain", 1, true, false,
			clustered(setState(schedule.Draining, anyNode))},
		"undrain": {"undrain NODE", "Let a node lead again, and stay that was to leave", 1, true, false,
			clustered(setState(schedule.Up, anyNode))},
		"decommission": {"decommission NODE", "Give a node's replicas to others and remove it, for good", 1,
			true, false, clustered(setState(schedule.Leaving, mayLeave))},
		"maintenance": {"maintenance NODE DURATION", "Let a node be away for so long the next time, such " +
			"as 10m, before its replicas are made elsewhere; 0 takes it back", 2, true, false,
			clustered(setPatience)},
		"transfer": {"transfer SHARD NODE", "Let another node lead a shard", 2, true, false,
			clustered(transferShard)},
		"observers": {"observers", "What observers have still to do", 0, false, true, listObservers},
		"cells": {"cells DB.TABLE KEY", "What the store has of a row: its versions, locks, notifications", 2,
			false, true, storage(showCells)},
	}
}

// storage refuses a control in a process that has no storage.
func storage(f func(context.Context, *stack, []string) (any, error)) func(context.Context, *stack,
	[]string) (any, error) {
	return func(ctx context.Context, s *stack, args []string) (any, error) {
		if s.node == nil {
			return nil, fmt.Errorf("this process has no storage; ask the one at %s", s.o.Join)
		}
		return f(ctx, s, args)
	}
}

func (s *stack) rowOf(ctx context.Context, table, key string) (kv.RowKey, error) {
	if s.sql == nil {
		return nil, fmt.Errorf("this process does not serve SQL, so it knows no tables")
	}
	return s.sql.RowKey(ctx, table, strings.Split(key, ","))
}

func splitTablet(ctx context.Context, s *stack, args []string) (any, error) {
	row, err := s.rowOf(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	left, right, err := s.node.Split(ctx, row)
	if err != nil {
		return nil, err
	}
	return section{Title: "split", Columns: []string{"tablet", "shard"}, Rows: [][]string{
		{fmt.Sprint(left.ID), fmt.Sprint(left.Shard)}, {fmt.Sprint(right.ID), fmt.Sprint(right.Shard)},
	}}, nil
}

func (s *stack) tabletOf(ctx context.Context, table, key string) (kv.Tablet, error) {
	row, err := s.rowOf(ctx, table, key)
	if err != nil {
		return kv.Tablet{}, err
	}
	// Not from the client's cache: that is a guess, which commands correct by being refused, and
	// this one would not be.
	for _, t := range s.node.Tablets() {
		if t.Span.Contains(row) {
			return t, nil
		}
	}
	return kv.Tablet{}, fmt.Errorf("no tablet of this node holds that row")
}

func mergeTablet(ctx context.Context, s *stack, args []string) (any, error) {
	t, err := s.tabletOf(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	if t, err = s.node.Merge(ctx, t.ID); err != nil {
		return nil, err
	}
	return section{Title: "merged", Columns: []string{"tablet", "shard"},
		Rows: [][]string{{fmt.Sprint(t.ID), fmt.Sprint(t.Shard)}}}, nil
}

func moveTablet(ctx context.Context, s *stack, args []string) (any, error) {
	to, err := strconv.ParseUint(args[2], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("shard %q is not a number", args[2])
	}
	t, err := s.tabletOf(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	if t.Shard != kv.ShardID(to) {
		if t, err = s.node.Move(ctx, t.ID, kv.ShardID(to)); err != nil {
			return nil, err
		}
	}
	return section{Title: "moved", Columns: []string{"tablet", "shard"},
		Rows: [][]string{{fmt.Sprint(t.ID), fmt.Sprint(t.Shard)}}}, nil
}

// locksShown bounds one answer.
const locksShown = 1000

func listLocks(ctx context.Context, s *stack, _ []string) (any, error) {
	sec := section{Title: "locks", Columns: []string{"shard", "start_ts", "row", "family"}}
	var keys []kv.RowKey
	for _, id := range s.node.Shards() {
		h, ok := s.node.Shard(id)
		if !ok {
			continue
		}
		h.InMemory(kv.GroupTxnLock).Ascend(0, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			sec.Rows = append(sec.Rows,
				[]string{fmt.Sprint(id), v.Timestamp.String(), "", fmt.Sprint(a.Family)})
			keys = append(keys, a.Row)
			return len(sec.Rows) < locksShown
		})
	}
	for i, name := range s.rowNames(ctx, keys) {
		sec.Rows[i][2] = name
	}
	return sec, nil
}

// rowNames says what row keys are: as SQL does if this process knows the tables, else in hexadecimals.
func (s *stack) rowNames(ctx context.Context, keys []kv.RowKey) []string {
	if s.sql != nil && len(keys) > 0 {
		if names, err := s.sql.RowNames(ctx, keys); err == nil {
			return names
		}
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		if len(k) > 0 {
			names[i] = fmt.Sprintf("0x%x", []byte(k))
		}
	}
	return names
}

// observerSection is what observers have still to do, with their names for who may see those: the status page
// is open to everybody.
func (s *stack) observerSection(ctx context.Context, named bool) (section, error) {
	sec := section{Title: "observers", Columns: []string{"observer", "waiting", "parked", "lag"}}
	bs, err := triggers.Backlogs(ctx, s.store)
	if err != nil {
		return sec, err
	}
	var names map[triggers.ObserverID]string
	if s.sql != nil && named {
		if names, err = s.sql.ObserverNames(ctx); err != nil {
			return sec, err
		}
	}
	for _, b := range bs {
		lag := "0s"
		if b.Oldest != 0 {
			lag = time.Since(b.Oldest.Time()).Round(time.Millisecond).String()
		}
		name := cmp.Or(names[b.Observer], fmt.Sprintf("observer %d", b.Observer))
		sec.Rows = append(sec.Rows, []string{name, fmt.Sprint(b.Waiting), fmt.Sprint(b.Parked), lag})
	}
	return sec, nil
}

func listObservers(ctx context.Context, s *stack, _ []string) (any, error) {
	return s.observerSection(ctx, true)
}

func ctlCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "ctl", Short: "Ask and steer a running server"}
	to := &asked{}
	to.bind(cmd.PersistentFlags())
	asJSON := cmd.PersistentFlags().Bool("json", false, "print JSON")
	names := make([]string, 0, len(controls))
	for name := range controls {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		c := controls[name]
		watch := false
		sub := &cobra.Command{
			Use: c.use, Short: c.short, Args: cobra.ExactArgs(c.args),
			RunE: func(cmd *cobra.Command, args []string) error {
				q := question{addr: to.addr, path: "/ctl/" + name, of: c, args: args}
				show := func(b []byte) error {
					if *asJSON {
						_, err := os.Stdout.Write(b)
						return err
					}
					return printControl(os.Stdout, b)
				}
				if watch {
					return watchControl(cmd.Context(), q, to, show)
				}
				b, err := askControl(cmd.Context(), q, to.data, to.file)
				if err != nil {
					return err
				}
				if err := show(b); err != nil || name != "checksum" {
					return err
				}
				return checksumFound(b)
			},
		}
		switch name {
		case "cells":
			sub.Flags().BoolVar(&watch, "watch", false, "go on, and print them whenever they have changed")
		case "status":
			addWait(sub, to)
		}
		cmd.AddCommand(sub)
	}
	return cmd
}

// watchInterval is how often a server is asked that is watched.
const watchInterval = 200 * time.Millisecond

// watchControl asks until it is interrupted, and shows each answer that is not the one before.
func watchControl(ctx context.Context, q question, to *asked, show func([]byte) error) error {
	t := time.NewTicker(watchInterval)
	defer t.Stop()
	var last []byte
	for {
		b, err := askControl(ctx, q, to.data, to.file)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(b, last) {
			if err := show(b); err != nil {
				return err
			}
			last = b
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// asked is the server that a command asks.
type asked struct{ addr, data, file string }

func (a *asked) bind(f *pflag.FlagSet) {
	f.StringVar(&a.addr, "http-addr", "127.0.0.1:8090", "the server's http address")
	f.StringVar(&a.data, "data", "moka-data",
		"the server's directory, for the token in it; a server on this machine says where that is")
	f.StringVar(&a.file, "token-file", "", "file of the server's token (default: "+tokenFile+" in --data)")
	for _, flag := range []string{"http-addr", "data"} {
		_ = f.SetAnnotation(flag, likeServer, []string{"true"})
	}
}

// question is what "moka ctl" asks a server.
type question struct {
	addr, path string
	of         control
	args       []string
	values     url.Values // more that is asked
}

// askControl asks, with the token if that is needed: the one in the file that was named, that of the
// directory, or the one that a server of this machine points to.
func askControl(ctx context.Context, q question, data, file string) ([]byte, error) {
	token := ""
	if q.of.guarded() || file != "" {
		var err error
		if file != "" {
			token, err = readToken(file)
		} else if token, err = readToken(filepath.Join(data, tokenFile)); err != nil {
			token, err = "", nil // it may be another server's directory
		}
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	resp, b, err := q.ask(ctx, token)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized && file == "" {
		if token, err = hintedToken(q.addr, resp.Header.Get(tokenHeader)); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(string(b)), err)
		}
		if resp, b, err = q.ask(ctx, token); err != nil {
			return nil, err
		}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", strings.TrimSpace(string(b)))
	}
	return b, nil
}

func (q question) ask(ctx context.Context, token string) (*http.Response, []byte, error) {
	resp, err := q.send(ctx, token)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

// send returns an answer that is still to be read.
func (q question) send(ctx context.Context, token string) (*http.Response, error) {
	method := http.MethodGet
	if q.of.changes {
		method = http.MethodPost
	}
	values := url.Values{"arg": q.args}
	maps.Copy(values, q.values)
	req, err := http.NewRequestWithContext(ctx, method, "http://"+q.addr+q.path+"?"+values.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("--http-addr %s: %w", q.addr, err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no server answers on %s (%w); is it running, and is this its "+
			"--http-addr?", q.addr, err)
	}
	return resp, nil
}

// printControl shows a status or a section as tables.
func printControl(w io.Writer, b []byte) error {
	var st status
	if err := json.Unmarshal(b, &st); err != nil {
		return err
	}
	if len(st.Sections) == 0 {
		var sec section
		if err := json.Unmarshal(b, &sec); err != nil {
			return err
		}
		st.Sections = []section{sec}
	} else {
		fmt.Fprintf(w, "moka %s, up %s, SQL on %s\n", st.Version, st.Uptime, st.SQL)
	}
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	for _, sec := range st.Sections {
		fmt.Fprintf(tw, "\n%s\n", sec.Title)
		fmt.Fprintln(tw, "  "+strings.Join(sec.Columns, "\t"))
		for _, r := range sec.Rows {
			fmt.Fprintln(tw, "  "+strings.Join(r, "\t"))
		}
	}
	return tw.Flush()
}
