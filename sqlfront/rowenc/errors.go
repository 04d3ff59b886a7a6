package rowenc

import (
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
)

var (
	// ErrUnsupported: a type that has no encoding here (JSON, vectors and geometry as keys).
	ErrUnsupported = errors.New("rowenc: type is not supported")
	// ErrValue: a value that the column's type cannot hold.
	ErrValue = errors.New("rowenc: value does not fit the column's type")
	// ErrCorrupt: stored bytes that no encoder of this package wrote.
	ErrCorrupt = errors.New("rowenc: stored bytes are damaged")
	// ErrVersion: stored bytes of a format version that this program does not know.
	ErrVersion = errors.New("rowenc: unknown format version; was the row written by a newer program?")
)

func unsupported(t sql.Type, as string) error {
	return fmt.Errorf("%w: %s as %s", ErrUnsupported, t.String(), as)
}

func badValue(t sql.Type, v any) error {
	return fmt.Errorf("%w: %T for %s", ErrValue, v, t.String())
}

func corrupt(what string) error { return fmt.Errorf("%w: %s", ErrCorrupt, what) }
