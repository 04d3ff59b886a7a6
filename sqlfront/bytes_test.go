package sqlfront_test

import "testing"

// TestFunctionsOfBytes: to functions of texts a character of bytes is a byte. They were read as UTF-8, and
// what is none was an error, nothing, or U+FFFD, which was stored.
func TestFunctionsOfBytes(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table b (x varbinary(20), y blob)",
		"insert into b values (x'FFFE80C3A9', x'C3A9FF')")
	script{
		{"select hex(left(unhex('FFFE'), 1)), hex(right(x, 2)), hex(reverse(x)), hex(substring(x, 2, 3)), " +
			"hex(mid(x, 4)) from b",
			"FF C3A9 A9C380FEFF FE80C3 C3A9"},
		{"select hex(repeat(y, 2)), hex(replace(x, y'', 'z')) from b", "error 1064"},
		{"select hex(repeat(y, 2)), hex(replace(x, x'FE', 'zé')), hex(ltrim(concat(' ', y))), hex(elt(2, " +
			"'a', y)) from b",
			"C3A9FFC3A9FF FF7AC3A980C3A9 C3A9FF C3A9FF"},
		{"select hex(substring_index(x, x'80', 1)), hex(concat_ws(x'FD', x'FF', y, null)), " +
			"hex(upper(concat(y, 'a'))), hex(lower(x)) from b",
			"FFFE FFFDC3A9FF C3A9FF61 FFFE80C3A9"},
		{"create table k as select left(x, 1) l, reverse(y) r from b", ""},
		{"select hex(l), hex(r) from k", "FF FFA9C3"},
		{"select left('éa', 1), reverse('éa'), upper('é'), repeat('é', 2), left(null, 1)", "é aé É éé NULL"},
	}.run(t, c)
}

// TestCharactersOfUtf8mb3: a column of utf8mb3 has no characters of four bytes.
func TestCharactersOfUtf8mb3(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table u (a varchar(10) character set "+
		"utf8mb3)", "insert into u values ('é€')")
	script{
		{"insert into u values ('a😀')", "error 1366"},
		{"update u set a = '😀'", "error 1366"},
		{"insert ignore into u values ('a😀b')", ""},
		{"select * from u", "é€;a?b"},
		{"select convert('a😀' using utf8mb3)", "a?"},
	}.run(t, c)
}
