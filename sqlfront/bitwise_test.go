package sqlfront_test

import "testing"

// TestBitsOfUnsigned: &, |, ^, << and >> have 64 bits; ~3 & 7 was 0. The expected values are MariaDB's.
func TestBitsOfUnsigned(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, u bigint unsigned, i bigint, d decimal(30,2), f double, s varchar(40), b bit(64))",
		"insert into t values (1, 18446744073709551615, -1, 18446744073709551615.4, -3.7, '18446744073709551615', 18446744073709551615),"+
			"(2, 9223372036854775808, -9223372036854775808, -5.5, 1e30, '-7', 9223372036854775808), (3, 7, 7, 7.5, 7.5, '7.5', 7), (4, null, null, null, null, null, null)")
	for q, expect := range map[string]string{
		"select ~3 & 7, ~0 & 1, ~0 | 1, ~0 ^ 1, ~0 << 1, ~0 >> 1, ~~5":                          "4 1 18446744073709551615 18446744073709551614 18446744073709551614 9223372036854775807 5",
		"select -1 & 7, -1 | 1, -1 ^ 5, -1 >> 1, -1 << 1, ~-5":                                  "7 18446744073709551615 18446744073709551610 9223372036854775807 18446744073709551614 4",
		"select 1 << 63, 1 << 64, 1 << -1, 1 >> -1, 5 >> 64":                                    "9223372036854775808 0 0 0 0",
		"select 3.5 & 7, 2.5 << 1, '3abc' & 7, 1e30 & 7, -1e30 & 7, 1e19 & 9223372036854775807": "4 6 3 7 0 776627963145224192",
		"select ~3 & 7 = 4, ~3 + 0, -(~3 & 7), ~3 & 7 + 1, 5 & null":                            "1 18446744073709551612 -4 8 NULL",
		"select u & 7, u | 1, u ^ 5, u << 1, u >> 1, ~u from t where id = 1":                    "7 18446744073709551615 18446744073709551610 18446744073709551614 9223372036854775807 0",
		"select d & 7, d | 1, d ^ 5, d << 1, d >> 1, ~d from t where id = 2":                    "2 18446744073709551611 18446744073709551615 18446744073709551604 9223372036854775805 5",
		"select d & 7, d >> 1 from t where id = 1":                                              "7 9223372036854775807",
		"select f & 7, f | 1, f ^ 5, f << 1, f >> 1, ~f from t where id = 1":                    "4 18446744073709551613 18446744073709551609 18446744073709551608 9223372036854775806 3",
		"select f & 7, ~f from t where id in (2, 3) order by id":                                "7 0; 0 18446744073709551607",
		"select s & 7, s >> 1, ~s from t where id < 4 order by id":                              "7 9223372036854775807 0; 1 9223372036854775804 6; 0 4 18446744073709551607",
		"select b & 7, b | 1, b >> 1 from t where id < 3 order by id":                           "7 18446744073709551615 9223372036854775807; 0 9223372036854775809 4611686018427387904",
		"select count(*) from t where u & 9223372036854775808 = 9223372036854775808":            "2",
		"select u & i, u ^ i from t where id = 2":                                               "9223372036854775808 0",
		"select group_concat(u order by u) from t where (u & ~3) > 5":                           "9223372036854775808,18446744073709551615",
	} {
		want(t, c, q, expect)
	}
	want(t, c, "select ? & 7, u & ? from t where id = 1", "7 18446744073709551615", uint64(1<<64-1), uint64(1<<64-1))
	run(t, c, "update t set u = u & ~3 where id = 1", "create table g (u bigint unsigned, v bigint unsigned as (u & 18446744073709551614) stored, check (u & 4))", "insert into g (u) select u from t where id = 1")
	want(t, c, "select u, v from g", "18446744073709551612 18446744073709551612")
}
