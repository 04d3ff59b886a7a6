package sqlfront_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"moka/sqlfront/mysqlproto"
)

// binaryClient is a client of the binary protocol that sends dates and times; Go's driver sends texts.
type binaryClient struct {
	t   *testing.T
	in  *mysqlproto.Reader
	out *mysqlproto.Writer
}

func newBinaryClient(t *testing.T, addr string) *binaryClient {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	b := &binaryClient{t, mysqlproto.NewReader(c), mysqlproto.NewWriter(c)}
	b.recv()
	login := binary.LittleEndian.AppendUint32(nil, mysqlproto.ClientProtocol41|
		mysqlproto.ClientSecureConnection|mysqlproto.ClientPluginAuth)
	login = append(append(login, 0, 0, 0, 1, 45), make([]byte, 23)...)
	b.out.Seq, b.in.Seq = 1, 2
	b.out.Packet(append(login, "root\x00\x00mysql_native_password\x00"...))
	if err := b.out.Flush(); err != nil {
		t.Fatal(err)
	}
	if answer := b.recv(); answer[0] != mysqlproto.HeaderOK {
		t.Fatalf("login: %q", answer)
	}
	return b
}

func (b *binaryClient) recv() []byte {
	b.t.Helper()
	p, err := b.in.Next(1 << 20)
	if err != nil {
		b.t.Fatal(err)
	}
	return append([]byte(nil), p...)
}

func (b *binaryClient) command(command byte, arg []byte) []byte {
	b.t.Helper()
	b.in.Restart()
	b.out.Seq = 0
	b.out.Packet(append([]byte{command}, arg...))
	if err := b.out.Flush(); err != nil {
		b.t.Fatal(err)
	}
	b.in.Seq = b.out.Seq
	return b.recv()
}

// prepare prepares a statement; the number is as it is on the wire.
func (b *binaryClient) prepare(text string) (id []byte) {
	b.t.Helper()
	p := b.command(mysqlproto.ComStmtPrepare, []byte(text))
	if p[0] != mysqlproto.HeaderOK {
		b.t.Fatalf("%s: %q", text, p)
	}
	for _, n := range []uint16{binary.LittleEndian.Uint16(p[5:]), binary.LittleEndian.Uint16(p[7:])} {
		for i := range n {
			if b.recv(); i == n-1 {
				b.recv() // the end of them
			}
		}
	}
	return p[1:5]
}

// sentMoment is a parameter on the wire.
type sentMoment struct {
	typ   mysqlproto.Type
	bytes []byte
}

func dateParam(typ mysqlproto.Type, year uint16, rest ...byte) sentMoment {
	b := binary.LittleEndian.AppendUint16(nil, year)
	return sentMoment{typ, append([]byte{byte(2 + len(rest))}, append(b, rest...)...)}
}

func timeParam(bytes ...byte) sentMoment {
	return sentMoment{mysqlproto.TypeTime, append([]byte{byte(len(bytes))}, bytes...)}
}

// execute runs a statement and returns its one row, or its error.
func (b *binaryClient) execute(id []byte, params ...sentMoment) string {
	b.t.Helper()
	arg := append(append([]byte(nil), id...), 0, 1, 0, 0, 0)
	if len(params) > 0 {
		arg = append(append(arg, make([]byte, (len(params)+7)/8)...), 1)
		for _, p := range params {
			arg = append(arg, byte(p.typ), 0)
		}
		for _, p := range params {
			arg = append(arg, p.bytes...)
		}
	}
	p := b.command(mysqlproto.ComStmtExecute, arg)
	switch p[0] {
	case mysqlproto.HeaderOK:
		return "OK"
	case mysqlproto.HeaderErr:
		return fmt.Sprintf("%d", binary.LittleEndian.Uint16(p[1:]))
	}
	types := make([]byte, p[0])
	for i := range types {
		column := b.recv()
		types[i] = column[len(column)-6]
	}
	b.recv()
	var rows []string
	for {
		p := b.recv()
		if p[0] == mysqlproto.HeaderEOF && len(p) < 9 {
			return strings.Join(rows, ", ")
		}
		if p[0] == mysqlproto.HeaderErr {
			return fmt.Sprintf("%d", binary.LittleEndian.Uint16(p[1:]))
		}
		rows = append(rows, binaryRow(types, p))
	}
}

func binaryRow(types, p []byte) string {
	nulls := p[1:]
	p = p[1+(len(types)+9)/8:]
	var words []string
	for i, t := range types {
		if nulls[(i+2)/8]&(1<<((i+2)%8)) != 0 {
			words = append(words, "NULL")
			continue
		}
		take := func(n int) []byte { b := p[:n]; p = p[n:]; return b }
		switch mysqlproto.Type(t) {
		case mysqlproto.TypeTiny:
			words = append(words, strconv.Itoa(int(int8(take(1)[0]))))
		case mysqlproto.TypeLong:
			words = append(words, strconv.Itoa(int(int32(binary.LittleEndian.Uint32(take(4))))))
		case mysqlproto.TypeLongLong:
			words = append(words, strconv.Itoa(int(binary.LittleEndian.Uint64(take(8)))))
		case mysqlproto.TypeDouble:
			words = append(words, fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(take(8))), "e"))
		case mysqlproto.TypeDate, mysqlproto.TypeDatetime, mysqlproto.TypeTime, mysqlproto.TypeTimestamp:
			words = append(words, fmt.Sprintf("%d:% x", t, take(int(take(1)[0]))))
		default:
			words = append(words, string(take(int(take(1)[0]))))
		}
	}
	return strings.Join(words, " ")
}

// TestMomentsAreParameters: dates and times of the binary protocol are such, whatever is asked of them: as
// texts '2024-02-29' + 0 was 2024, and a DATETIME was compared with a TIME letter by letter. Each statement
// runs three times, the last ones by its plan if it has one.
func TestMomentsAreParameters(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "CREATE DATABASE d", "USE d",
		"CREATE TABLE t (id INT PRIMARY KEY, d DATE, m DATETIME(6), s TIMESTAMP NULL, h TIME(6), "+
			"v VARCHAR(40), n BIGINT, KEY (d), KEY (m), KEY (s), KEY (h), KEY (v), KEY (n))",
		"INSERT INTO t VALUES (1, '2024-02-29', '2024-02-29 01:02:03.000007', '2024-02-29 01:02:03',"+
			" '-34:00:01.5', '2024-2-29', 20240229),"+
			"(2, '2024-03-01', '2024-02-29', '2024-02-29 00:00:00', '01:02:03', '2024-02-29 01:02:03',"+
			" 10203)")
	c := newBinaryClient(t, s.Addr().String())
	c.execute(c.prepare("USE d"))
	day := dateParam(mysqlproto.TypeDate, 2024, 2, 29)
	midnight := dateParam(mysqlproto.TypeDatetime, 2024, 2, 29)
	second := dateParam(mysqlproto.TypeTimestamp, 2024, 2, 29, 1, 2, 3)
	micro := dateParam(mysqlproto.TypeDatetime, 2024, 2, 29, 1, 2, 3, 7, 0, 0, 0)
	back := timeParam(1, 1, 0, 0, 0, 10, 0, 1, 0x20, 0xa1, 7, 0)
	clock := timeParam(0, 0, 0, 0, 0, 1, 2, 3)
	for _, q := range []struct {
		text, want string
		params     []sentMoment
	}{
		{"SELECT ? + 0, ? + 0, ? + 0, ? + 0, ? + 0, ? + 0",
			"20240229 20240229000000 20240229010203 20240229010203.000007 -340001.500000 10203",
			[]sentMoment{day, midnight, second, micro, back, clock}},
		{"SELECT ?, ?, ?, ?, ?, ?", "10:e8 07 02 1d 12:e8 07 02 1d 12:e8 07 02 1d 01 02 03" +
			" 12:e8 07 02 1d 01 02 03 07 00 00 00 11:01 01 00 00 00 0a 00 01 20 a1 07 00 11:00 00 00 00" +
			" 00 01 02 03",
			[]sentMoment{day, midnight, second, micro, back, clock}},
		{"SELECT CONCAT(?), CONCAT(?), CONCAT(?), CONCAT(?), CONCAT(?), CONCAT(?)",
			"2024-02-29 2024-02-29 00:00:00 2024-02-29 01:02:03 2024-02-29 01:02:03.000007" +
				" -34:00:01.500000 01:02:03",
			[]sentMoment{day, midnight, second, micro, back, clock}},
		{"SELECT DATE_ADD(TIMESTAMP(?), INTERVAL 1 DAY), DATE_ADD(?, INTERVAL 1 DAY), DATE_ADD(?," +
			" INTERVAL 1 HOUR)",
			"12:e8 07 03 01 10:e8 07 03 01 11:00 00 00 00 00 02 02 03",
			[]sentMoment{day, day, clock}},
		{"SELECT ? < ?, ? = ?, ? > ?", "1 1 1", []sentMoment{day, micro, day, midnight, clock, back}},
		{"SELECT ? = '2024-2-29', ? = 20240229, ? = '1:2:3', ? = 10203",
			"1 1 1 1", []sentMoment{day, day, clock, clock}},
		{"SELECT YEAR(?), HOUR(?), MICROSECOND(?), TIME_TO_SEC(?), TIMEDIFF(?, ?)",
			"2024 34 7 -122401 11:00 01 00 00 00 0b 02 04 20 a1 07 00",
			[]sentMoment{day, back, micro, back, clock, back}},
		{"SELECT id FROM t WHERE d = ? ORDER BY id", "1", []sentMoment{day}},
		{"SELECT id FROM t WHERE d = ? ORDER BY id", "1", []sentMoment{midnight}},
		{"SELECT id FROM t WHERE m = ? ORDER BY id", "2", []sentMoment{day}},
		{"SELECT id FROM t WHERE m = ? ORDER BY id", "1", []sentMoment{micro}},
		{"SELECT id FROM t WHERE m >= ? ORDER BY id", "1", []sentMoment{second}},
		{"SELECT id FROM t WHERE s = ? ORDER BY id", "1", []sentMoment{second}},
		{"SELECT id FROM t WHERE s BETWEEN ? AND ? ORDER BY id", "1, 2", []sentMoment{day, micro}},
		{"SELECT id FROM t WHERE h = ? ORDER BY id", "1", []sentMoment{back}},
		{"SELECT id FROM t WHERE h > ? ORDER BY id", "2", []sentMoment{back}},
		{"SELECT id FROM t WHERE v = ? ORDER BY id", "2", []sentMoment{second}},
		{"SELECT id FROM t WHERE n = ? ORDER BY id", "1", []sentMoment{day}},
		{"SELECT id FROM t WHERE n = ? ORDER BY id", "2", []sentMoment{clock}},
		{"SELECT id FROM t WHERE d IN (?, ?) ORDER BY id",
			"1, 2", []sentMoment{day, dateParam(mysqlproto.TypeDate, 2024, 3, 1)}},
		{"SELECT COUNT(*) FROM t WHERE DATE_ADD(d, INTERVAL 1 DAY) > ?", "2", []sentMoment{day}},
		{"SELECT id, ? + id FROM t WHERE d >= ? ORDER BY id LIMIT 1",
			"1 20240230", []sentMoment{day, day}},
		{"INSERT INTO t (id, d, m, s, h, v, n) VALUES (3, ?, ?, ?, ?, ?, ?)", "OK",
			[]sentMoment{day, micro, second, back, micro, second}},
		{"INSERT INTO t (id, d) VALUES (4, ?)", "1292",
			[]sentMoment{dateParam(mysqlproto.TypeDate, 2023, 2, 29)}},
		{"INSERT INTO t (id, d) VALUES (4, ?)", "1292",
			[]sentMoment{dateParam(mysqlproto.TypeDate, 0, 0, 0)}},
		{"UPDATE t SET h = ?, v = ?, n = ? WHERE d = ? AND id = 3", "OK",
			[]sentMoment{clock, back, day, day}},
		{"SELECT d, m, s, h, v, n FROM t WHERE id = 3",
			"10:e8 07 02 1d 12:e8 07 02 1d 01 02 03 07 00 00 00" +
				" 7:e8 07 02 1d 01 02 03 11:00 00 00 00 00 01 02 03 -34:00:01.500000 20240229", nil},
	} {
		id := c.prepare(q.text)
		for i := range 3 {
			if strings.HasPrefix(q.text, "INSERT") && q.want == "OK" {
				c.execute(c.prepare("DELETE FROM t WHERE id = 3"))
			}
			if got := c.execute(id, q.params...); got != q.want {
				t.Errorf("run %d of %s: %s, want %s", i, q.text, got, q.want)
			}
		}
	}
}
