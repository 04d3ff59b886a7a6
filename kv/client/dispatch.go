package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"moka/kv"
)

// dispatcher takes a command to a node: to the one in this process by a function call, to others by RPC.
type dispatcher struct {
	commands Commands
	node     kv.NodeID
	local    Handler
	remote   Remote
	counts   *dispatchCounts
}

type dispatchCounts struct{ local, remote, hops atomic.Uint64 }

func newDispatcher(c Commands, node kv.NodeID, local Handler, remote Remote) (dispatcher, error) {
	if local == nil && remote == nil {
		return dispatcher{}, errors.New("a client needs a node in its process, a way to other nodes, or both")
	}
	return dispatcher{commands: c, node: node, local: local, remote: remote, counts: new(dispatchCounts)}, nil
}

func (d *dispatcher) dispatch(ctx context.Context, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error) {
	switch {
	case d.local != nil && node == d.node:
		d.counts.local.Add(1)
		if isolate {
			return d.handleIsolated(ctx, shard, tablets, command, req)
		}
		return d.local.Handle(ctx, shard, tablets, command, req)
	case d.remote != nil:
		d.counts.remote.Add(1)
		return d.remote.Call(ctx, node, shard, tablets, command, req)
	}
	return nil, kv.Errorf(kv.CodeUnavailable, "client.Call", "shard %d is led by node %d, and this process has no way to other nodes", shard, node)
}

// maxHops bounds how many nodes one try of a call asks.
const maxHops = 16

// send dispatches to the node that is thought to lead the shard. Where that one does not, or cannot be
// reached, nothing has happened: then to the one it names, if that is news, else to the other replicas, one
// after the other and without a pause. It returns the last answer and who gave it.
func (d *dispatcher) send(ctx context.Context, l *leads, node kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, kv.NodeID, error) {
	resp, err := d.dispatch(ctx, node, shard, tablets, command, req)
	if err == nil {
		return resp, node, nil
	}
	asked := make([]kv.NodeID, 0, 4)
	for range maxHops {
		if !errors.Is(err, kv.ErrNotLeader) && !errors.Is(err, kv.ErrUnavailable) || ctx.Err() != nil {
			return nil, node, err
		}
		asked = append(asked, node)
		var e *kv.Error
		next := kv.NodeID(0)
		if errors.As(err, &e) && e.Code == kv.CodeNotLeader && e.Lead.Shard == shard && l.heard(e.Lead) {
			next = e.Lead.Node
		} else if next = l.other(shard, asked); next == 0 {
			return nil, node, err
		}
		d.counts.hops.Add(1)
		node = next
		if resp, err = d.dispatch(ctx, node, shard, tablets, command, req); err == nil {
			l.led(shard, node)
			return resp, node, nil
		}
	}
	return nil, node, err
}

// handleIsolated does what the network would: the handler gets a message of its own, and so does the caller.
func (d *dispatcher) handleIsolated(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error) {
	cmd, ok := d.commands.Command(command)
	if !ok {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "client.Call", "command %d is not registered", command)
	}
	sent := cmd.NewRequest()
	if err := sent.Decode(req.AppendTo(nil)); err != nil {
		return nil, &kv.Error{Code: kv.CodeInvalidArgument, Op: cmd.Name, Msg: "the request does not decode", Err: err}
	}
	resp, err := d.local.Handle(ctx, shard, slices.Clone(tablets), command, sent)
	if err != nil {
		return nil, err
	}
	received := cmd.NewResponse()
	if err := received.Decode(resp.AppendTo(nil)); err != nil {
		code := kv.CodeInternal
		if cmd.Write {
			code = kv.CodeOutcomeUnknown
		}
		return nil, &kv.Error{Code: code, Op: cmd.Name, Msg: fmt.Sprintf("the response of shard %d does not decode", shard), Err: err}
	}
	return received, nil
}

func sortedShards(nodes map[kv.ShardID]Shard) []kv.ShardID {
	return slices.Sorted(maps.Keys(nodes))
}
