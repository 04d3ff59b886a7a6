package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func free(int64) error { return nil }

var texts = []string{
	`null`, ` true `, `false`, `0`, `-0`, `-1.5e-3`, `1E+2`, `01`, `1.`,
	`.5`, `-`, `1e`, `1e999`, `[1e999,{}]`,
	`""`, `"a\"b\\\u00e9\ud83d\ude00\ud83d"`, "\"\xff\"", "\"é\"", "\"a\x01\"", `"\x"`, `"`, `"\`,
	`[]`, `[ ]`, `[1, [2], {}]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `{}`, `{ "a" : 1 , "b":{"a":[null]}}`,
	`{"a":1,"a":2}`,
	`{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `{`, `nul`, `1 2`, ``, ` `, `tru e`, "\ufeff1",
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
}

// agree compares with encoding/json.
func agree(t *testing.T, text string) {
	t.Helper()
	var want any
	wrong := json.Unmarshal([]byte(text), &want)
	got, err := Parse(text, free)
	if (wrong == nil) != (err == nil) {
		t.Errorf("%.60q is %v, not %v", text, err, wrong)
	}
	if wrong == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%.60q is %#v, not %#v", text, got, want)
	}
	var syntax *json.SyntaxError
	if wrong != nil && !errors.As(wrong, &syntax) && !errors.Is(err, ErrNumber) {
		t.Errorf("%.60q is %v, not %v", text, err, wrong)
	}
}

func TestParse(t *testing.T) {
	for _, text := range texts {
		agree(t, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(agree)
}

// TestTaken holds what the caller is told against what the runtime keeps of a document.
func TestTaken(t *testing.T) {
	for _, element := range []string{
		`{}`, `[]`, `1`, `null`, `"a"`, `""`, `[1]`, `[[[1]]]`, `{"a":1}`, `{"a":{"b":{}}}`,
		`{"a":1,"b":2,"c":3,"d":4}`,
		`"a text of forty letters, or about as many"`,
		objectOf(9), objectOf(20), objectOf(1000),
	} {
		told, kept := measure(t, "["+strings.Repeat(element+",", 1+1_000_000/len(element))+element+"]")
		if told < kept*9/10 {
			t.Errorf("%.30s: %d bytes are kept, %d are told", element, kept, told)
		}
		if told > 2*kept+1<<20 {
			t.Errorf("%.30s: %d bytes are told, %d are kept", element, told, kept)
		}
	}
}

// measure parses a text, and returns what was told of its memory and what the runtime keeps of it.
func measure(t *testing.T, text string) (told, kept int64) {
	before := inUse()
	doc, err := Parse(text, func(n int64) error { told = n; return nil })
	if err != nil {
		t.Fatal(err)
	}
	kept = inUse() - before
	runtime.KeepAlive(doc)
	runtime.KeepAlive(text)
	return told, kept
}

// objectOf is an object of n members.
func objectOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func inUse() int64 {
	runtime.GC()
	runtime.GC() // what the first one found is swept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStops: a caller's error ends it, in the middle of what makes nothing, too.
func TestStops(t *testing.T) {
	stop := errors.New("stop")
	for _, text := range []string{
		"[" + strings.Repeat("{},", 1_000_000) + "1]",
		"[" + strings.Repeat("null,", 1_000_000) + "1]",
		"[" + strings.Repeat("1\n,", 1_000_000) + "1]",
		strings.Repeat(`[{"a":1},`, 9_000) + "1" + strings.Repeat("]", 9_000),
	} {
		calls := 0
		_, err := Parse(text, func(int64) error {
			if calls++; calls == 3 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || calls != 3 {
			t.Errorf("%.20s… is %v after %d calls", text, err, calls)
		}
	}
}
