package statements

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDigestText(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT * FROM t WHERE id = 5":                             "SELECT * FROM t WHERE id = ?",
		"select  a,\n\tb from t -- why\n where a='it''s' ; ":       "select a, b from t where a=?",
		"SELECT /* x */ 1.5e-3, 0x1F, x'41', _latin1'a', N'b', .5": "SELECT ?, ?, ?, ?, ?, ?",
		"INSERT INTO t VALUES (1,'a'),(2,'b'), (3, NULL)":          "INSERT INTO t VALUES (...)",
		"INSERT INTO t (a, b) VALUES (?, ?)":                       "INSERT INTO t (a, b) VALUES (...)",
		"INSERT INTO t VALUES (1, f(2)), (3, 4)": "INSERT INTO t VALUES (?, f(?)), " +
			"(...)",
		"SELECT * FROM t WHERE a IN (1,2,3) AND b IN (4)": "SELECT * FROM t WHERE a IN " +
			"(...) AND b IN (?)",
		"SELECT `it's`, t1.c2, t.2a FROM `a``b` # end": "SELECT `it's`, t1.c2, t.?",
		"SELECT @a1, @@session.sql_mode, /*+ MAX_EXECUTION_TIME(5) */ 1": "SELECT @a1, @@session.sql_mode, " +
			"/*+ MAX_EXECUTION_TIME(?) */ ?",
		"SELECT 'a\\'b', \"c\"": "SELECT ?, ?",
		"":                      "",
		"SELECT 'open":          "SELECT ?",
	} {
		got := DigestText(query)
		// what is no name and no number may be anything, but not a quote's end
		if strings.HasPrefix(want, "SELECT `it's`") {
			if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "FROM `a``b`") {
				t.Errorf("%q: %q", query, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	long := DigestText("SELECT " + strings.Repeat("größe, ", 1000))
	if len(long) > maxDigestText || !strings.HasPrefix(long, "SELECT größe, größe") ||
		strings.ContainsRune(long, '\uFFFD') {
		t.Errorf("%d bytes: %q", len(long), long[len(long)-20:])
	}
}

func FuzzDigestText(f *testing.F) {
	for _, s := range []string{"SELECT 'a' /* b", "((?,?),", "1.e+", "`", "--", "/*!", "@@", "x'", "(-",
		"(null,default"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := DigestText(s)
		if len(got) > maxDigestText {
			t.Fatalf("%d bytes", len(got))
		}
	})
}

func TestQuantilesAreCloseAndNeverTooLow(t *testing.T) {
	for range 2000 {
		d := time.Duration(rand.Int64N(int64(time.Hour)))
		if b := bucketOf(d); upTo(b) < d || upTo(b) > d+d/8+2*time.Microsecond || b > 0 && upTo(b-1) > d {
			t.Fatalf("%v is in bucket %d, from %v to %v", d, b, upTo(b-1), upTo(b))
		}
	}
	r := New(Options{})
	for i := range 1000 {
		r.Record(&Execution{Text: "SELECT 1", Began: time.Now(), Took: time.Duration(i+1) * time.Millisecond})
	}
	d := r.Digests()[0]
	if d.P95 < 950*time.Millisecond || d.P95 > 1070*time.Millisecond || d.P99 < 990*time.Millisecond ||
		d.Most != time.Second || d.Least != time.Millisecond {
		t.Errorf("%+v", d)
	}
}

// TestAccountIsBounded runs more different statements than there is room for: none is lost from the totals,
// and the one that is used all the time stays.
func TestAccountIsBounded(t *testing.T) {
	const room = 50
	r := New(Options{Digests: room})
	began := time.Unix(1_800_000_000, 0)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				at := began.Add(time.Duration(i) * time.Second)
				r.Record(&Execution{Database: "d", Text: "SELECT hot FROM t WHERE id = 7",
					Short: []byte("SELECT hot FROM t WHERE id = ?"), Began: at,
					Took: time.Millisecond, Sent: 1})
				text := fmt.Sprintf("SELECT a FROM t_%s WHERE b = 'x'", strings.Repeat("z", 1+(g*500+i)%700))
				r.Record(&Execution{Database: "d", Text: text, Began: at, Took: time.Millisecond,
					Error: 1146})
			}
		})
	}
	wg.Wait()
	var count, errors, hot int64
	all := r.Digests()
	for _, d := range all {
		count, errors = count+d.Count, errors+d.Errors
		if strings.Contains(d.Text, "hot") {
			hot += d.Count
			if d.Sent != d.Count || d.Total != time.Duration(d.Count)*time.Millisecond || d.Digest == "" {
				t.Errorf("%+v", d)
			}
		}
	}
	if len(all) != room+1 || len(r.shorts) > shortsPerLine*room {
		t.Errorf("%d lines, %d short texts", len(all), len(r.shorts))
	}
	if count != 4000 || errors != 2000 || hot != 2000 {
		t.Errorf("%d statements, %d errors, %d hot", count, errors, hot)
	}
	if r.Forget(); len(r.Digests()) != 0 {
		t.Error("not forgotten")
	}
}

func TestSlowLogFile(t *testing.T) {
	dir := t.TempDir()
	r := New(Options{Dir: dir, Version: "8", Addr: "h:3306"})
	x := &Execution{Database: "d", Text: "SELECT 'a\nb';", User: "u", Host: "h\n# Time: 0", Connection: 3,
		Began: time.Unix(1_800_000_000, 0), Took: time.Second}
	for _, name := range []string{"../x.log", "/etc/passwd", "", ".hidden", "a/b"} {
		r.Slow(x, name)
		if CheckFileName(name) == nil {
			t.Errorf("%q is allowed", name)
		}
	}
	r.Slow(x, "slow.log")
	if err := os.Rename(filepath.Join(dir, "slow.log"), filepath.Join(dir, "old.log")); err != nil {
		t.Fatal(err)
	}
	r.Slow(x, "slow.log") // still the old file
	if err := r.Rotate(); err != nil {
		t.Fatal(err)
	}
	r.Slow(&Execution{Text: "CREATE USER u IDENTIFIED BY 'secret'", Began: x.Began}, "slow.log")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := os.ReadDir(dir)
	old, _ := os.ReadFile(filepath.Join(dir, "old.log"))
	now, _ := os.ReadFile(filepath.Join(dir, "slow.log"))
	if len(files) != 2 || strings.Count(string(old), "\n# Query_time: 1.000000  Lock_time: 0.000000 "+
		"Rows_sent: 0  Rows_examined: 0\nuse d;\nSET timestamp=1800000000;\nSELECT 'a\nb';\n") != 2 ||
		strings.Count(string(old), "\n# Time: ") != 2 {
		t.Errorf("%d files, the old one:\n%s", len(files), old)
	}
	if !strings.Contains(string(now),
		", Version: 8 (Moka). started with:\nTcp port: 3306  Unix socket: -\n") ||
		strings.Contains(string(now), "secret") || !strings.Contains(string(now), "IDENTIFIED BY ?") {
		t.Errorf("the new one:\n%s", now)
	}
}

func BenchmarkRecordKnown(b *testing.B) {
	r := New(Options{})
	x := Execution{Database: "sbtest", Text: "SELECT c FROM sbtest1 WHERE id = 4711",
		Short: []byte("SELECT c FROM sbtest1 WHERE id = ?"), Began: time.Now(), Took: 50 * time.Microsecond,
		Sent: 1, Examined: 1}
	r.Record(&x)
	b.ReportAllocs()
	for b.Loop() {
		r.Record(&x)
	}
}

func BenchmarkRecordUnscanned(b *testing.B) {
	r := New(Options{})
	x := Execution{Database: "sbtest", Text: "SELECT c FROM sbtest1 WHERE id = 4711 /* no short text */",
		Began: time.Now(), Took: 50 * time.Microsecond, Sent: 1, Examined: 1}
	b.ReportAllocs()
	for b.Loop() {
		r.Record(&x)
	}
}
