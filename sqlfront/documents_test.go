package sqlfront_test

import "testing"

// TestDocumentsAreCharged: encoding/json makes a gigabyte of thirty megabytes of text. Twenty clients did
// that in JSON_TABLE, nobody was charged for it, and the server was killed.
func TestDocumentsAreCharged(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "set moka_query_memory = 50331648")
	const text = "concat('[', repeat('{},', 1000000), '1]')" // each map is 48 bytes, and 16 in the array
	for _, q := range []string{
		"json_length(" + text + ")", "json_depth(" + text + ")", "json_valid(" + text + ")",
		"json_keys(" + text + ") is null", "json_extract(" + text + ", '$[0]')", "json_type(" + text + ")",
		"json_value(" + text + ", '$[0]')", "json_contains_path(" + text + ", 'one', '$[0]')",
		"json_contains(" + text + ", '1')", "json_overlaps('[1]', " + text + ")",
		"json_set(" + text + ", '$[0]', 1) is null", "json_insert(" + text + ", '$[0]', 1) is null",
		"json_replace(" + text + ", '$[0]', 1) is null", "json_remove(" + text + ", '$[0]') is null",
		"json_array_append(" + text + ", '$[0]', 1) is null",
		"json_array_insert(" + text + ", '$[0]', 1) is null",
		"json_merge_patch('{}', " + text + ") is null", "json_merge_preserve('[]', " + text + ") is null",
		"json_search(" + text + ", 'one', 'a')", "json_pretty(" + text + ") is null",
		"cast(" + text + " as json) is null", "json_type(cast(" + text + " as json))",
		"(select count(*) from json_table(" + text + ", '$[*]' columns (n for ordinality)) x)",
	} {
		script{{"select " + q, "error 3170"}}.run(t, root)
	}
}

// TestLongDocuments: what is parsed here is what the library makes of it.
func TestLongDocuments(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	const text = `concat('[{"a": [1, 2.5]},', repeat('1,', 99999), '"é\\u00e9"]')`
	script{
		{"set @t = " + text, ""},
		{"select json_length(@t), json_depth(@t), json_valid(@t), json_type(@t)", "100001 4 1 ARRAY"},
		{"select json_extract(@t, '$[0].a[1]', '$[100000]'), json_value(@t, '$[0].a[1]')", `[2.5, "éé"] 2.5`},
		{"select json_contains(@t, '2.5', '$[0].a'), json_overlaps(@t, '[1, 7]')", "1 1"},
		{"select json_search(@t, 'one', 'éé')", `"$[100000]"`},
		{"select json_type(cast(@t as json)), json_length(json_merge_preserve(@t, '[3]'))", "ARRAY 100002"},
		{"select json_length(json_array_append('[]', '$', @t))", "1"},
		{"select json_type(json_extract(json_array(@t), '$[0]'))", "STRING"},
		{"select count(*), max(x) from json_table(@t, '$[*]' columns (x int path '$' null on error)) d",
			"100001 1"},
		{"set @t = concat('[', repeat('1,', 99999), '1')", ""},
		{"select json_valid(@t)", "0"},
		{"select json_length(@t)", "error 3141"},
		{"set @t = concat('[', repeat('1,', 99999), '1e999]')", ""},
		{"select json_valid(@t)", "0"},
		{"select json_length(@t)", "error 3141"},
		{"select cast(@t as json)", "error 3141"},
	}.run(t, root)
}
