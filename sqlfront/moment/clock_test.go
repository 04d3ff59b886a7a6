package moment

import (
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestClock: the TIME that a text begins with, and whether it is all of the text, in range, and one at all.
func TestClock(t *testing.T) {
	for in, want := range map[string]string{
		"10:11:12": "10:11:12", "-10:11": "-10:11:00", "1 10:11": "34:11:00", "2 03": "51:00:00",
		"2 3": "00:00:02 cut", "101112.5": "10:11:12.500000", "12": "00:00:12", " 12 ": "00:00:12",
		"+12": "00:00:12", "1.5": "00:00:01.500000", "2024-1-5": "00:20:24 cut",
		"2024-01-05": "00:20:24 cut", "--5": "no", "1e3": "no", "1e": "00:00:01 cut",
		"1_000": "00:00:01 cut", "": "no", "abc": "no", "-": "no", "1:60": "no", "160": "no",
		"10:": "00:00:10 cut", "10:11:12abc": "10:11:12 cut", "2024-01-05 10:11:12": "10:11:12",
		"2024-01-05T10:11:12.5": "10:11:12.500000", "20240105101112": "10:11:12",
		"240105101112": "10:11:12", "2024-13-05 10:11:12": "no", "839:00:00": "838:59:59 out",
		"-839:00:00": "-838:59:59 out", "838:59:59.5": "838:59:59 out", "99 00": "838:59:59 out",
		"4294967296": "no", "10:11:12.1234567": "10:11:12.123457",
	} {
		span, in2, whole, ok := clockOf(in)
		got := span.String()
		switch {
		case !ok:
			got = "no"
		case in2 != sql.InRange:
			got += " out"
		case !whole:
			got += " cut"
		}
		if got != want {
			t.Errorf("clockOf(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestClockOfNumbers: numbers as TIME.
func TestClockOfNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"101.5": "00:01:01.500000", "-101.5": "-00:01:01.500000", "8385959": "838:59:59",
		"8385960": "838:59:59 out", "160": "no", "20240105101112": "10:11:12", "1e3": "00:10:00",
		"-9e9": "-838:59:59 out", "99.9": "no",
	} {
		d, _, err := apd.NewFromString(in)
		if err != nil {
			t.Fatal(err)
		}
		span, in2, ok := clockOfNumber(d)
		got := types.Timespan(span).String()
		switch {
		case !ok:
			got = "no"
		case in2 != sql.InRange:
			got += " out"
		}
		if got != want {
			t.Errorf("clockOfNumber(%s) = %s, want %s", in, got, want)
		}
	}
}
