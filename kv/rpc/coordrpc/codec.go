package coordrpc

import (
	"context"
	"errors"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// encodeError brings an error of the service into its wire form. What is no coord.Error, the end of a context as a rule,
// is not known to have changed nothing.
func encodeError(err error) *kvpb.CoordError {
	if err == nil {
		return nil
	}
	var e *coord.Error
	if !errors.As(err, &e) {
		e = &coord.Error{Code: coord.CodeOutcomeUnknown, Err: err}
	}
	pb := &kvpb.CoordError{Code: uint32(e.Code), Op: e.Op, Key: e.Key}
	if e.Err != nil {
		pb.Cause = e.Err.Error()
	}
	return pb
}

func decodeError(pb *kvpb.CoordError) error {
	if pb == nil {
		return nil
	}
	e := &coord.Error{Code: coord.Code(pb.GetCode()), Op: pb.GetOp(), Key: pb.GetKey()}
	if pb.GetCode() == 0 || pb.GetCode() > 1<<8-1 {
		e.Code = coord.CodeUnavailable
	}
	if c := pb.GetCause(); c != "" {
		e.Err = errors.New(c)
	}
	return e
}

// transportError is for a call that got no answer.
func transportError(ctx context.Context, op, key string, code coord.Code, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err() // errors.Is must find it; gRPC's status only tells
	}
	return &coord.Error{Code: code, Op: op, Key: key, Err: err}
}

func encodeKV(k coord.KV) *kvpb.CoordKV {
	return &kvpb.CoordKV{Key: k.Key, Value: k.Value, CreateRev: uint64(k.CreateRev), ModRev: uint64(k.ModRev), Session: uint64(k.Session)}
}

func decodeKV(pb *kvpb.CoordKV) coord.KV {
	return coord.KV{
		Key: pb.GetKey(), Value: pb.GetValue(), CreateRev: coord.Revision(pb.GetCreateRev()),
		ModRev: coord.Revision(pb.GetModRev()), Session: coord.SessionID(pb.GetSession()),
	}
}

func encodeTxn(conds []coord.Cond, ops []coord.Op) *kvpb.CoordTxnRequest {
	pb := &kvpb.CoordTxnRequest{}
	for _, c := range conds {
		pb.Conds = append(pb.Conds, &kvpb.CoordCond{Key: c.Key, Target: uint32(c.Target), Rev: uint64(c.Rev)})
	}
	for _, o := range ops {
		pb.Ops = append(pb.Ops, &kvpb.CoordOp{Type: uint32(o.Type), Key: o.Key, Value: o.Value, Session: uint64(o.Session)})
	}
	return pb
}

// decodeTxn narrows numbers so that what this version does not know becomes the zero type, which the service refuses.
func decodeTxn(pb *kvpb.CoordTxnRequest) (conds []coord.Cond, ops []coord.Op) {
	for _, c := range pb.GetConds() {
		conds = append(conds, coord.Cond{Key: c.GetKey(), Target: coord.CondTarget(narrow(c.GetTarget())), Rev: coord.Revision(c.GetRev())})
	}
	for _, o := range pb.GetOps() {
		ops = append(ops, coord.Op{Type: coord.EventType(narrow(o.GetType())), Key: o.GetKey(), Value: o.GetValue(), Session: coord.SessionID(o.GetSession())})
	}
	return conds, ops
}

func narrow(n uint32) uint8 {
	if n > 1<<8-1 {
		return 0
	}
	return uint8(n)
}
