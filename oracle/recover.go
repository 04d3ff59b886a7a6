package oracle

import "moka/kv"

// defaultPrefix is that of the oracle's keys in the coordination service.
const defaultPrefix = "oracle/"

// Recovered is what the coordination service has to say of timestamps when its latest changes are lost:
// that all up to a ceiling may have been handed out. get reads its keys.
func Recovered(get func(key string) ([]byte, error), ceiling kv.Timestamp) (map[string][]byte, error) {
	const key = defaultPrefix + "ceiling"
	b, err := get(key)
	if err != nil {
		return nil, err
	}
	var r ceilingRecord
	if b != nil {
		if r, err = decodeCeiling(b); err != nil {
			return nil, err
		}
	}
	r.ceiling = max(r.ceiling, ceiling)
	return map[string][]byte{key: encodeCeiling(r)}, nil
}
