package kv

import (
	"errors"
	"fmt"
)

// Code is the kind of an Error. Codes travel over gRPC, so their numbers never change.
type Code uint16

const (
	CodeInternal        Code = 1
	CodeMoved           Code = 2  // the tablet is not (or no longer) here in this form; Tablets says where
	CodeOutcomeUnknown  Code = 3  // a write may or may not have happened
	CodeBusy            Code = 4  // refused before anything happened; try again later
	CodeUnavailable     Code = 5  // the node or shard cannot be reached; nothing happened
	CodeInvalidArgument Code = 6  // the request makes no sense; trying again will not help
	CodeNotFound        Code = 7  // no such table, shard, tablet or family
	CodeAlreadyExists   Code = 8  // a table of that name exists
	CodeCorrupt         Code = 9  // stored bytes do not decode
	CodeClosed          Code = 10 // the node is shutting down; nothing happened
	CodeDisk            Code = 11 // the disk is full or failed
	CodeForeignData     Code = 12 // the directory belongs to something else, or to a newer version
	CodeInUse           Code = 13 // another process has the directory or the port
	CodeDiskFull        Code = 14 // the disk is nearly full, and the write would add to it; nothing happened
	CodeNotLeader       Code = 15 // this node does not lead the shard; Lead says who does, if it knows; nothing happened
)

// Error is the one error type of the store's boundary. Match it with errors.Is against the sentinels below, also on the
// other side of an RPC.
type Error struct {
	Code Code
	Op   string // what was being done, e.g. "store.MutateRow"
	Msg  string // for people; says what to do next where something can be done
	// Tablets carries the current descriptions with CodeMoved.
	Tablets []Tablet
	// Lead is, with CodeNotLeader, who leads the shard as far as the node that answers has heard.
	Lead Lead
	Err  error
}

// Lead says who leads a shard. Node is zero if that is not known. Terms of a shard grow, and each has one
// leader at most: of two leads the one with the greater term is the later one.
type Lead struct {
	Shard ShardID
	Node  NodeID
	Term  uint64
}

// Sentinels for errors.Is.
var (
	ErrMoved           = &Error{Code: CodeMoved}
	ErrOutcomeUnknown  = &Error{Code: CodeOutcomeUnknown}
	ErrBusy            = &Error{Code: CodeBusy}
	ErrUnavailable     = &Error{Code: CodeUnavailable}
	ErrInvalidArgument = &Error{Code: CodeInvalidArgument}
	ErrNotFound        = &Error{Code: CodeNotFound}
	ErrAlreadyExists   = &Error{Code: CodeAlreadyExists}
	ErrCorrupt         = &Error{Code: CodeCorrupt}
	ErrClosed          = &Error{Code: CodeClosed}
	ErrDisk            = &Error{Code: CodeDisk}
	ErrForeignData     = &Error{Code: CodeForeignData}
	ErrInUse           = &Error{Code: CodeInUse}
	ErrDiskFull        = &Error{Code: CodeDiskFull}
	ErrNotLeader       = &Error{Code: CodeNotLeader}
)

var codeNames = map[Code]string{
	CodeInternal: "internal", CodeMoved: "moved", CodeOutcomeUnknown: "outcome unknown", CodeBusy: "busy",
	CodeUnavailable: "unavailable", CodeInvalidArgument: "invalid argument", CodeNotFound: "not found",
	CodeAlreadyExists: "already exists", CodeCorrupt: "corrupt", CodeClosed: "closed", CodeDisk: "disk",
	CodeForeignData: "foreign data", CodeInUse: "in use", CodeDiskFull: "disk full", CodeNotLeader: "not the leader",
}

// String names the code for people.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("code %d", uint16(c))
}

func (e *Error) Error() string {
	s := e.Code.String()
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is matches the sentinels: an error without an Op or Msg matches by code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Op == "" && t.Msg == "" && t.Code == e.Code
}

// Errorf makes an Error.
func Errorf(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Msg: fmt.Sprintf(format, args...)}
}

// NotLeader makes the error of a node that does not lead a shard. Where it was given the node that does, it
// is kept.
func NotLeader(op string, l Lead) *Error {
	e := Errorf(CodeNotLeader, op, "shard %d is not led here; nothing happened", l.Shard)
	if l.Node != 0 {
		e.Msg = fmt.Sprintf("shard %d is led by node %d in term %d, not here; nothing happened", l.Shard, l.Node, l.Term)
	}
	e.Lead = l
	return e
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal if there is none, zero for nil.
func CodeOf(err error) Code {
	if err == nil {
		return 0
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
