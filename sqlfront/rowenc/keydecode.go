package rowenc

import (
	"encoding/binary"
	"math"
	"math/big"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// Decodable reports whether Decode can give part i back: numbers, dates, binary strings and strings of code
// point collations, if the key holds all of the value.
func (c *KeyCodec) Decodable(i int) bool {
	p := &c.parts[i]
	return p.weigher == nil && p.prefix == 0 && !p.padSpace
}

// Decode reads the key's parts into values[0], values[1] …, as many as there are values, and returns what
// follows them. Parts that are not Decodable are skipped and leave their value as it was.
func (c *KeyCodec) Decode(key []byte, values []any) (rest []byte, err error) {
	if len(values) > len(c.parts) {
		return nil, corrupt("more values asked for than the key has columns")
	}
	for i := range values {
		p := &c.parts[i]
		n, err := p.size(key)
		if err != nil {
			return nil, err
		}
		if c.Decodable(i) {
			if values[i], err = p.decode(key[:n]); err != nil {
				return nil, err
			}
		}
		key = key[n:]
	}
	return key, nil
}

// Split returns the first n parts of a key and what follows them: for an entry of a secondary index, the
// index columns and the primary key.
func (c *KeyCodec) Split(key []byte, n int) (head, tail []byte, err error) {
	at := 0
	for i := range n {
		size, err := c.parts[i].size(key[at:])
		if err != nil {
			return nil, nil, err
		}
		at += size
	}
	return key[:at:at], key[at:], nil
}

// HasNull reports whether any of the first n parts of a key is NULL: such an entry of a unique index
// collides with nothing.
func (c *KeyCodec) HasNull(key []byte, n int) (bool, error) {
	for i := range n {
		size, err := c.parts[i].size(key)
		if err != nil {
			return false, err
		}
		if key[0] == tagNull {
			return true, nil
		}
		key = key[size:]
	}
	return false, nil
}

// size returns the length of the part at the beginning of key.
func (p *part) size(key []byte) (int, error) {
	if len(key) == 0 {
		return 0, corrupt("key ends early")
	}
	tag := key[0]
	if tag == tagNull {
		return 1, nil
	}
	n := -1
	switch p.kind {
	case kindFloat32, kindFloat64, kindText, kindBytes:
		if tag != tagValue {
			return 0, corrupt("key part has another type's tag")
		}
		switch {
		case p.kind == kindFloat32:
			n = 5
		case p.kind == kindFloat64:
			n = 9
		case p.padSpace:
			if n = p.skipPadded(key[1:]); n >= 0 {
				n++
			}
		case p.weigher != nil:
			if n = skipWeights(key[1:]); n >= 0 {
				n++
			}
		default:
			n = skipEscaped(key[1:]) + 1
		}
	default:
		switch {
		case tag >= tagNumber-maxNumberBytes && tag < tagNumber:
			n = 1 + tagNumber - int(tag)
		case tag >= tagNumber && tag <= tagPositive:
			n = 1
		case tag > tagPositive && tag <= tagPositive+maxNumberBytes:
			n = 1 + int(tag) - tagPositive
		}
	}
	if n <= 0 || n > len(key) {
		return 0, corrupt("key ends early or has an unknown tag")
	}
	return n, nil
}

// skipEscaped returns the length of an escaped string with its end; what it returns for one without an end
// makes the sum in size invalid.
func skipEscaped(b []byte) int {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != escape {
			continue
		}
		if b[i+1] == escapedEnd {
			return i + 2
		}
		if b[i+1] != escapedZero {
			break
		}
		i++
	}
	return -1
}

// decode reads one part, which size has measured.
func (p *part) decode(b []byte) (any, error) {
	if b[0] == tagNull {
		return nil, nil
	}
	switch p.kind {
	case kindFloat32:
		u := binary.BigEndian.Uint32(b[1:])
		switch {
		case u == 0:
			return float32(math.NaN()), nil
		case u>>31 == 1:
			u &^= 1 << 31
		default:
			u = ^u
		}
		return math.Float32frombits(u), nil
	case kindFloat64:
		u := binary.BigEndian.Uint64(b[1:])
		switch {
		case u == 0:
			return math.NaN(), nil
		case u>>63 == 1:
			u &^= 1 << 63
		default:
			u = ^u
		}
		return math.Float64frombits(u), nil
	case kindText:
		return string(unescape(b[1:])), nil
	case kindBytes:
		return unescape(b[1:]), nil
	case kindDecimal:
		return decodeDecimal(b, p.scale), nil
	}
	v, err := decodeNumber(p.kind, b)
	if t, ok := v.(time.Time); ok && p.zone != nil {
		return p.zone.Local(t.UnixMicro()), nil
	}
	return v, err
}

func unescape(b []byte) []byte {
	b = b[:len(b)-2]
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		out = append(out, b[i])
		if b[i] == escape {
			i++ // the FF
		}
	}
	return out
}

func decodeNumber(k kind, b []byte) (any, error) {
	if b[0] >= tagNumber && b[0] <= tagPositive {
		if v, ok := number(k, int64(b[0]-tagNumber)); ok {
			return v, nil
		}
		return nil, corrupt("key holds a number that its column cannot")
	}
	if len(b) > 9 {
		return nil, corrupt("key holds a number that its column cannot")
	}
	var u uint64
	for _, c := range b[1:] {
		u = u<<8 | uint64(c)
	}
	if b[0] < tagNumber { // negative: the bytes are complemented
		if n := len(b) - 1; n < 8 {
			u = ^u & (1<<(8*n) - 1)
		} else {
			u = ^u
		}
		if u <= math.MaxInt64 {
			if v, ok := number(k, -1-int64(u)); ok {
				return v, nil
			}
		}
		return nil, corrupt("key holds a number that its column cannot")
	}
	if u > math.MaxInt64 {
		if k == kindUint64 || k == kindBits {
			return u, nil
		}
		return nil, corrupt("key holds a number that its column cannot")
	}
	if v, ok := number(k, int64(u)); ok {
		return v, nil
	}
	return nil, corrupt("key holds a number that its column cannot")
}

func decodeDecimal(b []byte, scale int32) *apd.Decimal {
	d := &apd.Decimal{Exponent: -scale}
	switch {
	case b[0] >= tagNumber && b[0] <= tagPositive:
		d.Coeff.SetUint64(uint64(b[0] - tagNumber))
	case b[0] > tagPositive:
		d.Coeff.SetBytes(b[1:])
	default:
		flipped := make([]byte, len(b)-1)
		for i, c := range b[1:] {
			flipped[i] = ^c
		}
		c := new(big.Int).SetBytes(flipped)
		d.Coeff.SetMathBigInt(c.Add(c, big.NewInt(1)))
		d.Negative = true
	}
	return d
}

// Parts cuts the first parts of a key out, as many as dst has room for, and returns what
// follows them. NULL is nil.
func (c *KeyCodec) Parts(key []byte, dst [][]byte) (rest []byte, err error) {
	for i := range dst {
		n, err := c.parts[i].size(key)
		if err != nil {
			return nil, err
		}
		if dst[i] = key[:n:n]; key[0] == tagNull {
			dst[i] = nil
		}
		key = key[n:]
	}
	return key, nil
}
