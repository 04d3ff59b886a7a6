package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// perSecond words a rate.
func perSecond(v float64) string { return short(v) + "/s" }

func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// seconds words a time that is given in seconds.
func seconds(v float64) string {
	switch {
	case v <= 0:
		return "0"
	case v < 1e-3:
		return fmt.Sprintf("%.3g µs", v*1e6)
	case v < 1:
		return fmt.Sprintf("%.3g ms", v*1e3)
	case v < 120:
		return fmt.Sprintf("%.3g s", v)
	}
	return time.Duration(v * float64(time.Second)).Round(time.Second).String()
}

func milliseconds(v float64) string { return seconds(v / 1e3) }

func duration(d time.Duration) string { return seconds(d.Seconds()) }

// size words a number of bytes.
func size(n uint64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if v /= 1024; v < 1024 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
	}
	return fmt.Sprintf("%.3g TiB", v/1024)
}

// count words a whole number with its thousands apart.
func count(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// ago words how long a moment is past.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(time.Since(t))
}

// span words a time that passes before one's eyes: whole seconds.
func span(d time.Duration) string {
	if d < time.Minute {
		return strconv.Itoa(int(max(d, 0).Seconds())) + " s"
	}
	return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
}

// cell words a value of SQL.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// number is a value of SQL as a number, zero if it is none.
func number(v any) float64 {
	switch v := v.(type) {
	case time.Time:
		return float64(v.UnixNano()) / 1e9
	case float64:
		return v
	}
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f
}
