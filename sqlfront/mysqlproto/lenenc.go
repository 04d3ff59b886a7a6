package mysqlproto

import "encoding/binary"

// AppendInt appends a number in the encoding that has its length in its first byte.
func AppendInt(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}

// AppendString appends a text and, before it, its length.
func AppendString[T string | []byte](b []byte, s T) []byte {
	return append(AppendInt(b, uint64(len(s))), s...)
}

// cursor reads a message from the front. What is not there is noted in bad and reads as zeros.
type cursor struct {
	b   []byte
	bad bool
}

// take is the next n bytes, of the message itself.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	part := c.b[:n]
	c.b = c.b[n:]
	return part
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// int is a number with its length in its first byte.
func (c *cursor) int() uint64 {
	switch first := c.byte(); first {
	case 0xfb, 0xff: // NULL and an error: no numbers
		c.bad = true
		return 0
	case 0xfc:
		return uint64(c.uint16())
	case 0xfd:
		b := c.take(3)
		if b == nil {
			return 0
		}
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xfe:
		return c.uint64()
	default:
		return uint64(first)
	}
}

// string is a text that has its length before it.
func (c *cursor) string() string { return string(c.take(c.int())) }

// terminated is a text that ends with a zero byte.
func (c *cursor) terminated() string {
	for i, x := range c.b {
		if x == 0 {
			s := string(c.b[:i])
			c.b = c.b[i+1:]
			return s
		}
	}
	c.bad, c.b = true, nil
	return ""
}

func (c *cursor) err() error {
	if c.bad {
		return ErrMalformed
	}
	return nil
}
