package engine

import (
	"bytes"
	"io"
	"unsafe"

	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/sqlerr"
)

// loadFormat is what FIELDS and LINES of a LOAD DATA say. Zero bytes of enclosed and escaped mean that there is none.
type loadFormat struct {
	fields, lines, starting string
	enclosed, escaped       byte
	hasEnclosed, hasEscaped bool
}

// loadFormatOf is false for files of fixed-width fields, which the library does not read either.
func loadFormatOf(n *plan.LoadData) (f loadFormat, ok bool) {
	f = loadFormat{fields: n.FieldsTerminatedBy, lines: n.LinesTerminatedBy, starting: n.LinesStartingBy}
	if len(n.FieldsEnclosedBy) > 0 {
		f.enclosed, f.hasEnclosed = n.FieldsEnclosedBy[0], true
	}
	if len(n.FieldsEscapedBy) > 0 {
		f.escaped, f.hasEscaped = n.FieldsEscapedBy[0], true
	}
	return f, f.fields != "" && f.lines != ""
}

// loadField is one field of a record; its text is a part of the block's.
type loadField struct {
	start, end uint32
	null       bool
}

// loadRecords are records of the file, taken apart: all of their text in one piece, all of their fields in one list. They are used
// again for the next block.
type loadRecords struct {
	text   []byte
	fields []loadField
	ends   []uint32 // of the records, into fields
}

func (r *loadRecords) reset() { r.text, r.fields, r.ends = r.text[:0], r.fields[:0], r.ends[:0] }

func (r *loadRecords) record(i int) []loadField {
	start := uint32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.fields[start:r.ends[i]]
}

// string is the text of a field, which is good until the block is used again.
func (r *loadRecords) string(f loadField) string {
	return unsafe.String(unsafe.SliceData(r.text[f.start:f.end]), int(f.end-f.start))
}

// loadReader takes a file apart into records and fields as MySQL's READ_INFO does. Unlike the library's reader it knows that a
// terminator within an enclosed field is text, that a doubled enclosing character is one, and that the word NULL is NULL only
// where it could have been enclosed and is not.
type loadReader struct {
	loadFormat
	src  io.Reader
	buf  []byte
	r, w int
	eof  bool
	rows int64
}

// maxRecord bounds one record: what is larger is larger than any transaction may be.
const maxRecord = 64 << 20

func newLoadReader(src io.Reader, f loadFormat) *loadReader {
	return &loadReader{loadFormat: f, src: src, buf: make([]byte, 256<<10)}
}

// fill reads on, behind what is left. It reports false at the end of the file.
func (l *loadReader) fill() (bool, error) {
	if l.eof {
		return false, nil
	}
	if l.r > 0 {
		copy(l.buf, l.buf[l.r:l.w])
		l.r, l.w = 0, l.w-l.r
	}
	if l.w == len(l.buf) {
		if len(l.buf) >= maxRecord {
			return false, l.tooLong()
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	for range 100 {
		n, err := l.src.Read(l.buf[l.w:])
		l.w += n
		switch {
		case err == io.EOF:
			l.eof = true
			return n > 0, nil
		case err != nil:
			return false, err
		case n > 0:
			return true, nil
		}
	}
	return false, io.ErrNoProgress
}

func (l *loadReader) tooLong() error {
	return sqlerr.New(sqlerr.TransactionTooLarge, "Record %d of the file is longer than %d bytes; are FIELDS and LINES what the file has?", l.rows+1, maxRecord)
}

// at reports whether a terminator stands at the position, reading on if that is needed to tell.
func (l *loadReader) at(pos int, term string) (bool, error) {
	for l.w-l.r-pos < len(term) {
		have := l.buf[l.r+pos : l.w]
		if string(have) != term[:len(have)] {
			return false, nil
		}
		if more, err := l.fill(); err != nil || !more {
			return false, err
		}
	}
	return string(l.buf[l.r+pos:l.r+pos+len(term)]) == term, nil
}

// skip passes a number of lines, whatever is in them.
func (l *loadReader) skip(n int64) error {
	for ; n > 0; n-- {
		for {
			if i := bytes.Index(l.buf[l.r:l.w], []byte(l.lines)); i >= 0 {
				l.r += i + len(l.lines)
				break
			}
			l.r = max(l.r, l.w-len(l.lines)+1)
			if more, err := l.fill(); err != nil || !more {
				l.r = l.w
				return err
			}
		}
	}
	return nil
}

// next appends the next record to out; false at the end of the file. Lines without what LINES STARTING BY names are passed over.
func (l *loadReader) next(out *loadRecords) (bool, error) {
	for {
		if l.r == l.w {
			if more, err := l.fill(); err != nil || !more {
				return false, err
			}
		}
		if l.starting != "" {
			found, err := l.start()
			if err != nil {
				return false, err
			}
			if !found {
				continue
			}
		}
		l.rows++
		plain, err := l.plain(out)
		if err == nil && !plain {
			err = l.general(out)
		}
		return err == nil, err
	}
}

// start passes over what stands before the prefix of a line, or over all of the line if there is none.
func (l *loadReader) start() (found bool, err error) {
	for {
		line := l.buf[l.r:l.w]
		end := bytes.Index(line, []byte(l.lines))
		if i := bytes.Index(line, []byte(l.starting)); i >= 0 && (end < 0 || i < end) {
			l.r += i + len(l.starting)
			return true, nil
		}
		if end >= 0 {
			l.r += end + len(l.lines)
			return false, nil
		}
		if more, err := l.fill(); err != nil || !more {
			l.r = l.w
			return false, err
		}
	}
}

// plain reads a record that lies in the buffer as a whole and has nothing enclosed or escaped in it.
func (l *loadReader) plain(out *loadRecords) (bool, error) {
	i := -1
	for from := l.r; ; {
		if i = bytes.Index(l.buf[from:l.w], []byte(l.lines)); i >= 0 {
			i += from - l.r
			break
		}
		seen := max(0, l.w-l.r-len(l.lines)+1)
		if l.w-l.r >= len(l.buf)/2 && len(l.buf) > 1<<20 {
			return false, nil
		}
		if more, err := l.fill(); err != nil || !more {
			return false, err
		}
		from = l.r + seen
	}
	line := l.buf[l.r : l.r+i]
	if l.hasEscaped && bytes.IndexByte(line, l.escaped) >= 0 || l.hasEnclosed && bytes.IndexByte(line, l.enclosed) >= 0 {
		return false, nil
	}
	l.r += i + len(l.lines)
	base := uint32(len(out.text))
	out.text = append(out.text, line...)
	at := uint32(0)
	for {
		var j int
		if len(l.fields) == 1 {
			j = bytes.IndexByte(line, l.fields[0])
		} else {
			j = bytes.Index(line, []byte(l.fields))
		}
		if j < 0 {
			break
		}
		out.fields = append(out.fields, l.bare(line[:j], base+at))
		at += uint32(j + len(l.fields))
		line = line[j+len(l.fields):]
	}
	out.fields = append(out.fields, l.bare(line, base+at))
	out.ends = append(out.ends, uint32(len(out.fields)))
	return true, nil
}

// bare is a field without enclosure. The word NULL is a text where there are no enclosures to tell the two apart.
func (l *loadReader) bare(text []byte, start uint32) loadField {
	return loadField{start, start + uint32(len(text)), l.hasEnclosed && string(text) == "NULL"}
}

// general reads a record byte by byte.
func (l *loadReader) general(out *loadRecords) error {
	began := len(out.text)
	for {
		last, err := l.field(out)
		if err != nil {
			return err
		}
		if len(out.text)-began > maxRecord {
			return l.tooLong()
		}
		if last {
			out.ends = append(out.ends, uint32(len(out.fields)))
			return nil
		}
	}
}

// field reads one field and what ends it.
func (l *loadReader) field(out *loadRecords) (last bool, err error) {
	start := len(out.text)
	enclosed := false
	escapedN := false
	end := func(closed, last bool) (bool, error) {
		f := loadField{start: uint32(start), end: uint32(len(out.text))}
		text := out.text[start:]
		f.null = escapedN && len(text) == 1 || l.hasEnclosed && !closed && string(text) == "NULL"
		out.fields = append(out.fields, f)
		return last, nil
	}
	need := func() (bool, error) {
		if l.r < l.w {
			return true, nil
		}
		return l.fill()
	}
	if ok, err := need(); err != nil {
		return false, err
	} else if ok && l.hasEnclosed && l.buf[l.r] == l.enclosed {
		enclosed = true
		l.r++
	}
	for {
		ok, err := need()
		if err != nil {
			return false, err
		}
		if !ok {
			if enclosed { // nothing has closed it, so that nothing had opened it
				out.text = append(out.text, 0)
				copy(out.text[start+1:], out.text[start:])
				out.text[start] = l.enclosed
			}
			return end(enclosed, true)
		}
		if len(out.text)-start > maxRecord {
			return false, l.tooLong()
		}
		c := l.buf[l.r]
		if enclosed && c == l.enclosed {
			closed, last, err := l.closing(out)
			if err != nil {
				return false, err
			}
			if closed {
				return end(true, last)
			}
			continue
		}
		if l.hasEscaped && c == l.escaped && !(l.hasEnclosed && l.escaped == l.enclosed) {
			l.r++
			ok, err := need()
			if err != nil {
				return false, err
			}
			if !ok {
				out.text = append(out.text, c)
				continue
			}
			c = l.buf[l.r]
			escapedN = escapedN || c == 'N'
			out.text = append(out.text, unescapeField(c))
			l.r++
			continue
		}
		if !enclosed {
			if c == l.lines[0] {
				if ok, err := l.at(0, l.lines); err != nil {
					return false, err
				} else if ok {
					l.r += len(l.lines)
					return end(false, true)
				}
			}
			if c == l.fields[0] {
				if ok, err := l.at(0, l.fields); err != nil {
					return false, err
				} else if ok {
					l.r += len(l.fields)
					return end(false, false)
				}
			}
		}
		out.text = append(out.text, l.buf[l.r])
		l.r++
	}
}

// closing looks at an enclosing character within an enclosed field: doubled it is one, before a terminator it is the end, and anywhere
// else it is text.
func (l *loadReader) closing(out *loadRecords) (closed, last bool, err error) {
	if l.r+1 == l.w {
		if _, err := l.fill(); err != nil {
			return false, false, err
		}
		if l.r+1 == l.w {
			// The end of the file closes it, unless the character may just as well be half of an escaped one.
			if l.hasEscaped && l.escaped == l.enclosed {
				out.text = append(out.text, l.enclosed)
				l.r++
				return false, false, nil
			}
			l.r++
			return true, true, nil
		}
	}
	switch ok, err := l.at(1, l.lines); {
	case err != nil:
		return false, false, err
	case ok:
		l.r += 1 + len(l.lines)
		return true, true, nil
	}
	switch ok, err := l.at(1, l.fields); {
	case err != nil:
		return false, false, err
	case ok:
		l.r += 1 + len(l.fields)
		return true, false, nil
	}
	out.text = append(out.text, l.enclosed)
	if l.buf[l.r+1] == l.enclosed {
		l.r++
	}
	l.r++
	return false, false, nil
}

func unescapeField(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case '0':
		return 0
	case 'Z':
		return 26
	}
	return c
}
