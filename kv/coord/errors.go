package coord

import "fmt"

// Code is the kind of an Error. The numbers are part of the wire format: append, never renumber.
type Code uint8

const (
	CodeNotFound Code = iota + 1
	CodeConflict
	CodeSessionExpired
	CodeWatchGap
	CodeOutcomeUnknown
	CodeUnavailable
	CodeInvalid
)

var codeText = [...]string{
	CodeNotFound:       "not found",
	CodeConflict:       "condition does not hold",
	CodeSessionExpired: "session has ended; open a new one",
	CodeWatchGap:       "events were lost; list again and watch from the revision of that list",
	CodeOutcomeUnknown: "the change may or may not have been made; read before trying again",
	CodeUnavailable:    "coordination service is unavailable",
	CodeInvalid:        "invalid request",
}

func (c Code) String() string {
	if int(c) < len(codeText) && codeText[c] != "" {
		return codeText[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is the error of every Service. Match it by kind: errors.Is(err, coord.ErrConflict).
type Error struct {
	Code Code
	Op   string // the method, e.g. "txn"
	Key  string // the key at fault, where there is one
	Err  error  // the cause, where there is one
}

func (e *Error) Error() string {
	s := "coord"
	if e.Op != "" {
		s += " " + e.Op
	}
	if e.Key != "" {
		s += fmt.Sprintf(" %q", e.Key)
	}
	s += ": " + e.Code.String()
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is matches by code, against the sentinels below.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Op == "" && t.Key == "" && t.Err == nil && t.Code == e.Code
}

var (
	ErrNotFound       = &Error{Code: CodeNotFound}
	ErrConflict       = &Error{Code: CodeConflict}
	ErrSessionExpired = &Error{Code: CodeSessionExpired}
	ErrWatchGap       = &Error{Code: CodeWatchGap}
	ErrOutcomeUnknown = &Error{Code: CodeOutcomeUnknown}
	ErrUnavailable    = &Error{Code: CodeUnavailable}
	ErrInvalid        = &Error{Code: CodeInvalid}
)
