package rowenc

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// jsonText is the stored form of a JSON value: MySQL's own text (keys ordered by length, a space after
// colon and comma), so that what is read back can be sent to a client as it is. A document that came out
// of a row keeps its text.
func jsonText(ctx context.Context, v any) ([]byte, error) {
	doc, ok := v.(sql.JSONWrapper)
	if !ok {
		c, _, err := canonical(ctx, types.JSON, v)
		if err != nil {
			return nil, err
		}
		if doc, ok = c.(sql.JSONWrapper); !ok {
			return nil, badValue(types.JSON, v)
		}
	}
	if b, ok := doc.(types.JSONBytes); ok {
		return b.GetBytes(ctx)
	}
	return types.JsonToMySqlBytes(ctx, doc)
}

// maxExactDigits is the longest run of digits that a float64 keeps whatever they are.
const maxExactDigits = 15

// jsonDocument returns the engine's lazy document, which parses when somebody looks inside and is passed
// through otherwise. It makes every number a float64, so a document with a longer integer than that can hold
// is parsed here, and keeps it.
func jsonDocument(text []byte) (any, error) {
	if !hasLongNumber(text) {
		return types.NewLazyJSONDocument(text), nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, corrupt("JSON: " + err.Error())
	}
	return types.JSONDocument{Val: exactNumbers(v)}, nil
}

// hasLongNumber reports whether there are more than maxExactDigits digits in a row anywhere; inside a string
// that costs only the laziness.
func hasLongNumber(text []byte) bool {
	run := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			run = 0
		} else if run++; run > maxExactDigits {
			return true
		}
	}
	return false
}

func exactNumbers(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = exactNumbers(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = exactNumbers(x[k])
		}
	case json.Number:
		f, err := x.Float64()
		if err == nil && math.Abs(f) < 1<<53 {
			return f // as the engine would have it
		}
		if i, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(x.String(), 10, 64); err == nil {
			return u
		}
		return f
	}
	return v
}
