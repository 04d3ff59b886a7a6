package jsontext

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// AppendKey adds bytes that are the same for values that are equal, and for no others: numbers are equal
// whatever they are kept as, which number knows, and objects in any order of their members.
func AppendKey(key []byte, v any, number func(v any) (n float64, ok bool)) []byte {
	text := func(key []byte, kind byte, s string) []byte {
		return append(binary.AppendUvarint(append(key, kind), uint64(len(s))), s...)
	}
	if n, ok := number(v); ok {
		return binary.BigEndian.AppendUint64(append(key, 'd'), math.Float64bits(n+0)) // -0 is 0
	}
	switch v := v.(type) {
	case nil:
		return append(key, 'n')
	case bool:
		if v {
			return append(key, 't')
		}
		return append(key, 'f')
	case string:
		return text(key, 's', v)
	case []any:
		key = binary.AppendUvarint(append(key, 'a'), uint64(len(v)))
		for _, e := range v {
			key = AppendKey(key, e, number)
		}
		return key
	case map[string]any:
		key = binary.AppendUvarint(append(key, 'o'), uint64(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key = AppendKey(text(key, 'k', k), v[k], number)
		}
		return key
	}
	return text(key, 'x', fmt.Sprint(v)) // a date or the like, that a function has put there
}
