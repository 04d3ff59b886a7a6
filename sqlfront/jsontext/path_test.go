package jsontext

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestPaths: what MySQL's manual says that paths find.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ doc, path, want string }{
		{`{"a": 1}`, `$`, `[{"a":1}]`},
		{`{"a": {"b": 1}, "c": {"b": 2}}`, ` $ ** . b `, `[1,2]`},
		{`[3, {"a": [5, 6], "b": 10}, [99, 100]]`, `$[1].a[1]`, `[6]`},
		{`[3, {"a": [5, 6], "b": 10}, [99, 100]]`, `$[3]`, `null`},
		{`[3, {"a": [5, 6], "b": 10}, [99, 100]]`, `$[2][0]`, `[99]`},
		{`{"a fish": "shark", "a bird": "sparrow"}`, `$."a fish"`, `["shark"]`},
		{`{"a": 1, "b": 2, "c": [3, 4, 5]}`, `$.*`, `[1,2,[3,4,5]]`},
		{`{"a": 1, "b": 2, "c": [3, 4, 5]}`, `$.c[*]`, `[3,4,5]`},
		{`[1, 2, 3, 4, 5]`, `$[1 to 3]`, `[2,3,4]`},
		{`[1, 2, 3, 4, 5]`, `$[last-3 to last-1]`, `[2,3,4]`},
		{`[1, 2, 3, 4, 5]`, `$[last - 1 to 9]`, `[4,5]`},
		{`[1]`, `$[0][0][last]`, `[1]`},
		{`{"a": [1, 2], "b": {"c": [3]}}`, `$**[0]`, `[{"a":[1,2],"b":{"c":[3]}},1,2,{"c":[3]},3]`},
		{`{"bb": 1, "a": {"bb": 2}}`, `$**.bb`, `[1,2]`},
		{`{"é_1": 1}`, `$.é_1`, `[1]`},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		doc, err := Parse(c.doc, free)
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Find(t.Context(), doc)
		got, _ := json.Marshal(found)
		if err != nil || string(got) != c.want {
			t.Errorf("%s in %s: %s, %v; want %s", c.path, c.doc, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "a", "$.", "$[", "$[1", "$[a]", "$**", "$.a**", "$[2 to 1]",
		"$[last to last-1]", "$ a", `$."a`, "$.1", "$[-1]", "$[1 to ]", "$[99999999999]"} {
		if _, err := ParsePath(bad); !errors.As(err, new(PathError)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestPathsOfDeepDocuments: ** after ** visits each value once.
func TestPathsOfDeepDocuments(t *testing.T) {
	const depth = 90
	doc, err := Parse(strings.Repeat(`{"a":[0,`, depth)+`1`+strings.Repeat(`]}`, depth), free)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePath("$" + strings.Repeat("**.a", 30))
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Find(t.Context(), doc)
	if err != nil || len(found) != depth-29 {
		t.Errorf("found %d, %v", len(found), err)
	}
}
