package resultset

import "testing"

func TestPadScale(t *testing.T) {
	for _, c := range []struct {
		in    string
		scale int
		want  string
	}{{"10", 2, "10.00"}, {"-1.5", 3, "-1.500"}, {"1.25", 2, ""}, {"1.257", 2, ""}, {"", 2, ""}, {"1e5", 2,
		""}, {"0", 1, "0.0"}} {
		got, ok := padScale([]byte(c.in), c.scale)
		if ok != (c.want != "") || string(got) != c.want {
			t.Errorf("%q to %d: %q %v", c.in, c.scale, got, ok)
		}
	}
}
