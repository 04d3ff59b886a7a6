package catalog

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound: the named thing does not exist in the snapshot. The concrete error is *NotFoundError.
	ErrNotFound = errors.New("catalog: not found")
	// ErrExists: a thing of that kind and name exists. The concrete error is *ExistsError.
	ErrExists = errors.New("catalog: already exists")
	// ErrStale: UpdateTable was given a clone of a version that is no longer current. Take a
	// new snapshot and repeat.
	ErrStale = errors.New("catalog: descriptor has changed since it was read")
	// ErrUnsupportedType: a column type that cannot be stored. The concrete error is *UnsupportedTypeError.
	ErrUnsupportedType = errors.New("catalog: column type is not supported")
	// ErrCorrupt: a stored descriptor cannot be understood. The concrete error is *CorruptError.
	ErrCorrupt = errors.New("catalog: stored descriptor cannot be read")
	// ErrExhausted: a sequence has reached the end of its numbers.
	ErrExhausted = errors.New("catalog: sequence is exhausted")
)

// Kind says what a name or id stands for.
type Kind string

const (
	KindDatabase  Kind = "database"
	KindTable     Kind = "table"
	KindView      Kind = "view"
	KindTrigger   Kind = "trigger"
	KindProcedure Kind = "procedure"
	KindFunction  Kind = "function"
	KindEvent     Kind = "event"
	KindObserver  Kind = "observer"
	KindColumn    Kind = "column"
	KindIndex     Kind = "index"
	KindBlob      Kind = "blob"
)

// NotFoundError says what was not found.
type NotFoundError struct {
	Kind     Kind
	Database string // empty for databases and blobs
	Name     string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("catalog: %s %s does not exist", e.Kind, qualified(e.Database, e.Name))
}

// Is makes errors.Is(err, ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// ExistsError says what exists already.
type ExistsError struct {
	Kind     Kind
	Database string
	Name     string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("catalog: %s %s already exists", e.Kind, qualified(e.Database, e.Name))
}

// Is makes errors.Is(err, ErrExists) true.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// UnsupportedTypeError names a type that cannot be stored.
type UnsupportedTypeError struct{ Type string }

func (e *UnsupportedTypeError) Error() string {
	return fmt.Sprintf("catalog: columns of type %s are not supported; use a string, binary or JSON column "+
		"instead", e.Type)
}

// Is makes errors.Is(err, ErrUnsupportedType) true.
func (e *UnsupportedTypeError) Is(target error) bool { return target == ErrUnsupportedType }

// CorruptError says which stored descriptor could not be read and why.
type CorruptError struct {
	Key []byte
	Err error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("catalog: stored descriptor %x cannot be read: %v; was it written by a newer version?",
		e.Key, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

func qualified(db, name string) string {
	if db == "" {
		return name
	}
	return db + "." + name
}

// CopyingError refuses a change of a table that is being copied into another form.
type CopyingError struct {
	Table string
	Job   uint32
}

func (e *CopyingError) Error() string {
	return fmt.Sprintf("catalog: table %s is being copied by job %d; its schema can be changed when that "+
		"has ended", e.Table, e.Job)
}
