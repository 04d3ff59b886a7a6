package kv

import (
	"math"
	"testing"
	"time"
)

func TestTimestamp(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 123_456_789, time.UTC)
	ts := TimestampAt(at)
	if ts.Physical() != at.UnixMilli() || ts.Logical() != 0 || !ts.Time().Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("%v: physical %d logical %d time %v", ts, ts.Physical(), ts.Logical(), ts.Time())
	}
	if got, want := NewTimestamp(5, 7).String(), "5.7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := NewTimestamp(5, 1<<LogicalBits); got != NewTimestamp(6, 0) {
		t.Errorf("a full logical part did not carry: %v", got)
	}
	if got := NewTimestamp(5, 1<<LogicalBits-1) + 1; got != NewTimestamp(6, 0) {
		t.Errorf("counting up did not carry: %v", got)
	}
	if Timestamp(42).String() != "42" || MaxTimestamp.String() != "max" {
		t.Errorf("small %v, max %v", Timestamp(42), MaxTimestamp)
	}
	if MaxTimestamp+1 < MaxTimestamp || uint64(MaxTimestamp) > math.MaxInt64 {
		t.Error("MaxTimestamp leaves no room above, or does not fit BIGINT")
	}
	if TimestampAt(time.Time{}) != 0 {
		t.Error("a time before 1970 must not wrap around")
	}
}
