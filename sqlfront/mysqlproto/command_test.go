package mysqlproto

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"math"
	"reflect"
	"strings"
	"testing"
)

func never(int) bool { return false }

func execute(flags byte, tail ...byte) Execute {
	e, err := ParseExecute(append([]byte{7, 0, 0, 0, flags, 1, 0, 0, 0}, tail...))
	if err != nil || e.Statement != 7 {
		panic("head of an EXECUTE")
	}
	return e
}

// TestParams: each type's value, signed and not.
func TestParams(t *testing.T) {
	double := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1.5e300))
	float := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	for _, c := range []struct {
		typ      Type
		unsigned bool
		value    []byte
		want     Param
	}{
		{TypeTiny, false, []byte{0xff}, Param{KindInt, "-1"}}, {TypeTiny, true, []byte{0xff}, Param{KindInt,
			"255"}},
		{TypeShort, false, []byte{0, 0x80}, Param{KindInt, "-32768"}}, {TypeShort, true, []byte{0, 0x80},
			Param{KindInt, "32768"}},
		{TypeLong, false, []byte{0, 0, 0, 0x80}, Param{KindInt, "-2147483648"}}, {TypeInt24, true, []byte{1,
			0, 0, 0}, Param{KindInt, "1"}},
		{TypeLongLong, false, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, Param{KindInt, "-2"}},
		{TypeLongLong, true, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, Param{KindInt,
			"18446744073709551615"}},
		{TypeYear, false, []byte{0xe7, 7}, Param{KindInt, "2023"}},
		{TypeDouble, false, double, Param{KindFloat, "-1.5e+300"}}, {TypeFloat, false, float, Param{KindFloat,
			"0.5"}},
		{TypeDouble, false, nan, Param{KindFloat, ""}}, {TypeNull, false, nil, Param{}},
		{TypeVarString, false, []byte("\x02hi"), Param{KindText, "hi"}}, {TypeBlob, false, []byte("\x00"),
			Param{KindBytes, ""}},
		{TypeNewDecimal, false, []byte("\x041.50"), Param{KindDecimal, "1.50"}},
		{TypeDecimal, false, []byte("\x03-12"), Param{KindDecimal, "-12"}},
		{TypeNewDecimal, false, []byte("\x02-."), Param{KindBytes, "-."}},
		{TypeNewDecimal, false, []byte("\x031e9"), Param{KindBytes, "1e9"}},
		{TypeNewDecimal, false, []byte("\x04--.5"), Param{KindBytes, "--.5"}},
		{TypeNewDecimal, false, append([]byte{66}, strings.Repeat("7", 66)...), Param{KindBytes,
			strings.Repeat("7", 66)}},
		{TypeDate, false, []byte{4, 0xe7, 7, 1, 5}, Param{KindDate, "2023-01-05"}},
		{TypeDate, false, []byte{0}, Param{KindDate, "0000-00-00"}},
		{TypeDate, false, []byte{7, 0xe8, 7, 2, 29, 1, 2, 3}, Param{KindDate, "2024-02-29"}},
		{TypeDate, false, []byte{4, 0xe7, 7, 2, 29}, Param{KindBytes, "2023-02-29"}},
		{TypeDate, false, []byte{4, 0xe7, 7, 0, 0}, Param{KindBytes, "2023-00-00"}},
		{TypeDate, false, []byte{4, 0x10, 0x27, 1, 1}, Param{KindBytes, "10000-01-01"}},
		{TypeDatetime, false, []byte{0}, Param{KindDatetime, "0000-00-00 00:00:00"}},
		{TypeDatetime, false, []byte{4, 0xe7, 7, 12, 31}, Param{KindDatetime, "2023-12-31 00:00:00"}},
		{TypeDatetime, false, []byte{7, 0xe7, 7, 12, 31, 23, 5, 9}, Param{KindDatetime,
			"2023-12-31 23:05:09"}},
		{TypeDatetime, false, []byte{7, 0xe7, 7, 12, 31, 24, 0, 0}, Param{KindBytes, "2023-12-31 24:00:00"}},
		{TypeDatetime, false, []byte{11, 0xe7, 7, 12, 31, 1, 0, 0, 0, 0, 0, 0}, Param{KindDatetime,
			"2023-12-31 01:00:00"}},
		// 500 microseconds are .000500: without the zeros before them they were half a second.
		{TypeTimestamp, false, []byte{11, 1, 0, 1, 1, 0, 0, 0, 0xf4, 1, 0, 0}, Param{KindDatetime,
			"0001-01-01 00:00:00.000500"}},
		{TypeTimestamp, false, []byte{11, 1, 0, 1, 1, 0, 0, 0, 0x40, 0x42, 0xf, 0}, Param{KindBytes,
			"0001-01-01 00:00:00.1000000"}},
		{TypeTime, false, []byte{0}, Param{KindTime, "00:00:00"}},
		{TypeTime, false, []byte{8, 1, 34, 0, 0, 0, 22, 59, 59}, Param{KindTime, "-838:59:59"}},
		{TypeTime, false, []byte{8, 1, 34, 0, 0, 0, 23, 0, 0}, Param{KindTime, "-838:59:59"}},
		{TypeTime, false, []byte{8, 0, 255, 255, 255, 255, 255, 0, 0}, Param{KindTime, "838:59:59"}},
		{TypeTime, false, []byte{8, 0, 0, 0, 0, 0, 1, 60, 0}, Param{KindBytes, "01:60:00"}},
		{TypeTime, false, []byte{12, 0, 0, 0, 0, 0, 1, 2, 3, 7, 0, 0, 0}, Param{KindTime,
			"01:02:03.000007"}},
	} {
		flag := byte(0)
		if c.unsigned {
			flag = 0x80
		}
		e := execute(0, append([]byte{0, 1, byte(c.typ), flag}, c.value...)...)
		if _, err := e.Bind(1, nil, never, 0, nil); err != nil || len(e.Params) != 1 ||
			e.Params[0] != c.want {
			t.Errorf("type %d of % x: %v, %v, want %v", c.typ, c.value, e.Params, err, c.want)
		}
		for short := range len(c.value) {
			e := execute(0, append([]byte{0, 1, byte(c.typ), flag}, c.value[:short]...)...)
			if _, err := e.Bind(1, nil, never, 0, nil); err != ErrMalformed {
				t.Errorf("type %d of % x, cut to %d bytes: %v", c.typ, c.value, short, err)
			}
		}
	}
}

// TestBind: types of an earlier EXECUTE hold, unless one that fails has brought others; NULLs and what was
// sent in pieces have no value.
func TestBind(t *testing.T) {
	e := execute(0, 2, 1, byte(TypeTiny), 0, byte(TypeTiny), 0, 5)
	types, err := e.Bind(2, nil, never, 0, nil)
	if want := []Param{{KindInt, "5"}, {}}; err != nil || !reflect.DeepEqual(e.Params, want) {
		t.Errorf("%v, %v, want %v", e.Params, err, want)
	}
	e = execute(0, 0, 0, 6, 7)
	if _, err := e.Bind(2, types, never, 0, nil); err != nil || e.Params[1].Text != "7" {
		t.Errorf("without types: %v, %v", e.Params, err)
	}
	e = execute(0, 0, 1, byte(TypeLongLong), 0, byte(TypeTiny), 0, 1)
	if after, err := e.Bind(2, types, never, 0, nil); err != ErrMalformed || !reflect.DeepEqual(after,
		types) {
		t.Errorf("half a number: %v, types %v", err, after)
	}
	e = execute(0, 0, 0, 9)
	if _, err := e.Bind(2, types, func(i int) bool { return i == 0 }, 0, nil); err != nil ||
		e.Params[1].Text != "9" || e.Params[0].Kind != KindNull {
		t.Errorf("the first in pieces: %v, %v", e.Params, err)
	}
	for what, tail := range map[string][]byte{"nothing": {}, "no flag": {0}, "half of the types": {0, 1, 8, 0,
		8}, "no types ever": {0, 0, 1, 1}} {
		e := execute(0, tail...)
		if _, err := e.Bind(2, nil, never, 0, nil); err != ErrArguments {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, tail := range [][]byte{{}, {1}, {0}} { // a statement without parameters, with and without the flag
		e := execute(0, tail...)
		if _, err := e.Bind(0, nil, never, 0, nil); err != nil || len(e.Params) != 0 {
			t.Errorf("no parameters, % x: %v", tail, err)
		}
	}
}

// TestQueryAttributes: attributes of a text and of an EXECUTE, which are parameters beyond those of the
// statement and have names.
func TestQueryAttributes(t *testing.T) {
	b := []byte{2, 1, 2, 1, byte(TypeVarString), 0, 1, 'a', byte(TypeTiny), 0, 1, 'b', 2, 'h', 'i'}
	q, err := ParseQuery(append(b, "select 1"...), ClientQueryAttributes)
	if want := []Attribute{{"a", "hi"}}; err != nil || q.Text != "select 1" ||
		!reflect.DeepEqual(q.Attributes, want) {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := ParseQuery([]byte("\x00\x01select 2"), ClientQueryAttributes); err != nil ||
		q.Text != "select 2" {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := ParseQuery([]byte("\x00\x01select 2"), 0); err != nil || q.Text != "\x00\x01select 2" {
		t.Errorf("from a client that has none: %+v, %v", q, err)
	}
	e := execute(ParameterCountAvailable, 2, 0, 1, byte(TypeTiny), 0, 0, byte(TypeTiny), 0, 1, 'n', 3, 4)
	types, err := e.Bind(1, nil, never, ClientQueryAttributes, nil)
	if err != nil || len(types) != 1 || !reflect.DeepEqual(e.Params, []Param{{KindInt, "3"}}) ||
		!reflect.DeepEqual(e.Attributes, []Attribute{{"n", "4"}}) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestLogins: what real clients send.
func TestLogins(t *testing.T) {
	head := func(capabilities uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, capabilities|ClientProtocol41)
		return append(append(b, 0, 0, 0, 1, 45), make([]byte, 23)...)
	}
	b := head(ClientSecureConnection | ClientPluginAuth | ClientConnectWithDB | ClientConnectAttrs |
		ClientPluginAuthLenenc | ClientZstd)
	b = append(b, "me\x00\x03xyztest\x00caching_sha2_password\x00\x08\x03_os\x03abc\x07"...)
	l, err := ParseLogin(b)
	want := Login{
		Capabilities: binary.LittleEndian.Uint32(b), MaxPacket: 1 << 24, Charset: 45, User: "me",
		Answer: []byte("xyz"), Database: "test",
		Plugin: CachingSHA2, Attributes: []Attribute{{"_os", "abc"}},
	}
	if err != nil || !reflect.DeepEqual(*l, want) {
		t.Errorf("%+v, %v\nwant %+v", l, err, want)
	}
	if l, err := ParseLogin(append(head(0), "old\x00pass\x00"...)); err != nil || l.User != "old" ||
		string(l.Answer) != "pass" || l.Plugin != "" {
		t.Errorf("%+v, %v", l, err)
	}
	if _, ok := ParseTLSRequest(head(ClientSSL)); !ok {
		t.Error("a request for TLS is not seen")
	}
	for _, b := range [][]byte{nil, make([]byte, 40), head(0), append(head(ClientSecureConnection),
		"u\x00\x09abc"...)} {
		if l, err := ParseLogin(b); err != ErrMalformed {
			t.Errorf("%q: %+v, %v", b, l, err)
		}
	}
	u, err := ParseChangeUser([]byte("me\x00\x02xytest\x00\xff\x00mysql_native_password\x00"),
		ClientPluginAuth)
	if err != nil || u.User != "me" || u.Database != "test" || u.Charset != 255 ||
		u.Plugin != NativePassword {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestPasswords: what a client computes is taken, and nothing else.
func TestPasswords(t *testing.T) {
	salt, err := NewSalt()
	if err != nil || len(salt) != SaltLength {
		t.Fatal(salt, err)
	}
	one := sha1.Sum([]byte("secret"))
	stored := sha1.Sum(one[:])
	answer := sha1.Sum(append(append([]byte{}, salt...), stored[:]...))
	for i := range answer {
		answer[i] ^= one[i]
	}
	if !VerifyNative(answer[:], salt, stored[:]) || VerifyNative(answer[:19], salt, stored[:]) ||
		VerifyNative(nil, salt, stored[:]) {
		t.Error("mysql_native_password")
	}
	answer[3]++
	if VerifyNative(answer[:], salt, stored[:]) {
		t.Error("mysql_native_password takes what is wrong")
	}
	once := sha256.Sum256([]byte("secret"))
	known := sha256.Sum256(once[:])
	long := sha256.Sum256(append(append([]byte{}, known[:]...), salt...))
	for i := range long {
		long[i] ^= once[i]
	}
	if !VerifySHA2(long[:], salt, known[:]) || VerifySHA2(long[:31], salt, known[:]) {
		t.Error("caching_sha2_password")
	}
	var key SHA2Key
	public, err := key.Public()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(public)
	k, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	password := []byte("secret\x00")
	for i := range password {
		password[i] ^= salt[i]
	}
	sent, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, k.(*rsa.PublicKey), password, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := key.Decrypt(sent, salt); !ok || string(got) != "secret\x00" {
		t.Errorf("by the key: %q, %v", got, ok)
	}
	if _, ok := key.Decrypt(sent[1:], salt); ok {
		t.Error("half of what was sent is taken")
	}
}

// TestAnswers: the layout of what the server says.
func TestAnswers(t *testing.T) {
	const rows, id, status, warnings, info, changed = 300, 5, StatusAutocommit, 2, "Rows matched: 1",
		"\x01\x05\x04test"
	o := OK{Affected: rows, InsertID: id, Status: status, Warnings: warnings, Info: info}
	if got := string(o.Append(nil, 0)); got != "\x00\xfc\x2c\x01\x05\x02\x00\x02\x00\x0fRows matched: 1" {
		t.Errorf("%q", got)
	}
	o = OK{Status: status, Changes: AppendSchemaChange(nil, "test"), OfRows: true}
	if got := string(o.Append(nil,
		ClientSessionTrack)); got != "\xfe\x00\x00\x02\x40\x00\x00\x00\x07"+changed {
		t.Errorf("%q", got)
	}
	if got := string(o.Append(nil, 0)); got != "\xfe\x00\x00\x02\x00\x00\x00" {
		t.Errorf("to a client that does not track: %q", got)
	}
	if got := string(AppendVariableChange(nil, "autocommit", "OFF")); got != "\x00\x0f\x0aautocommit\x03OFF" {
		t.Errorf("%q", got)
	}
	row := AppendNulls(nil, 7)
	SetNull(row, 0)
	SetNull(row, 6)
	if string(row) != "\x00\x04\x01" {
		t.Errorf("% x", row)
	}
	for _, c := range []struct{ got, want []byte }{
		{AppendDatetime(nil, 0, 0, 0, 0, 0, 0, 0), []byte{0}}, {AppendDatetime(nil, 2023, 1, 2, 0, 0, 0, 0),
			[]byte{4, 0xe7, 7, 1, 2}},
		{AppendDatetime(nil, 2023, 1, 2, 3, 4, 5, 0), []byte{7, 0xe7, 7, 1, 2, 3, 4, 5}},
		{AppendDatetime(nil, 2023, 1, 2, 0, 0, 0, 9), []byte{11, 0xe7, 7, 1, 2, 0, 0, 0, 9, 0, 0, 0}},
		{AppendTime(nil, true, 838, 59, 59, 0), []byte{8, 1, 34, 0, 0, 0, 22, 59, 59}}, {AppendTime(nil, true,
			0, 0, 0, 0), []byte{0}},
	} {
		if string(c.got) != string(c.want) {
			t.Errorf("% x, want % x", c.got, c.want)
		}
	}
}

// FuzzDecoders decodes junk as whatever a client sends: an error or a message, no panic, and no more
// values than there are bytes.
func FuzzDecoders(f *testing.F) {
	f.Add([]byte("\x02\x01\x02\x01\xfd\x00\x01a\x01\x00\x01b\x02hiselect 1"), uint16(2),
		uint32(ClientQueryAttributes))
	f.Add([]byte("\x07\x00\x00\x00\x08\x01\x00\x00\x00\x02\x00\x01\x01\x00\x00\x01\x00\x01n\x03\x04"),
		uint16(1), uint32(ClientQueryAttributes))
	f.Add([]byte("\x07\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x0c\x00\x0b"+
		"\x01\x00\x01\x01\x00\x00\x00\xf4\x01\x00\x00"), uint16(1), uint32(0))
	f.Add([]byte("me\x00\x02xytest\x00\xff\x00mysql_native_password\x00\x02\x01a"), uint16(0),
		uint32(ClientPluginAuth|ClientConnectAttrs))
	f.Add(append([]byte{0, 2, 0xb8, 5, 0, 0, 0, 1, 45}, make([]byte, 40)...), uint16(0), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, n uint16, capabilities uint32) {
		if q, err := ParseQuery(b, capabilities); err == nil && len(q.Attributes)+len(q.Text) > len(b) {
			t.Errorf("%d attributes and %d bytes of text in %d bytes", len(q.Attributes), len(q.Text), len(b))
		}
		if e, err := ParseExecute(b); err == nil {
			for range 2 { // with the types of the first
				types, err := e.Bind(int(n), nil, func(i int) bool { return i%3 == 2 }, capabilities, nil)
				if err == nil && len(e.Params) != int(n) {
					t.Errorf("%d parameters of %d", len(e.Params), n)
				}
				if _, err := e.Bind(int(n), types, never, capabilities, nil); err == nil &&
					len(e.Params) != int(n) {
					t.Errorf("%d parameters of %d", len(e.Params), n)
				}
			}
		}
		if l, err := ParseLogin(b); err == nil && len(l.User)+len(l.Answer)+len(l.Attributes) > len(b) {
			t.Errorf("%+v in %d bytes", l, len(b))
		}
		if u, err := ParseChangeUser(b, capabilities); err == nil &&
			len(u.User)+len(u.Answer)+len(u.Attributes) > len(b) {
			t.Errorf("%+v in %d bytes", u, len(b))
		}
		_, _ = ParseTLSRequest(b)
		_, _ = ParseLongData(b)
		_, _, _ = ParseFetch(b)
		_, _ = ParseStatement(b)
		_, _, _ = ParseFieldList(b)
	})
}
