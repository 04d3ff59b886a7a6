package numeral

import (
	"math"
	"strings"
	"testing"
)

// TestBeginnings: the number that a text begins with, and whether it is all of the text.
func TestBeginnings(t *testing.T) {
	for _, c := range []struct {
		text    string
		double  float64
		decimal string
		whole   bool
	}{
		{"12", 12, "12", true}, {" -1.50 ", -1.5, "-1.50", true}, {"12e", 12, "12", false},
		{"1e3", 1000, "1000", true}, {".5", .5, "0.5", true}, {"5.", 5, "5", true}, {"abc", 0, "0", false},
		{"", 0, "0", false}, {"0x1f", 0, "0", false}, {"1_000", 1, "1", false}, {"inf", 0, "0", false},
		{"-0", 0, "0", true},
		{"+7x", 7, "7", false}, {"1e-999999999999", 0, "0", true},
	} {
		f, whole := Double(c.text)
		if f != c.double || math.Signbit(f) != (c.double < 0) || whole != c.whole {
			t.Errorf("Double(%q) = %v, %v", c.text, f, whole)
		}
		if d, whole := Decimal(c.text); d.Text('f') != c.decimal || whole != c.whole {
			t.Errorf("Decimal(%q) = %v, %v", c.text, d.Text('f'), whole)
		}
	}
	if d, whole := Decimal("1e3000000"); d.Text('f') != strings.Repeat("9", maxPrecision) || whole {
		t.Errorf("1e3000000 = %v, %v", d, whole)
	}
	if d, _ := Decimal(strings.Repeat("1", 3_000_000) + ".5"); d.NumDigits() != maxPrecision {
		t.Errorf("three million digits have become %d", d.NumDigits())
	}
}

// TestFit: rounding half up, and the largest value where there is no room.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
		in   bool
	}{
		{"1.255", "1.26", true}, {"-1.255", "-1.26", true}, {"9.994", "9.99", true}, {"9.995", "9.99", false},
		{"-10", "-9.99", false}, {"-0.001", "0.00", true}, {"0", "0.00", true},
	} {
		d, _ := Decimal(c.text)
		if out, in, err := Fit(d, 3, 2); err != nil || out.Text('f') != c.want || in != c.in {
			t.Errorf("Fit(%s) = %v, %v, %v", c.text, out, in, err)
		}
	}
}
