package rowenc

import (
	"math"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// Zone is a session's time zone as codecs need it: values of TIMESTAMP columns are instants on disk and times
// of day in rows. The nil Zone is UTC, where the two are the same; codecs without a zone never look.
//
//	stored            row                                       stored
//	microseconds ──▶ Local ──▶ time.Time, its clock set in UTC ──▶ Instant ──▶ microseconds
//
// Where clocks are turned back an hour of the day comes twice. What was read in the second one is marked (its
// Location is again), so that a row that is written back, or looked up by what was read, means the instant
// that it came from; to everybody else a marked time is like any other. A time without a mark, one that a
// client has sent, means the first of the two, as in MySQL.
type Zone struct {
	// Segments of constant offset: the one that begins at starts[i] has offsets[i]. In microseconds;
	// starts[0] is the beginning of time.
	starts, offsets []int64
}

// again marks times of day in the second of two equal hours.
var again = time.FixedZone("UTC", 0)

// The instants that TIMESTAMP can hold, in microseconds: 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999
// UTC.
const (
	MinInstant = 1_000_000
	MaxInstant = math.MaxInt32*1_000_000 + 999_999
)

// maxOffset bounds how far zones are from UTC: MySQL takes -13:59 to +14:00, tz has -15:13:42 to +15:13:42.
const maxOffset = 16 * 3600 * 1_000_000

var zeroInstant = types.ZeroTime.UnixMicro() // '0000-00-00 00:00:00' is none and is in every zone the same

// NewZone makes the Zone of a location, nil if that is UTC for all that TIMESTAMP can hold.
func NewZone(loc *time.Location) *Zone {
	z := &Zone{}
	limit := time.UnixMicro(MaxInstant + maxOffset)
	for at := time.UnixMicro(MinInstant - maxOffset); at.Before(limit); {
		local := at.In(loc)
		_, seconds := local.Zone()
		_, end := local.ZoneBounds()
		offset := int64(seconds) * 1_000_000
		switch n := len(z.starts); {
		case n == 0:
			z.starts, z.offsets = append(z.starts, math.MinInt64), append(z.offsets, offset)
		case z.offsets[n-1] != offset: // other changes are of the name
			z.starts, z.offsets = append(z.starts, at.UnixMicro()), append(z.offsets, offset)
		}
		if end.IsZero() {
			break
		}
		at = end
	}
	if len(z.starts) == 1 && z.offsets[0] == 0 {
		return nil
	}
	return z
}

// Fixed reports whether the zone's clocks are never turned: then times of day sort as instants do,
// and each is one instant.
func (z *Zone) Fixed() bool { return z == nil || len(z.starts) == 1 }

// segment is the one that an instant is in.
func (z *Zone) segment(micros int64) int {
	if len(z.starts) == 1 {
		return 0
	}
	i, ok := slices.BinarySearch(z.starts, micros)
	if !ok {
		i--
	}
	return i
}

// Local is the time of day of an instant.
func (z *Zone) Local(micros int64) time.Time {
	if z == nil || micros == zeroInstant {
		return time.UnixMicro(micros).UTC()
	}
	i := z.segment(micros)
	t := time.UnixMicro(micros + z.offsets[i]).UTC()
	if i > 0 && micros+z.offsets[i] < z.starts[i]+z.offsets[i-1] {
		return Marking(t)
	}
	return t
}

// instants are the first and the last instant of a time of day. ok is false for one that there is not,
// because clocks were turned forward over it: both are the moment when they were.
func (z *Zone) instants(clock int64) (first, last int64, ok bool) {
	if len(z.starts) == 1 {
		u := clock - z.offsets[0]
		return u, u, true
	}
	turned := clock
	for i, to := z.segment(clock-maxOffset), z.segment(clock+maxOffset); i <= to; i++ {
		if i > 0 && clock < z.starts[i]+z.offsets[i] && clock >= z.starts[i]+z.offsets[i-1] {
			turned = z.starts[i]
		}
		u := clock - z.offsets[i]
		if u < z.starts[i] || i+1 < len(z.starts) && u >= z.starts[i+1] {
			continue
		}
		if !ok {
			first, ok = u, true
		}
		last = u
	}
	if !ok {
		return turned, turned, false
	}
	return first, last, true
}

// Instant is the instant that a time of day means, in microseconds. ok is false if there is no such time: the
// instant is then that of the next one that there is.
func (z *Zone) Instant(t time.Time) (micros int64, ok bool) {
	clock := t.UnixMicro()
	if z == nil || clock == zeroInstant {
		return clock, true
	}
	first, last, ok := z.instants(clock)
	if Marked(t) {
		return last, ok
	}
	return first, ok
}

// Only returns the one instant that a time of day is; ok is false if there are two, or none.
func (z *Zone) Only(t time.Time) (micros int64, ok bool) {
	clock := t.UnixMicro()
	if z == nil || clock == zeroInstant {
		return clock, true
	}
	first, last, ok := z.instants(clock)
	return first, ok && first == last
}

// Unmarked reports whether a time of day comes twice and does not say which one it is.
func (z *Zone) Unmarked(t time.Time) bool {
	if z.Fixed() || Marked(t) {
		return false
	}
	clock := t.UnixMicro()
	first, last, _ := z.instants(clock)
	return first != last && clock != zeroInstant
}

// Marked reports whether a time of day is marked as the second of two.
func Marked(t time.Time) bool { return t.Location() == again }

// Marking marks it.
func Marking(t time.Time) time.Time { return t.In(again) }
