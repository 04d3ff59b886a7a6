package expr

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Timed is a session that may have been told what time it is (SET timestamp = …).
type Timed interface {
	// Told returns the time, ok is false if the clock goes on.
	Told() (at time.Time, ok bool)
}

// Present is what a statement of the session that begins now takes for the present: what NOW() is, and
// the defaults of columns.
func Present(s sql.Session) time.Time {
	if t, ok := s.(Timed); ok {
		if at, ok := t.Told(); ok {
			return at
		}
	}
	return sql.Now()
}
