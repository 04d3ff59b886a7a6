package oracle

import "fmt"

// Code is the kind of an Error. The numbers go over the wire: append, never renumber.
type Code uint8

const (
	CodeNotLeader   Code = iota + 1 // another server leads; Leader may say which
	CodeFenced                      // the server was deposed while it prepared the answer
	CodeUnavailable                 // nobody can answer now
	CodeInvalid                     // the request makes no sense; the only kind that is not worth repeating
)

var codeText = [...]string{
	CodeNotLeader:   "this server does not lead the timestamp oracle",
	CodeFenced:      "this server was deposed before it could answer",
	CodeUnavailable: "the timestamp oracle is unavailable",
	CodeInvalid:     "invalid request",
}

func (c Code) String() string {
	if int(c) < len(codeText) && codeText[c] != "" {
		return codeText[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is the error of Server, Remote and Client; it survives gRPC (wire.go). Match it by kind:
// errors.Is(err, oracle.ErrNotLeader). No timestamp was handed out, so asking again is always safe.
type Error struct {
	Code   Code
	Leader string // address of the leader, as far as known
	Epoch  uint64 // the server's last epoch, where it had one
	Err    error  // the cause, where there is one
}

func (e *Error) Error() string {
	s := "oracle: " + e.Code.String()
	if e.Epoch != 0 {
		s += fmt.Sprintf(" (epoch %d)", e.Epoch)
	}
	if e.Leader != "" {
		s += "; ask " + e.Leader
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is matches by code, against the sentinels below.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Leader == "" && t.Epoch == 0 && t.Err == nil && t.Code == e.Code
}

var (
	ErrNotLeader   = &Error{Code: CodeNotLeader}
	ErrFenced      = &Error{Code: CodeFenced}
	ErrUnavailable = &Error{Code: CodeUnavailable}
	ErrInvalid     = &Error{Code: CodeInvalid}
)
