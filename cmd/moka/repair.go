package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"moka/kv"
	"moka/kv/checksum"
	"moka/kv/node"
	"moka/kv/raft"
	"moka/kv/recovery"
	"moka/kv/rpc"
	"moka/kv/schedule"
	"moka/oracle"
)

// nodeCalls asks nodes directly, this one without a connection.
type nodeCalls struct {
	s    *stack
	pool *rpc.Pool
}

// Call implements checksum.Remote.
func (c nodeCalls) Call(
	ctx context.Context, to kv.NodeID, id kv.ShardID, refs []kv.TabletRef, cmd kv.CommandID, req kv.Message,
) (kv.Message, error) {
	if to == c.s.node.ID() {
		return c.s.node.Handle(ctx, id, refs, cmd, req)
	}
	return c.pool.Call(ctx, to, id, refs, cmd, req)
}

// equalVerdict is what printChecksum looks for: the last column of a replica that is as the others are.
const equalVerdict = "equal"

// compareReplicas compares the replicas of all shards, one shard after the other.
func compareReplicas(ctx context.Context, s *stack, _ []string) (any, error) {
	sec := section{Title: "checksum", Columns: []string{"shard", "node", "replica", "entry", "keys", "MiB",
		"checksum", "verdict"}}
	for _, id := range s.allShards() {
		r, err := checksum.Shard(ctx, s.store, s.nodeCalls, id)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			sec.Rows = append(sec.Rows, []string{fmt.Sprint(id), "", "", "", "", "", "",
				"not compared: " + err.Error()})
			continue
		}
		for i := range r.Replicas {
			x := &r.Replicas[i]
			st := &x.State
			verdict := x.Verdict(s.node.GroupName)
			if x.Differs {
				s.o.Logger.Error("a replica of a shard is not as the others are", "shard", id,
					"node", raft.Node(x.ID), "entry", r.Index, "verdict", verdict)
			}
			sec.Rows = append(sec.Rows, []string{fmt.Sprint(id), fmt.Sprint(raft.Node(x.ID)),
				fmt.Sprintf("%d.%d", raft.Node(x.ID), raft.Incarnation(x.ID)), fmt.Sprint(r.Index),
				fmt.Sprint(st.Keys), fmt.Sprint(st.Bytes >> 20), fmt.Sprintf("%016x", st.Hash), verdict})
		}
	}
	return sec, nil
}

// checksumFound makes the command fail unless all replicas were found to be equal.
func checksumFound(b []byte) error {
	var sec section
	if err := json.Unmarshal(b, &sec); err != nil {
		return err
	}
	if slices.ContainsFunc(sec.Rows, func(r []string) bool { return r[len(r)-1] != equalVerdict }) {
		return errors.New("not all replicas are known to be equal: see the last column")
	}
	return nil
}

func recoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "recover", Short: "Go on with what is left when most nodes of a cluster are lost",
		Long: `When most of the replicas of a shard are lost for good, with their disks, the cluster stops,
and is right: what is left may lack what the lost ones have acknowledged. These commands go on all the same. They
work on the directories of nodes that are down (docs/cluster.md). If a lost node can be had back, do not use
them.`}
	to := ""
	plan := &cobra.Command{
		Use: "plan DIRECTORY...", Short: "Say what would become of it, and what may be lost",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return planRecovery(cmd.OutOrStdout(), to, dirs)
		},
	}
	plan.Flags().StringVar(&to, "to", "", "write the plan to this new file, for 'moka recover apply'")
	apply := &cobra.Command{
		Use: "apply PLAN DIRECTORY...", Short: "Carry out a plan, for good", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return applyRecovery(cmd.OutOrStdout(), args[0], args[1:])
		},
	}
	cmd.AddCommand(plan, apply)
	return cmd
}

func planRecovery(w io.Writer, to string, dirs []string) error {
	var ds []*node.Directory
	for _, dir := range dirs {
		d, err := node.Survey(dir, nil)
		if err != nil {
			return err
		}
		ds = append(ds, d)
	}
	var id [16]byte
	_, _ = rand.Read(id[:])
	p, err := recovery.Make(ds, hex.EncodeToString(id[:]), time.Now())
	if err != nil {
		return err
	}
	if err := p.Write(w); err != nil {
		return err
	}
	if to == "" {
		_, err := fmt.Fprintln(w, "\nNothing was changed. With --to FILE the plan can be carried out.")
		return err
	}
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nNothing was changed. To carry it out: moka recover apply %s DIRECTORY...\n",
		to)
	return err
}

func applyRecovery(w io.Writer, file string, dirs []string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p recovery.Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("%s is no plan: %w", file, err)
	}
	if err := p.Write(w); err != nil {
		return err
	}
	coord := func(get func(key string) ([]byte, error)) (map[string][]byte, error) {
		put, err := schedule.Recovered(get, p.Lost, p.NextNode)
		if err != nil {
			return nil, err
		}
		more, err := oracle.Recovered(get, p.Ceiling)
		maps.Copy(put, more)
		return put, err
	}
	left := slices.Clone(p.Nodes)
	fmt.Fprintln(w)
	for _, dir := range dirs {
		d, done, err := p.Apply(dir, coord)
		if err != nil {
			return err
		}
		said := "is part of the new cluster"
		if done {
			said = "was so already"
		}
		fmt.Fprintf(w, "%s, of node %d, %s\n", dir, d.Node, said)
		left = slices.DeleteFunc(left, func(id kv.NodeID) bool { return id == d.Node })
	}
	if len(left) > 0 {
		return fmt.Errorf("the plan is for nodes %v as well: apply it to their directories before any node "+
			"is started", left)
	}
	return nil
}
