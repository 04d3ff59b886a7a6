package sqlfront_test

import (
	"strings"
	"testing"
)

// TestCharacterSets: a column has the characters of its character set and no others, and what is made of them
// is text.
func TestCharacterSets(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a varchar(10) character set latin1, b varchar(10) character set ascii, c varchar(5))",
		"insert into t values (1, 'é€', 'e', '日本')")
	want(t, c, "select a, hex(a), b, c, hex(c) from t", "é€ E980 e 日本 E697A5E69CAC")
	for _, q := range []string{"insert into t values (2, '日', 'x', 'x')", "insert into t values (2, 'x', 'é', 'x')", "update t set a = '日'", "update t set b = 'é'",
		"insert into t values (1, 'x', 'x', 'x') on duplicate key update b = 'é'"} {
		if got := results(t, c, q); got != "error 1366" {
			t.Errorf("%s: %s", q, got)
		}
	}
	run(t, c, "insert ignore into t values (2, 'x日', 'é', 'toolong')")
	if got := results(t, c, "show warnings"); got != "Warning 1265 Data truncated for column 'c' at row 1;"+
		"Warning 1366 Incorrect string value: '\\xE6\\x97\\xA5' for column 'a' at row 1;Warning 1366 Incorrect string value: '\\xC3\\xA9' for column 'b' at row 1" {
		t.Errorf("warnings: %s", got)
	}
	want(t, c, "select a, b, c, hex(a) from t where id = 2", "x? ? toolo 783F")
	run(t, c, "insert ignore into t values (2, 'y', 'y', 'y')")
	if got := results(t, c, "show warnings"); got != "Warning 1062 Duplicate entry '2' for key 't.PRIMARY'" {
		t.Errorf("warnings: %s", got)
	}
	run(t, c, "set sql_mode = ''", "update t set a = '日z' where id = 2")
	want(t, c, "select a from t where id = 2", "?z")
	want(t, c, "select convert(5 using utf8mb4), convert(1.5 using latin1), convert(null using latin1), convert('日x' using latin1), hex(convert('é日' using latin1)), "+
		"convert(0xe9 using latin1), hex(convert('é' using utf16)), convert(0xe9 using utf8mb4)", "5 1.5 NULL ?x E93F é 00E9 NULL")
}

// TestClientCharacterSets: after SET NAMES a client's statements, values and results are in its set, also in
// sets that no column can have.
func TestClientCharacterSets(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int auto_increment primary key, a varchar(10))")
	for _, s := range []struct{ set, bytes, hex, unicode string }{
		{"latin1", "\xe9\x80", "E980", "é€"}, {"koi8r", "\xd1", "D18F", "я"}, {"cp1251", "\xff", "D18F", "я"}, {"latin2", "\xb3", "C582", "ł"},
		{"gbk", "\xd6\xd0", "E4B8AD", "中"}, {"big5", "\xa4\xa4", "E4B8AD", "中"}, {"sjis", "\x83\x5c", "E382BD", "ソ"}, // 5C is a backslash
	} {
		run(t, c, "set names "+s.set, "insert into t (a) values ('"+s.bytes+"')", "select 1")
		if _, err := c.ExecContext(t.Context(), "insert into t (a) values (?)", s.bytes); err != nil {
			t.Errorf("%s: %v", s.set, err)
		}
		want(t, c, "select distinct a, hex('"+s.bytes+"') from t", s.bytes+" "+s.hex)
		if got := results(t, c, "select nosuch"+s.bytes); got != "error 1054" {
			t.Errorf("%s: %s", s.set, got)
		}
		run(t, c, "set names utf8mb4")
		want(t, c, "select distinct a from t", s.unicode)
		run(t, c, "delete from t")
	}
	run(t, c, "insert into t (a) values ('я日')", "set character_set_results = latin1")
	want(t, c, "select a from t", "??")
	run(t, c, "set character_set_results = utf16")
	want(t, c, "select a from t", "\x04\x4f\x65\xe5")
	run(t, c, "set names utf8mb4")
	for q, code := range map[string]string{
		"set names hp8": "1115", "set names nosuch": "1115", "set names utf16": "1231", "set character_set_client = ucs2": "1231",
		"set names koi8r collate koi8r_bin": "1273", "set collation_connection = cp1251_general_ci": "1273", "set character_set_connection = gbk": "1115",
		"set global character_set_server = gbk": "1115", "create database e character set koi8r": "1115", "create table e (a char character set gbk)": "1115",
		"select convert('x' using cp1251)": "1115", "select convert(a using sjis) from t": "1115", "select char(65 using big5)": "1115",
	} {
		if got := results(t, c, q); got != "error "+code {
			t.Errorf("%s: %s, want %s", q, got, code)
		}
	}
	want(t, c, "select 1", "1")
}

// TestTextsOfSeveralStatementsInClientSets: each statement of a text is decoded once, and found
// where it begins, also behind a character whose second byte is a backslash.
func TestTextsOfSeveralStatementsInClientSets(t *testing.T) {
	pool := newDatabase(t).serve().open("root", "", "?multiStatements=true")
	pool.SetMaxOpenConns(1)
	run(t, pool, "create database d", "use d",
		"create table t (id int auto_increment primary key, a varchar(10))")
	for _, s := range []struct{ set, bytes, hex string }{
		{"latin1", "\xe9", "C3A9"}, {"gbk", "\xd6\xd0", "E4B8AD"}, {"gbk", "\xd5\x5c", "E8AAA0"},
		{"sjis", "\x83\x5c", "E382BD"}, {"cp1251", "\xff", "D18F"}, // 5C is a backslash
	} {
		one := "insert into t (a) values ('" + s.bytes + "')"
		run(t, pool, "set names "+s.set, one+"; "+one+"; begin; "+one+"; commit", "set names utf8mb4")
		want(t, pool, "select hex(a), count(*) from t group by a", s.hex+" 3")
		run(t, pool, "delete from t", "set names utf8mb4")
	}
}

// TestFailedPrepareDeallocates: the name of a PREPARE that fails is that of no statement, and not of the
// one before.
func TestFailedPrepareDeallocates(t *testing.T) {
	pool := newDatabase(t).serve().open("root", "", "")
	pool.SetMaxOpenConns(1)
	for bad, code := range map[string]string{"'nonsense'": "1064", "'select * from mysql.nosuch'": "1146",
		"@none": "1064", "'prepare x from ''select 1'''": "1295"} {
		run(t, pool, "prepare s from 'select 42'")
		want(t, pool, "execute s", "42")
		if got := results(t, pool, "prepare s from "+bad); got != "error "+code {
			t.Errorf("prepare from %s: %s, want error %s", bad, got, code)
		}
		if got := results(t, pool, "execute s"); got != "error 1243" {
			t.Errorf("execute after a prepare from %s: %s, want error 1243", bad, got)
		}
	}
	run(t, pool, "prepare s from 'select 43'", "prepare s from 'select 44'")
	want(t, pool, "execute s", "44")
}

// TestBytesOfTexts: a text of another character set than UTF-8 has the bytes of that, to whatever function
// asks for them; a cast keeps the set, and bytes that are no text in it are 1300.
func TestBytesOfTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (a varchar(9) character set latin1, b varbinary(9))",
		"insert into t values ('ä', x'e4')")
	for _, a := range []string{
		"_latin1 x'e4'", "_latin1 0xe4", "_latin1 b'11100100'", "_latin1 x'e4' collate latin1_bin", "a",
		"convert('ä' using latin1)", "cast('ä' as char character set latin1)", "convert(x'e4' using latin1)",
		"cast(x'e4' as char character set latin1)", "cast('äb' as char(1) character set latin1)",
	} {
		q := "select $a, hex($a), length($a), char_length($a), bit_length($a), ord($a), ascii($a), " +
			"charset($a), hex(cast($a as binary)), hex(upper($a)), hex(convert($a using utf8mb4)), " +
			"md5($a) = md5(x'e4'), sha1($a) = sha1(x'e4'), sha2($a, 256) = sha2(b, 256), " +
			"crc32($a) = crc32(b), to_base64($a), compress($a) = compress(b), " +
			"aes_encrypt($a, 'k') = aes_encrypt(b, 'k') from t"
		want(t, c, strings.ReplaceAll(q, "$a", a),
			"ä E4 1 1 8 228 228 latin1 E4 C4 C3A4 1 1 1 1 5A== 1 1")
	}
	want(t, c, "select hex(_utf8mb4 x'f09f9880'), ord(_utf8mb4 x'f09f9880'), ord(_utf16 x'00e4'), "+
		"ord(x'e4'), hex(_utf16 x'e4'), hex(_binary x'ff'), crc32(x'ff'), crc32(1.5) = crc32('1.5'), "+
		"ascii(7), ord('')", "F09F9880 4036991104 228 228 00E4 FF 4278190080 1 55 0")
	run(t, c, "create view v as select _latin1 x'e4' x, cast('ä' as char(3) character set latin1) y")
	want(t, c, "select hex(x), hex(y) from v", "E4 E4")
	for _, q := range []string{"_utf8mb3 x'f09f9880'", "_utf8mb4 x'ff'", "_utf16 x'd83d'", "_utf8mb3 x'ff'"} {
		if got := results(t, c, "select hex("+q+")"); got != "error 1300" {
			t.Errorf("%s: %s", q, got)
		}
	}
	for _, set := range []string{"utf8mb3", "utf8mb4"} { // which is NULL with a warning, as in MySQL
		want(t, c, "select hex(convert(x'ff' using "+set+"))", "NULL")
		want(t, c, "show warnings", "Warning 1300 Invalid "+set+" character string: 'FF'")
	}
}
