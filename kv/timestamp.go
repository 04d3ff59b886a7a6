package kv

import (
	"fmt"
	"math"
	"time"
)

// Timestamp orders every version and every transaction of a cluster. The oracle issues it; kv stores it
// as the version of a cell and never invents one.
//
//	 63  62                                     18 17                    0
//	+---+-----------------------------------------+-----------------------+
//	| 0 |  physical: milliseconds since 1970 UTC  |  logical              |
//	+---+-----------------------------------------+-----------------------+
//
// The physical part follows the wall clock closely enough for lock TTLs, AS OF and lag figures; only the
// order of two timestamps is a promise. A logical part that overflows carries into the physical part, so
// timestamps may be counted upwards as plain integers.
type Timestamp uint64

const (
	// LogicalBits is the width of the logical part: 262,144 timestamps within one millisecond.
	LogicalBits = 18
	// MaxTimestamp is greater than every timestamp that is ever issued; a read at it sees the newest
	// version. It leaves the top bit free, so that ts+1 cannot wrap and a timestamp fits SQL's BIGINT.
	MaxTimestamp Timestamp = math.MaxInt64
)

// NewTimestamp composes a timestamp; a logical part beyond LogicalBits carries.
func NewTimestamp(physicalMillis int64, logical uint64) Timestamp {
	return Timestamp(uint64(physicalMillis)<<LogicalBits + logical)
}

// TimestampAt is the smallest timestamp whose physical part is t, cut to milliseconds.
func TimestampAt(t time.Time) Timestamp {
	return NewTimestamp(max(0, t.UnixMilli()), 0)
}

// Physical is the part in milliseconds since 1970 UTC.
func (t Timestamp) Physical() int64 { return int64(t >> LogicalBits) }

// Logical is the counter within one millisecond.
func (t Timestamp) Logical() uint64 { return uint64(t) & (1<<LogicalBits - 1) }

// Time is the physical part as a time.
func (t Timestamp) Time() time.Time { return time.UnixMilli(t.Physical()).UTC() }

// String shows both parts. Small values, as scripts and tests use them, are shown as a plain number.
func (t Timestamp) String() string {
	switch {
	case t == MaxTimestamp:
		return "max"
	case t.Physical() == 0:
		return fmt.Sprint(uint64(t))
	}
	return fmt.Sprintf("%d.%d", t.Physical(), t.Logical())
}
