// Package rowenc turns SQL values into bytes: index keys that sort as the values do, and row values that
// survive changes of the table.
//
// A SQL row is one cell. Its key is the primary key, encoded by KeyCodec; its value holds all
// columns, encoded by RowCodec:
//
//	row key                                          value
//	┌──────┬───────┬───────┬─────────────────────┐   ┌────┬───────────┬───────────┬───┐
//	│ 10   │ table │ index │ KeyCodec(pk)        │   │ 01 │ column 1  │ column 2  │ … │   RowCodec
//	└──────┴───────┴───────┴─────────────────────┘   └────┴───────────┴───────────┴───┘
//	┌──────┬───────┬───────┬──────────┬──────────┐
//	│ 10   │ table │ index │ columns  │ pk       │   an entry of a secondary index: KeyCodec.Split finds the primary key
//	└──────┴───────┴───────┴──────────┴──────────┘
//
// The value repeats the key's columns on purpose. Most strings cannot be got back out of a key, because a key
// holds the collation's weights; and an observer reads old versions of a row by its value alone.
//
// # Promises
//
//   - Keys: bytes.Compare of two keys is sql.Type.Compare of the values, column by column, NULL first. This is tested for each type
//     against the engine's own comparison, because a sort by index and a sort by the engine must not differ.
//   - Spans: every row of an index range has its key in exactly one of the spans; a span says whether it holds others too.
//   - Rows: what was put in comes out, bit for bit, for every column type: -0, NaN, the scale of a DECIMAL, invalid UTF-8. A column
//     that the stored row does not have reads as its default, one that the table no longer has is skipped.
//   - Bytes that no encoder wrote give ErrCorrupt, never a panic.
//   - Both formats are pinned by testdata/*.golden: they are on disks.
//
// # Not promised
//
// Under collations that pad (PAD SPACE: all but utf8mb4_0900_* and binary) trailing spaces do not count, in
// keys that were made with KeyPart.PadSpace; older ones stay readable, and are looked up by wider spans.
// JSON documents keep their value, not their spelling: they are stored as MySQL prints them. A DATETIME has
// microseconds and no more. Changing a column's type in place is safe only from a narrower to a wider
// integer of the same sign; everything else needs a new column id and new index ids. JSON, vectors and
// geometry have no keys.
//
// # Reading order
//
// key.go (the drawing of keys), weights.go (collations), padded.go (those that pad), range.go (from the
// engine's ranges to spans), row.go (the drawing of rows), rowdecode.go, zone.go (TIMESTAMPs in a
// session's time zone), json.go.
package rowenc
