package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
)

// unbounded are the functions whose results are not held against max_allowed_packet by expr.Bounded, by the reason why they need not be.
var unbounded = map[string]string{
	"a number, a moment, a truth or a few dozen bytes": `abs acos adddate aes_decrypt ascii asin atan atan2 avg bin bin_to_uuid
		bit_and bit_count bit_length bit_or bit_xor ceil ceiling char_length character_length charset coercibility collation connection_id conv
		convert_tz cos cot count crc32 curdate current_date current_time current_timestamp current_user curtime database date date_add date_sub
		datediff datetime day dayname dayofmonth dayofweek dayofyear degrees dense_rank exp extract field find_in_set floor format found_rows
		from_days get_format hour inet6_aton inet6_ntoa inet_aton inet_ntoa instr is_binary is_ipv4 is_ipv4_compat
		is_ipv4_mapped is_ipv6 is_uuid isnull json_type last_day last_insert_id last_insert_uuid length ln localtime localtimestamp locate log
		log10 log2 maketime md5 microsecond minute mod month monthname now ntile oct octet_length ord percent_rank period_add period_diff pi
		point pow power quarter radians rand random_bytes rank round row_count row_number schema sec_to_time second sha sha1 sha2 sign sin
		sleep sqrt st_area st_contains st_dimension st_disjoint st_distance st_equal st_geohash st_geometrytype st_intersects st_isclosed
		st_isempty st_issimple st_latfromgeohash st_latitude st_length st_longfromgeohash st_longitude st_numgeometries st_numinteriorring
		st_numinteriorrings st_numpoints st_perimeter st_pointfromgeohash st_srid st_validate st_within st_x st_y std stddev stddev_pop
		stddev_samp str_to_date strcmp subdate sum sysdate tan time time_to_sec timediff timestamp timestampdiff to_days to_seconds truncate
		uncompressed_length unix_timestamp user utc_timestamp uuid uuid_short uuid_to_bin validate_password_strength var_pop var_samp
		variance week weekday weekofyear year yearweek`,
	"an argument, a part of one, or its characters in another form": `any_value coalesce elt first first_value from_base64 greatest
		gtid_subtract if ifnull lag last last_value lcase lead least left lower ltrim max mid min nullif reverse right rtrim soundex
		st_asbinary st_aswkb st_centroid st_convexhull st_endpoint st_envelope st_exteriorring st_geomcollfromwkb
		st_geometrycollectionfromwkb st_geometryfromwkb st_geometryn st_geomfromwkb st_interiorringn st_linefromwkb st_linestringfromwkb
		st_mlinefromwkb st_mpointfromwkb st_mpolyfromwkb st_multilinestringfromwkb st_multipointfromwkb st_multipolygonfromwkb
		st_pointfromwkb st_pointn st_polyfromwkb st_polygonfromwkb st_startpoint st_swapxy substr substring substring_index ucase unhex upper
		values`,
	"looks at the length of the file first (TestLoadFile)":                 `load_file`,
	"the parser has another function in its place, which is bounded":       `char`,
	"bounded by its steps too (TestRegularExpressionsAreBounded)":          `regexp_instr regexp_like regexp_replace regexp_substr`,
	"charged while it grows (TestAggregatesAreCharged)":                    `group_concat json_arrayagg json_objectagg`,
	"a table: rows of parts of a document, which is charged as it is made": `json_table`,
}

// TestEveryFunctionIsBounded: what a function makes is at most max_allowed_packet, or about as long as its arguments. Each function of the library
// and of ours is in expr's makers or above, with a reason; and those that are called here with large arguments of all kinds keep to it. A new
// version of the library with a function that nobody has looked at fails here.
func TestEveryFunctionIsBounded(t *testing.T) {
	reason := map[string]string{}
	for why, names := range unbounded {
		for _, name := range strings.Fields(names) {
			if reason[name] != "" {
				t.Errorf("%s is listed twice", name)
			}
			reason[name] = why
		}
	}
	arity := map[string]int{} // 0: any number
	for _, f := range function.BuiltIns {
		n, _ := strconv.Atoi(strings.TrimPrefix(fmt.Sprintf("%T", f), "sql.Function"))
		arity[strings.ToLower(f.FunctionName())] = n
	}
	for _, name := range builtin.Names() {
		arity[name] = 0
	}
	for name := range arity {
		if f, _ := expr.Bounded(name, nil, true); (f != nil) == (reason[name] != "") {
			t.Errorf("%s: bounded %v, and on the list because it is %q: it should be one of both", name, f != nil, reason[name])
		}
	}
	for name := range reason {
		if _, known := arity[name]; !known {
			t.Errorf("%s is listed, and there is no such function", name)
		}
	}

	const packet, argument = 4096, 3000
	s := newServer(t, spoken)
	_, before, _ := sql.SystemVariables.GetGlobal("max_allowed_packet")
	if err := sql.SystemVariables.AssignValues(map[string]any{"max_allowed_packet": int64(packet)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sql.SystemVariables.AssignValues(map[string]any{"max_allowed_packet": before}) })
	c := s.session("")
	c.exec("SET @a = REPEAT('a', %d), @q = REPEAT('\"\\\\\\n', %[1]d / 3), @f = REPEAT('%%W', %[1]d / 2), @x = UNHEX(REPEAT('ff', %[1]d)), @n = 2000000000, @d = '2020-09-09 12:12:12'", argument)
	c.exec("SET @j = CONCAT('[', REPEAT('1,', %d / 2 - 2), '1]'), @k = CONCAT('[', REPEAT('1,', %[1]d / 4), '1]'), @g = CONCAT('MULTIPOINT(', REPEAT('1 1,', %[1]d / 4 - 8), '1 1)'), @v = UNHEX(REPEAT('80808080', %[1]d / 4))", argument)
	args := strings.Fields("@a @n @f @q @g @d @j @v @x CAST(@k/**/AS/**/JSON) ST_GeomFromText(CONCAT('MULTIPOINT(',REPEAT('1.1/**/1.1,',60),'1/**/1)'))")
	var names []string
	for name := range arity {
		names = append(names, name)
	}
	slices.Sort(names)
	called := map[string]bool{}
	call := func(name string, args ...string) {
		text := name + "(" + strings.Join(args, ", ") + ")"
		_, rows, err := c.run("SELECT LENGTH(" + text + ")")
		if err != nil || len(rows) != 1 {
			return // of arguments that it does not take
		}
		called[name] = true
		if n, _ := rows[0][0].(int32); n > packet {
			t.Errorf("%s is %d bytes long: max_allowed_packet is %d", text, n, packet)
		}
	}
	for _, name := range names {
		if name == "sleep" || strings.Contains(unbounded["charged while it grows (TestAggregatesAreCharged)"], name) {
			continue
		}
		n := arity[name]
		if n == 0 {
			call(name)
		}
		for i, a := range args {
			if n <= 1 {
				call(name, a)
			}
			for j, b := range args {
				if n == 2 || n == 0 && i < 6 && j < 6 {
					call(name, a, b)
				}
				if (n == 0 || n == 3) && i < 4 && j < 2 {
					call(name, a, b, "@n")
					call(name, a, b, "@a")
				}
			}
		}
	}
	if len(called) < 200 {
		t.Errorf("%d functions of %d were called with what they take", len(called), len(names))
	}
}
