package mysqlproto

import "encoding/binary"

// OK ends an answer that went well.
type OK struct {
	Affected, InsertID uint64
	Status, Warnings   uint16
	Info               string
	// Changes are what has changed in the session, for clients that ask; see Append….
	Changes []byte
	// OfRows says that the packet ends rows, for clients that want it there in the place of an EOF.
	OfRows bool
}

// Append appends the packet:
//
//	 1    1+…        1+…         2        2          1+… …   1+… …
//	+----+----------+-----------+--------+----------+------+---------+
//	| 00 | affected | insert id | status | warnings | info | changes |
//	+----+----------+-----------+--------+----------+------+---------+
//
// The manual has the info without its length for clients that do not track the session; MySQL and MariaDB
// send it with.
func (o *OK) Append(b []byte, capabilities uint32) []byte {
	header, status := byte(HeaderOK), o.Status
	if o.OfRows {
		header = HeaderEOF
	}
	changed := len(o.Changes) > 0 && capabilities&ClientSessionTrack != 0
	if changed {
		status |= StatusSessionStateChanged
	}
	b = AppendInt(AppendInt(append(b, header), o.Affected), o.InsertID)
	b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, status), o.Warnings)
	if o.Info != "" || changed {
		b = AppendString(b, o.Info)
	}
	if changed {
		b = AppendString(b, o.Changes)
	}
	return b
}

// Kinds of changes in a session.
const (
	trackVariable = 0
	trackSchema   = 1
)

// AppendVariableChange appends to OK.Changes that a variable has another value.
func AppendVariableChange(b []byte, name, value string) []byte {
	inner := AppendString(AppendString(nil, name), value)
	return AppendString(append(b, trackVariable), inner)
}

// AppendSchemaChange appends to OK.Changes that another database is the current one.
func AppendSchemaChange(b []byte, schema string) []byte {
	return AppendString(append(b, trackSchema), AppendString(nil, schema))
}

// AppendEOF appends the packet that ends columns or rows, for clients that do not want an OK there.
func AppendEOF(b []byte, warnings, status uint16) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(append(b, HeaderEOF), warnings),
		status)
}

// AppendError appends the packet of an error. state has five characters.
func AppendError(b []byte, number uint16, state, message string) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, HeaderErr), number)
	return append(append(append(b, '#'), state...), message...)
}

// Column says what a column of a result is.
type Column struct {
	Schema, Table, OrgTable, Name, OrgName string

	Charset  uint16
	Length   uint32
	Type     Type
	Flags    uint16
	Decimals byte
}

// Append appends the packet. withDefault is of COM_FIELD_LIST: the column's default follows, which is NULL.
func (c *Column) Append(b []byte, withDefault bool) []byte {
	b = AppendString(AppendString(AppendString(b, "def"), c.Schema), c.Table)
	b = AppendString(AppendString(AppendString(b, c.OrgTable), c.Name), c.OrgName)
	b = binary.LittleEndian.AppendUint16(append(b, 0x0c), c.Charset)
	b = binary.LittleEndian.AppendUint32(b, c.Length)
	b = binary.LittleEndian.AppendUint16(append(b, byte(c.Type)), c.Flags)
	b = append(b, c.Decimals, 0, 0)
	if withDefault {
		b = append(b, HeaderNull)
	}
	return b
}

// AppendPrepared appends the first packet of the answer to COM_STMT_PREPARE.
//
//	 1    4           2         2        1    2
//	+----+-----------+---------+--------+----+----------+
//	| 00 | statement | columns | params | 00 | warnings |
//	+----+-----------+---------+--------+----+----------+
func AppendPrepared(b []byte, statement uint32, columns, params int, warnings uint16) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, HeaderOK), statement)
	b = binary.LittleEndian.AppendUint16(b, uint16(columns))
	b = binary.LittleEndian.AppendUint16(b, uint16(params))
	return binary.LittleEndian.AppendUint16(append(b, 0), warnings)
}

// AppendNulls begins a row of the binary protocol: the head and a bitmap of NULLs, in which SetNull marks.
//
//	 1    (columns+9)/8   …
//	+----+---------------+--------+
//	| 00 | NULL bitmap   | values |   the bits of the first byte begin with the third
//	+----+---------------+--------+
func AppendNulls(b []byte, columns int) []byte {
	for range 1 + (columns+9)/8 {
		b = append(b, 0)
	}
	return b
}

// SetNull marks a column as NULL in a row that begins with what AppendNulls has appended.
func SetNull(row []byte, column int) { row[1+(column+2)/8] |= 1 << ((column + 2) % 8) }

// AppendDate appends a date of the binary protocol; see date for the layout.
func AppendDate(b []byte, year uint16, month, day byte) []byte {
	if year == 0 && month == 0 && day == 0 {
		return append(b, 0)
	}
	return append(b, 4, byte(year), byte(year>>8), month, day)
}

// AppendDatetime appends a date with a time of the binary protocol, as short as it can be.
func AppendDatetime(b []byte, year uint16, month, day, hour, minute, second byte, micros uint32) []byte {
	switch {
	case micros > 0:
		b = append(b, 11, byte(year), byte(year>>8), month, day, hour, minute, second)
		return binary.LittleEndian.AppendUint32(b, micros)
	case hour != 0 || minute != 0 || second != 0:
		return append(b, 7, byte(year), byte(year>>8), month, day, hour, minute, second)
	}
	return AppendDate(b, year, month, day)
}

// AppendTime appends a time of the binary protocol; see time for the layout.
func AppendTime(b []byte, negative bool, hours uint32, minutes, seconds byte, micros uint32) []byte {
	if hours == 0 && minutes == 0 && seconds == 0 && micros == 0 {
		return append(b, 0)
	}
	length, sign := byte(8), byte(0)
	if micros > 0 {
		length = 12
	}
	if negative {
		sign = 1
	}
	b = binary.LittleEndian.AppendUint32(append(b, length, sign), hours/24)
	b = append(b, byte(hours%24), minutes, seconds)
	if micros > 0 {
		b = binary.LittleEndian.AppendUint32(b, micros)
	}
	return b
}
