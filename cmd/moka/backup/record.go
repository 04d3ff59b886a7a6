package backup

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"moka/kv"
	"moka/triggers"
)

// Info says what a backup is of.
type Info struct {
	Format   int          `json:"format"`
	Store    string       `json:"store"`    // which it is of: a random text
	Snapshot kv.Timestamp `json:"snapshot"` // everything that was committed up to here, and nothing else
	Since    kv.Timestamp `json:"since"`    // the snapshot of the one before it, zero for none
	Created  time.Time    `json:"created"`
	Moka     string       `json:"moka"` // the version that made it
}

// Format is that of this release.
const Format = 1

// Counts are how many records a backup has.
type Counts struct {
	Cells     uint64 `json:"cells"`     // with their values
	Unchanged uint64 `json:"unchanged"` // named only
	Positions uint64 `json:"positions"` // changes that observers had not acknowledged
}

// The stream of records, compressed:
//
//	| 'h' | Info as JSON                                     the first
//	| 'c' | column | value                                   a cell
//	| 'k' | column                                           a cell that is as the backup before has it
//	| 'n' | Position as JSON                                 behind all cells
//	| 'e' | Counts as JSON                                   the last
//	column: row, family (a byte), qualifier. Texts have their length in front, as uvarint.
const (
	kindHeader   = 'h'
	kindCell     = 'c'
	kindSame     = 'k'
	kindPosition = 'n'
	kindEnd      = 'e'
)

// maxText bounds a text of a record: what can be committed is smaller.
const maxText = 1 << 30

// Writer writes the records of one backup.
type Writer struct {
	z      *zstd.Encoder
	w      *bufio.Writer
	counts Counts
}

// NewWriter begins a backup.
func NewWriter(w io.Writer, info Info) (*Writer, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	b := &Writer{z: z, w: bufio.NewWriterSize(z, 64<<10)}
	return b, b.json(kindHeader, info)
}

func (w *Writer) text(b []byte) {
	w.w.Write(binary.AppendUvarint(w.w.AvailableBuffer(), uint64(len(b))))
	w.w.Write(b)
}

func (w *Writer) json(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.w.WriteByte(kind)
	w.text(b)
	_, err = w.w.Write(nil)
	return err
}

func (w *Writer) column(kind byte, c kv.Column) {
	w.w.WriteByte(kind)
	w.text(c.Row)
	w.w.WriteByte(byte(c.Family))
	w.text(c.Qualifier)
}

// Cell writes a cell with its value.
func (w *Writer) Cell(c kv.Column, value []byte) error {
	w.counts.Cells++
	w.column(kindCell, c)
	w.text(value)
	_, err := w.w.Write(nil)
	return err
}

// Same writes a cell that the backup before has as it is.
func (w *Writer) Same(c kv.Column) error {
	w.counts.Unchanged++
	w.column(kindSame, c)
	_, err := w.w.Write(nil)
	return err
}

// Position writes a change that an observer has not acknowledged.
func (w *Writer) Position(p triggers.Position) error {
	w.counts.Positions++
	return w.json(kindPosition, p)
}

// Close ends the backup.
func (w *Writer) Close() (Counts, error) {
	if err := w.json(kindEnd, w.counts); err != nil {
		return w.counts, err
	}
	if err := w.w.Flush(); err != nil {
		return w.counts, err
	}
	return w.counts, w.z.Close()
}

// Record is one of a Reader.
type Record struct {
	Column   kv.Column
	Value    []byte
	Same     bool               // the value is where the backup before has it
	Position *triggers.Position // instead of a cell
}

// Reader reads the records of one backup.
type Reader struct {
	Info   Info
	z      *zstd.Decoder
	r      *bufio.Reader
	counts Counts
	last   kv.Column
	begun  bool
	ended  bool
}

// NewReader reads how a backup begins.
func NewReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return nil, err
	}
	b := &Reader{z: z, r: bufio.NewReaderSize(z, 64<<10)}
	kind, err := b.r.ReadByte()
	if err == nil && kind != kindHeader {
		err = fmt.Errorf("it begins with %q", kind)
	}
	if err == nil {
		err = b.json(&b.Info)
	}
	if err == nil && b.Info.Format != Format {
		err = fmt.Errorf("format %d is another release's; this one reads format %d", b.Info.Format, Format)
	}
	if err != nil {
		z.Close()
		return nil, err
	}
	return b, nil
}

// Close gives up what the reader holds.
func (r *Reader) Close() { r.z.Close() }

func (r *Reader) text() ([]byte, error) {
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return nil, short(err)
	}
	if n > maxText {
		return nil, fmt.Errorf("a text of %d bytes", n)
	}
	var b bytes.Buffer // grows as the bytes come: the length may be wrong
	if _, err := io.CopyN(&b, r.r, int64(n)); err != nil {
		return nil, short(err)
	}
	return b.Bytes(), nil
}

func short(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *Reader) json(v any) error {
	b, err := r.text()
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// Next returns the next record; io.EOF is the end of a backup that is whole.
func (r *Reader) Next() (rec Record, err error) {
	if r.ended {
		return rec, io.EOF
	}
	kind, err := r.r.ReadByte()
	if err != nil {
		return rec, short(err)
	}
	switch kind {
	case kindCell, kindSame:
		return r.cell(kind)
	case kindPosition:
		r.counts.Positions++
		rec.Position = &triggers.Position{}
		return rec, r.json(rec.Position)
	case kindEnd:
		var counts Counts
		if err := r.json(&counts); err != nil {
			return rec, err
		}
		if counts != r.counts {
			return rec, fmt.Errorf("it has %+v, and says that it has %+v", r.counts, counts)
		}
		if _, err := r.r.ReadByte(); err != io.EOF {
			return rec, fmt.Errorf("something follows its end: %w", err)
		}
		r.ended = true
		return rec, io.EOF
	}
	return rec, fmt.Errorf("a record of kind %q", kind)
}

func (r *Reader) cell(kind byte) (rec Record, err error) {
	row, err := r.text()
	if err != nil {
		return rec, err
	}
	family, err := r.r.ReadByte()
	if err != nil {
		return rec, short(err)
	}
	qualifier, err := r.text()
	if err != nil {
		return rec, err
	}
	rec.Column = kv.Column{Row: row, Family: kv.FamilyID(family), Qualifier: qualifier}
	if r.begun && compare(rec.Column, r.last) <= 0 {
		return rec, fmt.Errorf("cell %x is behind %x", row, []byte(r.last.Row))
	}
	r.last, r.begun = rec.Column, true
	if rec.Same = kind == kindSame; rec.Same {
		r.counts.Unchanged++
		return rec, nil
	}
	r.counts.Cells++
	rec.Value, err = r.text()
	return rec, err
}

// Equal tells whether two cells are the same one.
func Equal(a, b kv.Column) bool { return compare(a, b) == 0 }

// compare is the order of cells, which is that of scans.
func compare(a, b kv.Column) int {
	if n := bytes.Compare(a.Row, b.Row); n != 0 {
		return n
	}
	if a.Family != b.Family {
		return int(a.Family) - int(b.Family)
	}
	return bytes.Compare(a.Qualifier, b.Qualifier)
}
