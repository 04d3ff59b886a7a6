package rpc

import (
	"context"
	"errors"

	"moka/kv"
	"moka/kv/kvpb"
)

// encodeError brings an error of a handler into its wire form. The code, with ErrMoved the tablets, and with
// ErrNotLeader who leads, survive; causes become text, for a cause's type means nothing in another process.
func encodeError(err error, write bool) *kvpb.Error {
	var e *kv.Error
	if !errors.As(err, &e) {
		e = wrapForeign(err, write)
		err = e
	}
	pb := &kvpb.Error{Code: uint32(e.Code), Op: e.Op, Msg: e.Msg}
	if e.Err != nil {
		pb.Cause = e.Err.Error()
	}
	if err != error(e) {
		// Somebody wrapped the error: keep what he added, which holds all of the inner text as well.
		pb.Op, pb.Msg, pb.Cause = "", err.Error(), ""
	}
	for _, t := range e.Tablets {
		pb.Tablets = append(pb.Tablets, encodeTablet(t))
	}
	if e.Lead != (kv.Lead{}) {
		pb.Lead = &kvpb.Lead{Shard: uint32(e.Lead.Shard), Node: uint64(e.Lead.Node), Term: e.Lead.Term}
	}
	return pb
}

// wrapForeign gives an error that is not a kv.Error its code. The end of a context inside a write says nothing of how far
// the write came.
func wrapForeign(err error, write bool) *kv.Error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return &kv.Error{Code: kv.CodeInternal, Err: err}
	}
	if write {
		return &kv.Error{Code: kv.CodeOutcomeUnknown, Err: err}
	}
	return &kv.Error{Code: kv.CodeUnavailable, Err: err}
}

// decodeError is encodeError's inverse. A code that this version does not know stays a number: it matches no sentinel
// and is shown to people as it is.
func decodeError(pb *kvpb.Error) *kv.Error {
	e := &kv.Error{Code: kv.Code(pb.GetCode()), Op: pb.GetOp(), Msg: pb.GetMsg()}
	if pb.GetCode() == 0 || pb.GetCode() > 1<<16-1 {
		e.Code = kv.CodeInternal
	}
	if c := pb.GetCause(); c != "" {
		e.Err = errors.New(c)
	}
	for _, t := range pb.GetTablets() {
		e.Tablets = append(e.Tablets, decodeTablet(t))
	}
	if l := pb.GetLead(); l != nil {
		e.Lead = kv.Lead{Shard: kv.ShardID(l.GetShard()), Node: kv.NodeID(l.GetNode()), Term: l.GetTerm()}
	}
	return e
}

func encodeTablet(t kv.Tablet) *kvpb.Tablet {
	return &kvpb.Tablet{
		Id: uint64(t.ID), Generation: t.Generation, Start: t.Span.Start, End: t.Span.End,
		Shard: uint32(t.Shard), Node: uint64(t.Node),
	}
}

func decodeTablet(pb *kvpb.Tablet) kv.Tablet {
	return kv.Tablet{
		ID: kv.TabletID(pb.GetId()), Generation: pb.GetGeneration(),
		Span:  kv.Span{Start: pb.GetStart(), End: pb.GetEnd()},
		Shard: kv.ShardID(pb.GetShard()), Node: kv.NodeID(pb.GetNode()),
	}
}

func encodeRefs(refs []kv.TabletRef) []*kvpb.TabletRef {
	if len(refs) == 0 {
		return nil
	}
	// One allocation for all: most requests touch one tablet, a scan or a prewrite several.
	block := make([]kvpb.TabletRef, len(refs))
	out := make([]*kvpb.TabletRef, len(refs))
	for i, r := range refs {
		block[i].Id, block[i].Generation = uint64(r.ID), r.Generation
		out[i] = &block[i]
	}
	return out
}

func decodeRefs(pbs []*kvpb.TabletRef) []kv.TabletRef {
	if len(pbs) == 0 {
		return nil
	}
	refs := make([]kv.TabletRef, len(pbs))
	for i, pb := range pbs {
		refs[i] = kv.TabletRef{ID: kv.TabletID(pb.GetId()), Generation: pb.GetGeneration()}
	}
	return refs
}
