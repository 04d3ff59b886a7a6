package textfile

import (
	"bytes"
	"io"
	"unsafe"

	"moka/sqlfront/sqlerr"
)

// Format is what FIELDS and LINES of a LOAD DATA say. Zero bytes of enclosed and escaped mean that there is
// none.
type Format struct {
	Fields, Lines, Starting string
	Enclosed, Escaped       byte
	HasEnclosed, HasEscaped bool
}

// Field is one field of a record; its text is a part of the block's.
type Field struct {
	Start, End uint32
	Null       bool
}

// Records are records of the file, taken apart: all of their text in one piece, all of their fields in one
// list. They are used again for the next block.
type Records struct {
	Text   []byte
	fields []Field
	Ends   []uint32 // of the records, into fields
}

// Reset forgets the records.
func (r *Records) Reset() { r.Text, r.fields, r.Ends = r.Text[:0], r.fields[:0], r.Ends[:0] }

// Record are the fields of one record.
func (r *Records) Record(i int) []Field {
	start := uint32(0)
	if i > 0 {
		start = r.Ends[i-1]
	}
	return r.fields[start:r.Ends[i]]
}

// TextOf is the text of a field, which is good until the block is used again.
func (r *Records) TextOf(f Field) string {
	return unsafe.String(unsafe.SliceData(r.Text[f.Start:f.End]), int(f.End-f.Start))
}

// Reader takes a file apart into records and fields as MySQL's READ_INFO does. Unlike the library's reader it
// knows that a terminator within an enclosed field is text, that a doubled enclosing character is one, and
// that the word NULL is NULL only where it could have been enclosed and is not.
type Reader struct {
	Format
	src  io.Reader
	buf  []byte
	r, w int
	eof  bool
	rows int64
}

// maxRecord bounds one record: what is larger is larger than any transaction may be.
const maxRecord = 64 << 20

// NewReader reads a file of that format.
func NewReader(src io.Reader, f Format) *Reader {
	return &Reader{Format: f, src: src, buf: make([]byte, 256<<10)}
}

// fill reads on, behind what is left. It reports false at the end of the file.
func (l *Reader) fill() (bool, error) {
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

func (l *Reader) tooLong() error {
	return sqlerr.New(sqlerr.TransactionTooLarge,
		"Record %d of the file is longer than %d bytes; are FIELDS and LINES what the file has?", l.rows+1,
		maxRecord)
}

// at reports whether a terminator stands at the position, reading on if that is needed to tell.
func (l *Reader) at(pos int, term string) (bool, error) {
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

// Skip passes a number of lines, whatever is in them.
func (l *Reader) Skip(n int64) error {
	for ; n > 0; n-- {
		for {
			if i := bytes.Index(l.buf[l.r:l.w], []byte(l.Lines)); i >= 0 {
				l.r += i + len(l.Lines)
				break
			}
			l.r = max(l.r, l.w-len(l.Lines)+1)
			if more, err := l.fill(); err != nil || !more {
				l.r = l.w
				return err
			}
		}
	}
	return nil
}

// Next appends the next record to out; false at the end of the file. Lines without what LINES STARTING BY
// names are passed over.
func (l *Reader) Next(out *Records) (bool, error) {
	for {
		if l.r == l.w {
			if more, err := l.fill(); err != nil || !more {
				return false, err
			}
		}
		if l.Starting != "" {
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
func (l *Reader) start() (found bool, err error) {
	for {
		line := l.buf[l.r:l.w]
		end := bytes.Index(line, []byte(l.Lines))
		if i := bytes.Index(line, []byte(l.Starting)); i >= 0 && (end < 0 || i < end) {
			l.r += i + len(l.Starting)
			return true, nil
		}
		if end >= 0 {
			l.r += end + len(l.Lines)
			return false, nil
		}
		if more, err := l.fill(); err != nil || !more {
			l.r = l.w
			return false, err
		}
	}
}

// plain reads a record that lies in the buffer as a whole and has nothing enclosed or escaped in it.
func (l *Reader) plain(out *Records) (bool, error) {
	i := -1
	for from := l.r; ; {
		if i = bytes.Index(l.buf[from:l.w], []byte(l.Lines)); i >= 0 {
			i += from - l.r
			break
		}
		seen := max(0, l.w-l.r-len(l.Lines)+1)
		if l.w-l.r >= len(l.buf)/2 && len(l.buf) > 1<<20 {
			return false, nil
		}
		if more, err := l.fill(); err != nil || !more {
			return false, err
		}
		from = l.r + seen
	}
	line := l.buf[l.r : l.r+i]
	if l.HasEscaped && bytes.IndexByte(line, l.Escaped) >= 0 ||
		l.HasEnclosed && bytes.IndexByte(line, l.Enclosed) >= 0 {
		return false, nil
	}
	l.r += i + len(l.Lines)
	base := uint32(len(out.Text))
	out.Text = append(out.Text, line...)
	at := uint32(0)
	for {
		var j int
		if len(l.Fields) == 1 {
			j = bytes.IndexByte(line, l.Fields[0])
		} else {
			j = bytes.Index(line, []byte(l.Fields))
		}
		if j < 0 {
			break
		}
		out.fields = append(out.fields, l.bare(line[:j], base+at))
		at += uint32(j + len(l.Fields))
		line = line[j+len(l.Fields):]
	}
	out.fields = append(out.fields, l.bare(line, base+at))
	out.Ends = append(out.Ends, uint32(len(out.fields)))
	return true, nil
}

// bare is a field without enclosure. The word NULL is a text where there are no enclosures to tell the two
// apart.
func (l *Reader) bare(text []byte, start uint32) Field {
	return Field{start, start + uint32(len(text)), l.HasEnclosed && string(text) == "NULL"}
}

// general reads a record byte by byte.
func (l *Reader) general(out *Records) error {
	began := len(out.Text)
	for {
		last, err := l.field(out)
		if err != nil {
			return err
		}
		if len(out.Text)-began > maxRecord {
			return l.tooLong()
		}
		if last {
			out.Ends = append(out.Ends, uint32(len(out.fields)))
			return nil
		}
	}
}

// field reads one field and what ends it.
func (l *Reader) field(out *Records) (last bool, err error) {
	start := len(out.Text)
	enclosed := false
	escapedN := false
	end := func(closed, last bool) (bool, error) {
		f := Field{Start: uint32(start), End: uint32(len(out.Text))}
		text := out.Text[start:]
		f.Null = escapedN && len(text) == 1 || l.HasEnclosed && !closed && string(text) == "NULL"
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
	} else if ok && l.HasEnclosed && l.buf[l.r] == l.Enclosed {
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
				out.Text = append(out.Text, 0)
				copy(out.Text[start+1:], out.Text[start:])
				out.Text[start] = l.Enclosed
			}
			return end(enclosed, true)
		}
		if len(out.Text)-start > maxRecord {
			return false, l.tooLong()
		}
		c := l.buf[l.r]
		if enclosed && c == l.Enclosed {
			closed, last, err := l.closing(out)
			if err != nil {
				return false, err
			}
			if closed {
				return end(true, last)
			}
			continue
		}
		if l.HasEscaped && c == l.Escaped && !(l.HasEnclosed && l.Escaped == l.Enclosed) {
			l.r++
			ok, err := need()
			if err != nil {
				return false, err
			}
			if !ok {
				out.Text = append(out.Text, c)
				continue
			}
			c = l.buf[l.r]
			escapedN = escapedN || c == 'N'
			out.Text = append(out.Text, unescapeField(c))
			l.r++
			continue
		}
		if !enclosed {
			if c == l.Lines[0] {
				if ok, err := l.at(0, l.Lines); err != nil {
					return false, err
				} else if ok {
					l.r += len(l.Lines)
					return end(false, true)
				}
			}
			if c == l.Fields[0] {
				if ok, err := l.at(0, l.Fields); err != nil {
					return false, err
				} else if ok {
					l.r += len(l.Fields)
					return end(false, false)
				}
			}
		}
		out.Text = append(out.Text, l.buf[l.r])
		l.r++
	}
}

// closing looks at an enclosing character within an enclosed field: doubled it is one, before a terminator it
// is the end, and anywhere else it is text.
func (l *Reader) closing(out *Records) (closed, last bool, err error) {
	if l.r+1 == l.w {
		if _, err := l.fill(); err != nil {
			return false, false, err
		}
		if l.r+1 == l.w {
			// The end of the file closes it, unless the character may just as well be half of an escaped one.
			if l.HasEscaped && l.Escaped == l.Enclosed {
				out.Text = append(out.Text, l.Enclosed)
				l.r++
				return false, false, nil
			}
			l.r++
			return true, true, nil
		}
	}
	switch ok, err := l.at(1, l.Lines); {
	case err != nil:
		return false, false, err
	case ok:
		l.r += 1 + len(l.Lines)
		return true, true, nil
	}
	switch ok, err := l.at(1, l.Fields); {
	case err != nil:
		return false, false, err
	case ok:
		l.r += 1 + len(l.Fields)
		return true, false, nil
	}
	out.Text = append(out.Text, l.Enclosed)
	if l.buf[l.r+1] == l.Enclosed {
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
