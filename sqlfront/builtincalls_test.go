package sqlfront_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"moka/sqlfront/builtin"
)

// extremes are arguments that functions have been seen to stumble over.
var extremes = strings.Split(`NULL|''|'abc'|'😀'|'ä😀b'|x'ff'|x'F09F98'
_latin1 x'e4'|convert('ä' using utf16)|convert(x'ff' using utf8mb3)
0|1|-1|3.7|9223372036854775807|-9223372036854775808|18446744073709551615|1e308|-1e-308|'1e999'|2147483648
99999999999999999999999999999999999999999999999999|'99999999999999999999'|true|b'1'
date'0001-01-01'|date'9999-12-31'|'0000-00-00'|cast('0000-00-00' as datetime)|'2020-13-45'|20200229
timestamp'9999-12-31 23:59:59.999999'|time'-838:59:59'|'10:11:12'
cast('{"a": [1, null, "x"]}' as json)|cast('null' as json)|'{"a": 1}'|'[1,2'|'$'|'$.a'|'$[last]'|'$['|'one'
repeat('x', 70000)|point(1, 2)|st_geomfromtext('polygon((0 0,1 0,1 1,0 0))')
st_geomfromtext('geometrycollection()')|st_geomfromtext('point(1 2)', 4326)
'point(1 2)'|'%Y-%j %f %W'|'('|'a*'|'+14:00'|'::1'|@nosuch|(select null)
i|u|n|f|dt|da|ti|y|c|v|b|j|e|s|bi|g|t`, "\n")

// TestBuiltinFunctionsOfExtremes calls every function of the library and of ours with arguments at random, of
// constants, columns and parameters: none of them ends the connection.
func TestBuiltinFunctionsOfExtremes(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (i int, u bigint unsigned, n decimal(20, 5), "+
		"f double, dt datetime(6), da date, ti time(3), y year, c char(9), "+
		"v varchar(99) character set latin1, b varbinary(99), j json, e enum('a', ''), s set('x', 'y'), "+
		"bi bit(64), g geometry, t longtext)",
		"insert into t values (-2147483648, 18446744073709551615, -999999999999999.99999, -1e308, "+
			"'9999-12-31 23:59:59.999999', '9999-12-31', '-838:59:59', 2155, '', 'äö', x'ff', '[null]', "+
			"'a', 'x,y', 18446744073709551615, point(1, 2), repeat('😀', 20000))",
		"insert into t (i) values (null)")
	var args []string
	for _, line := range extremes {
		args = append(args, strings.Split(line, "|")...)
	}
	names := map[string]bool{}
	for _, f := range function.BuiltIns {
		names[strings.ToLower(f.FunctionName())] = true
	}
	for _, n := range builtin.Names() {
		names[n] = true
	}
	delete(names, "sleep")
	r := rand.New(rand.NewPCG(1, 2))
	parameters := []any{
		nil, "", "a", "😀", []byte{0xff}, int64(-1 << 63), uint64(1<<64 - 1), 1e308, "1e999", "$[0]", 2,
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for arity := range 5 {
			for range 3 {
				call, given := make([]string, arity), []any(nil)
				for i := range call {
					if call[i] = args[r.IntN(len(args))]; r.IntN(4) == 0 {
						call[i], given = "?", append(given, parameters[r.IntN(len(parameters))])
					}
				}
				q := "select " + name + "(" + strings.Join(call, ", ") + ") from t"
				if err := drain(c, q, given); err != nil {
					t.Fatalf("%s %v: %v", q, given, err)
				}
			}
		}
	}
}

// drain reads the rows of a query; its error is not the server's answer but the loss of it.
func drain(c runner, q string, args []any) error {
	rows, err := c.QueryContext(context.Background(), q, args...)
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && !strings.Contains(answer.Message, "internal error") {
		return nil
	}
	return err
}
