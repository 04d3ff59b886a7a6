package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// params follows the parameters of an EXECUTE, whose layout is drawn at execute, byte by byte while they go to the library. The library
// makes room for as many bytes as a value says that it has, before it looks whether they are there: 10 bytes asked for 12 GiB.
type params struct {
	p     *mysql.PrepareData
	left  int // bytes of the command that are to come
	stage paramStage
	want  int    // bytes to collect for the stage
	have  []byte // of them
	nulls []byte
	types []byte // of this command, if it has any; otherwise those of the command before hold
	i     int    // the parameter at hand
	skip  int    // bytes of its value to come
}

type paramStage uint8

const (
	paramHead   paramStage = iota // up to the NULL bitmap
	paramNulls                    // and the flag behind it
	paramTypes                    // if it says so
	paramLength                   // the first byte of a value
	paramLong                     // the length of a text of more than 250 bytes
)

// headOfExecute is what stands before the NULL bitmap.
const headOfExecute = 10

// keptParams is how many bytes of types are kept for the next command.
const keptParams = 1 << 10

// start begins a command of so many bytes. What was made for the command before is used again: most are short and many.
func (w *params) start(p *mysql.PrepareData, length int) {
	if cap(w.types) > keptParams {
		*w = params{}
	}
	*w = params{p: p, left: length, want: headOfExecute, have: w.have[:0], nulls: w.nulls[:0], types: w.types[:0]}
}

// paramNames are what the library calls the first parameters.
var paramNames = func() (names [64]string) {
	for i := range names {
		names[i] = "v" + strconv.Itoa(i+1)
	}
	return names
}()

// paramName is what the library calls a parameter, counted from 0.
func paramName(i int) string {
	if i < len(paramNames) {
		return paramNames[i]
	}
	return "v" + strconv.Itoa(i+1)
}

// feed looks at the next bytes; ok is false if what follows them is no parameter, or is not there.
func (w *params) feed(b []byte) (ok bool) {
	for len(b) > 0 {
		if w.skip > 0 {
			n := min(w.skip, len(b))
			w.skip, w.left, b = w.skip-n, w.left-n, b[n:]
			continue
		}
		if w.want == 0 {
			return true // behind the last value: the library does not look there
		}
		if n := w.want; len(w.have) == 0 && n <= len(b) { // as nearly always: it need not be collected first
			all := b[:n]
			w.want, w.left, b = 0, w.left-n, b[n:]
			if !w.collected(all) {
				return false
			}
			continue
		}
		n := min(w.want-len(w.have), len(b))
		w.have, w.left, b = append(w.have, b[:n]...), w.left-n, b[n:]
		if len(w.have) == w.want {
			w.want = 0
			if !w.collected(w.have) {
				return false
			}
			w.have = w.have[:0]
		}
	}
	return w.skip <= w.left
}

func (w *params) collected(b []byte) (ok bool) {
	count := int(w.p.ParamsCount)
	switch w.stage {
	case paramHead:
		if count > 0 {
			w.stage, w.want = paramNulls, (count+7)/8+1
		}
	case paramNulls:
		w.nulls = append(w.nulls, b[:len(b)-1]...)
		if b[len(b)-1] != 1 {
			return w.value()
		}
		w.stage, w.want = paramTypes, 2*count
	case paramTypes:
		w.types = append(w.types, b...)
		return w.value()
	case paramLength:
		return w.length(b[0])
	case paramLong:
		var long [8]byte
		copy(long[:], b)
		return w.text(binary.LittleEndian.Uint64(long[:]))
	}
	return true
}

// value begins with the next parameter that has one in this command.
func (w *params) value() (ok bool) {
	sent := len(w.p.BindVars) > 0 // in pieces
	for ; w.i < int(w.p.ParamsCount); w.i++ {
		if w.nulls[w.i/8]&(1<<(w.i%8)) != 0 || sent && w.p.BindVars[paramName(w.i)] != nil {
			continue
		}
		t := querypb.Type(w.p.ParamsType[w.i])
		if len(w.types) > 0 {
			var err error
			if t, err = sqltypes.MySQLToType(int64(w.types[2*w.i]), int64(w.types[2*w.i+1])>>2); err != nil {
				return true // the library says what is wrong
			}
		}
		size := -1
		switch t {
		case sqltypes.Null:
			size = 0
		case sqltypes.Int8, sqltypes.Uint8:
			size = 1
		case sqltypes.Int16, sqltypes.Uint16, sqltypes.Year:
			size = 2
		case sqltypes.Int24, sqltypes.Uint24, sqltypes.Int32, sqltypes.Uint32, sqltypes.Float32:
			size = 4
		case sqltypes.Int64, sqltypes.Uint64, sqltypes.Float64:
			size = 8
		}
		if size < 0 {
			w.stage, w.want = paramLength, 1
			return true
		}
		if w.skip += size; w.skip > w.left {
			return true // it is not there, which the library notices
		}
	}
	return true
}

// length takes the first byte of a value with a length.
func (w *params) length(b byte) (ok bool) {
	switch b {
	case 0xfc:
		w.stage, w.want = paramLong, 2
	case 0xfd:
		w.stage, w.want = paramLong, 3
	case 0xfe:
		w.stage, w.want = paramLong, 8
	case 0xfb, 0xff:
		return false
	default:
		return w.text(uint64(b))
	}
	return true
}

func (w *params) text(n uint64) (ok bool) {
	if n > uint64(w.left) {
		return false
	}
	w.skip = int(n)
	w.i++
	return w.value()
}
