package txntest

import (
	"strings"
	"testing"
)

// Histories are written one transaction a line, in the order in which they ended: name, when it began and ended, the outcome if not
// committed, and operations; "x+1" appends 1 to x, "x=1,2" reads.
func listHistory(t *testing.T, script string) *ListHistory {
	t.Helper()
	h := &ListHistory{}
	for line := range strings.Lines(script) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		tx := &ListTxn{Name: f[0], Outcome: Committed, Began: number(f[1]), Ended: number(f[2])}
		for _, w := range f[3:] {
			switch {
			case w == "aborted":
				tx.Outcome = Aborted
			case w == "unknown":
				tx.Outcome = Unknown
			case strings.Contains(w, "+"):
				k, v, _ := strings.Cut(w, "+")
				tx.Ops = append(tx.Ops, ListOp{Key: k, Append: number(v)})
			default:
				k, v, _ := strings.Cut(w, "=")
				o := ListOp{Key: k, Elements: []int{}}
				for _, e := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
					o.Elements = append(o.Elements, number(e))
				}
				tx.Ops = append(tx.Ops, o)
			}
		}
		h.txns = append(h.txns, tx)
	}
	return h
}

func number(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

func TestListsAnomalies(t *testing.T) {
	for _, c := range []struct {
		name, history string
		rc, si, ser   string // a part of the complaint, empty for none
	}{
		{"nothing", "", "", "", ""},
		{"one after the other", `
			A 1 2 x+1
			B 3 4 x=1 x+2 x=1,2
			C 5 6 x=1,2`, "", "", ""},
		{"an unknown outcome that nobody else saw", `
			A 1 2 x+1
			B 3 4 unknown x=1 x+2 x=1,2
			C 5 6 x=1 x+3
			D 7 8 x=1,3`, "", "", ""},
		{"an unknown outcome that somebody saw, and then nobody", `
			A 1 2 x+1
			B 3 4 unknown x=1 x+2 x=1,2
			C 5 6 x=1,2
			D 7 8 x=1 x+3
			E 9 10 x=1,3`, "incompatible order", "incompatible order", "incompatible order"},
		{"concurrent readers may see either", `
			A 1 9 x+1 y+2
			B 2 3 x= y=
			C 4 5 x=1 y=2`, "", "", ""},
		{"aborted read", `
			A 1 2 aborted x+1
			B 3 4 x=1`, "G1a", "G1a", "G1a"},
		{"intermediate read", `
			A 1 9 x+1 x+2
			B 2 3 x=1
			C 10 11 x=1,2`, "G1b", "G1b", "G1b"},
		{"unknown outcomes count when seen", `
			A 1 9 unknown x+1
			B 2 3 unknown x+2
			C 10 11 x=1`, "", "", ""},
		{"an unknown one may come late", `
			A 1 2 unknown x+1
			B 3 4 x=
			C 5 6 x=1`, "", "", ""},
		{"garbage", `
			A 1 2 x=7`, "garbage", "garbage", "garbage"},
		{"duplicate", `
			A 1 2 x+1
			B 3 4 x=1,1`, "duplicate", "duplicate", "duplicate"},
		{"two orders", `
			A 1 9 x+1
			B 1 9 x+2
			C 2 8 x=1,2
			D 2 8 x=2,1`, "incompatible", "incompatible", "incompatible"},
		{"dirty write", `
			A 1 9 x+1 y+2
			B 1 9 x+3 y+4
			C 10 11 x=1,3 y=4,2`, "G0", "G0", "G0"},
		{"circular information flow", `
			A 1 9 x+1 y=2
			B 1 9 y+2 x=1`, "G1c", "G1c", "G1c"},
		{"lost update", `
			A 1 9 x= x+1
			B 1 9 x= x+2
			C 10 11 x=1,2`, "", "G-single", "G-single"},
		{"torn snapshot", `
			A 1 5 x+1 y+2
			B 1 9 x= y=2
			C 10 11 x=1 y=2`, "", "G-single", "G-single"},
		{"a second look sees more", `
			A 1 5 x+1
			B 1 9 x= x=1`, "", "internal", "internal"},
		{"does not see its own", `
			A 1 5 x+1 x=`, "internal", "internal", "internal"},
		{"write skew", `
			A 1 9 x= y+1
			B 1 9 y= x+2
			C 10 11 x=2 y=1`, "", "", "G2"},
		{"long fork", `
			A 1 9 x+1
			B 1 9 y+2
			C 2 8 x=1 y=
			D 2 8 x= y=2`, "", "G-nonadjacent", "G2"},
		{"read-only anomaly", `
			A 1 9 x= y= y+1
			B 1 4 x+2
			C 5 6 x=2 y=
			D 10 11 x=2 y=1`, "", "", "G2"},
		{"acknowledged and not seen", `
			A 1 2 x+1
			B 3 4 x=`, "lost append", "lost append", "lost append"},
		{"acknowledged and lost", `
			A 1 2 x+1
			B 1 2 x+2
			C 3 4 x=2`, "lost append", "lost append", "lost append"},
		{"an old state after a newer one", `
			A 1 9 x+1 y+2
			B 2 3 x=1
			C 4 5 y=
			D 10 11 x=1 y=2`, "", "G-single, a lost update or a torn snapshot, in real time", "G-single"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for level, want := range []string{c.rc, c.si, c.ser} {
				wrong := listHistory(t, c.history).Check(Isolation(level))
				switch {
				case want == "" && len(wrong) > 0:
					t.Errorf("level %d complains: %v", level, wrong)
				case want != "" && (len(wrong) == 0 || !strings.Contains(wrong[0].Error(), want)):
					t.Errorf("level %d says %v, want %q", level, wrong, want)
				}
			}
		})
	}
}
