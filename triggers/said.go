package triggers

import (
	"cmp"
	"errors"
	"strings"
)

// The text of a run's error may quote what its observer's owner may read. Observers come to have other
// owners, and a notification that is parked keeps its error for as long as nobody retries it: so the owner at
// the time of the run is stored with the text, and whoever shows it can tell.

// OwnedError is an error of Run that says who may read it: whose the observer was in the run's snapshot. That
// of others belongs to the owner who was registered as the run began.
type OwnedError struct {
	Owner string
	Err   error
}

func (e *OwnedError) Error() string { return e.Err.Error() }
func (e *OwnedError) Unwrap() error { return e.Err }

func ownerOf(o Observer, err error) string {
	var owned *OwnedError
	if errors.As(err, &owned) {
		return cmp.Or(owned.Owner, o.Owner)
	}
	return o.Owner
}

// stored is an error as notifications keep it: the owner, a NUL, which is in no name, and the text.
func stored(o Observer, err error) string { return ownerOf(o, err) + "\x00" + Clip(err.Error()) }

// Said is the error of the last attempt, and whose the observer was then: nobody's that is known, if a
// release before this one has stored it.
func (f Failed) Said() (owner, text string) {
	owner, text, ok := strings.Cut(f.Error, "\x00")
	if !ok {
		return "", f.Error
	}
	return owner, text
}

// Clip keeps texts of errors small, where they are stored, and in the log.
func Clip(s string) string {
	const most = 512
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
