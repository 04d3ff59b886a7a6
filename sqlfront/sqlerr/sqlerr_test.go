package sqlerr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"moka/kv"
	"moka/txn"
)

func TestFrom(t *testing.T) {
	if From(nil) != nil {
		t.Fatal("nil became an error")
	}
	strange := errors.New("strange")
	if From(strange) != strange {
		t.Fatal("an error of somebody else was changed")
	}
	kind := sql.ErrUniqueKeyViolation.New()
	if From(kind) != error(kind) {
		t.Fatal("a kind of the engine lost its type")
	}
	for _, c := range []struct {
		err   error
		code  int
		state string
		text  string
	}{
		{txn.ErrConflict, 1213, "40001", "Deadlock found"},
		{&txn.ConflictError{Reason: "newer write"}, 1213, "40001", "Deadlock found"},
		{fmt.Errorf("engine: commit: %w", &txn.ConflictError{}), 1213, "40001", "try restarting"},
		{txn.ErrLocked, 1205, "HY000", "Lock wait timeout"},
		{txn.ErrReadOnly, 1792, "25006", "READ ONLY"},
		{txn.ErrTooLarge, 1197, "HY000", "smaller parts"},
		{txn.ErrOutcomeUnknown, 1105, "08007", "Read back"},
		{kv.ErrOutcomeUnknown, 1105, "08007", "Read back"},
		{&txn.ConstraintError{Code: txn.CodeAlreadyExists}, 1062, "23000", "Duplicate entry"},
		{&txn.ConstraintError{Code: txn.CodeMustExist}, 1452, "23000", "foreign key"},
		{kv.ErrClosed, 1053, "08S01", "shutdown"},
		{txn.ErrClosed, 1053, "08S01", "shutdown"},
		{kv.ErrDisk, 1021, "HY000", "refused"},
		{kv.ErrUnavailable, 1105, "HY000", "try again"},
		{kv.ErrNotLeader, 1105, "HY000", "try again"},
		{&kv.Error{Code: kv.CodeUnavailable, Op: "shard", Err: context.Canceled}, 1317, "70100", "interrupted"},
		{kv.ErrBusy, 1205, "HY000", "busy"},
		{context.Canceled, 1317, "70100", "interrupted"},
		{context.DeadlineExceeded, 3024, "HY000", "maximum statement execution time"},
		{fmt.Errorf("scan: %w", ErrKilled), 1317, "70100", "interrupted"},
		{fmt.Errorf("scan: %w", ErrTimeout), 3024, "HY000", "maximum statement"},
		{ErrShutdown, 1053, "08S01", "shutdown"},
		{fmt.Errorf("row 3: %w", LockTimeout()), 1205, "HY000", "Lock wait"},
	} {
		se, ok := From(c.err).(*mysql.SQLError)
		if !ok {
			t.Errorf("%v: %T", c.err, From(c.err))
			continue
		}
		if se.Num != c.code || se.State != c.state || !strings.Contains(se.Message, c.text) {
			t.Errorf("%v: %d %s %q", c.err, se.Num, se.State, se.Message)
		}
		// What From made passes go-mysql-server and the last door unchanged.
		if out := Final(sql.CastSQLError(se), Statement{Database: "db"}); *out != *se {
			t.Errorf("%v: changed on its way out: %v", c.err, out)
		}
		// Also when the library flattens it to a string.
		if out := Final(sql.ErrSyntaxError.New(se.Error()), Statement{}); out.Num != c.code || out.State != c.state || out.Message != se.Message {
			t.Errorf("%v: flattened: %v", c.err, out)
		}
	}
}

func TestFinal(t *testing.T) {
	for _, c := range []struct {
		err   error
		query string
		code  int
		state string
		text  string
	}{
		{sql.NewUniqueKeyErr("[1]", true, nil), "", 1062, "23000", "Duplicate entry '1' for key 'PRIMARY'"},
		{sql.NewUniqueKeyErr("[a,b]", false, nil), "", 1062, "23000", "Duplicate entry 'a-b' for key 'UNIQUE'"},
		{sql.NewUniqueKeyErr(DuplicateText([]string{"a", "7"}, "t", "u"), false, nil), "", 1062, "23000", "Duplicate entry 'a-7' for key 't.u'"},
		{sql.NewWrappedInsertError(nil, sql.NewUniqueKeyErr("[1]", true, nil)), "", 1062, "23000", "Duplicate entry '1' for key 'PRIMARY'"},
		{DuplicateEntry([]string{"1"}, "t", ""), "", 1062, "23000", "Duplicate entry '1' for key 't.PRIMARY'"},
		{sql.ErrTableNotFound.New("x"), "", 1146, "42S02", "Table 'shop.x' doesn't exist"},
		{sql.ErrTableNotFound.New("x"), "select * from moka . `X` where x.c = 'x'", 1146, "42S02",
			"Table 'moka.x' doesn't exist"},
		{sql.ErrTableNotFound.New("x"), "select t.x from x", 1146, "42S02", "Table 'shop.x' doesn't exist"},
		{sql.ErrTableNotFound.New("x"), "select * from a.x, b.x", 1146, "42S02",
			"Table 'shop.x' doesn't exist"},
		{sql.ErrTableNotFound.New("x, maybe you mean y?"), "", 1146, "42S02", "Table 'shop.x' doesn't exist"},
		{sql.ErrTableNotFound.New("p"), "create table c (a int, foreign key (a) references p (id))", 1824, "HY000", "Failed to open the referenced table 'p'"},
		{sql.ErrTableColumnNotFound.New("p", "id"), "create table c (a int, foreign key (a) references p (id))", 3734, "HY000", "Missing column 'id'"},
		{sql.ErrTableColumnNotFound.New("c", "a"), "create table c (b int, foreign key (a) references p (id))", 1072, "42000", "Key column 'a'"},
		{sql.ErrInvalidArgumentNumber.New("abs", 1, 2), "", 1582, "42000", "Incorrect parameter count in the call to native function 'abs'"},
		{sql.ErrTableNotFound.New("x"), "drop table x", 1051, "42S02", "Unknown table 'shop.x'"},
		{sql.ErrColumnNotFound.New("c"), "set c = 1", 1193, "HY000", "Unknown system variable 'c'"},
		{sql.ErrTableColumnNotFound.New("t", "c"), "alter table t modify c int", 1054, "42S22", "Unknown column 'c'"},
		{sql.ErrColumnNotFound.New("c"), "alter table t drop column c", 1091, "42000", "Can't DROP 'c'"},
		{sql.ErrTableAlreadyExists.New("x"), "", 1050, "42S01", "Table 'x' already exists"},
		{sql.ErrColumnNotFound.New("c"), "select c from t", 1054, "42S22", "Unknown column 'c' in 'field list'"},
		{sql.ErrColumnNotFound.New("c"), "select a from t where t.c = 1", 1054, "42S22", "Unknown column 'c' in 'where clause'"},
		{sql.ErrColumnNotFound.New("c"), "select a from t order by c", 1054, "42S22", "Unknown column 'c' in 'order clause'"},
		{sql.ErrColumnNotFound.New("c"), "select a from t join u on c = a where a = 'c'", 1054, "42S22", "Unknown column 'c' in 'on clause'"},
		{sql.ErrTableColumnNotFound.New("t", "c"), "select t.c from t", 1054, "42S22", "Unknown column 'c' in 'field list'"},
		{sql.ErrAmbiguousColumnName.New("a", []string{"t", "u"}), "select a from t, u", 1052, "23000", "Column 'a' in field list is ambiguous"},
		{sql.ErrDatabaseExists.New("d"), "", 1007, "HY000", "Can't create database 'd'; database exists"},
		{sql.ErrDatabaseNotFound.New("d"), "", 1049, "42000", "Unknown database 'd'"},
		{sql.ErrNoDatabaseSelected.New(), "", 1046, "3D000", "No database selected"},
		{sql.ErrDuplicateKey.New("i"), "", 1061, "42000", "Duplicate key name 'i'"},
		{sql.ErrCantDropFieldOrKey.New("i"), "", 1091, "42000", "Can't DROP 'i'; check that column/key exists"},
		{sql.ErrCheckConstraintViolated.New("chk"), "", 3819, "HY000", "Check constraint 'chk' is violated."},
		{errors.New("unable to find field with index 11 in row of 6 columns. \n This is a bug. Please file an issue here: https://github.com/dolthub/dolt/issues"), "", 1105, "HY000", "unable to find field with index 11 in row of 6 columns"},
		{sql.ErrFullTextNotSupported.New(), "", 1235, "42000", "This version of Moka doesn't yet support 'FULLTEXT indexes'"},
		{sql.ErrNoFullTextIndexFound.New("t"), "", 1191, "HY000", "Can't find FULLTEXT index matching the column list"},
		{sql.ErrJSONIndex.New("j"), "", 3152, "42000", "JSON column 'j' supports indexing only via generated columns on a specified JSON path."},
		{sql.ErrInvalidGISData.New("st_geomfromwkb"), "", 3037, "22023", "Invalid GIS data provided to function st_geomfromwkb."},
		{sql.ErrSpatialTypeConversion.New(), "", 1416, "22003", "Cannot get geometry object from data you send to the GEOMETRY field"},
		{sql.ErrNotMatchingSRIDWithColName.New("p", sql.ErrNotMatchingSRID.New(4326, 0)), "", 3643, "HY000", "The SRID of the geometry does not match the SRID of the column 'p'."},
		{sql.ErrNoSRID.New(7), "", 3548, "SR001", "There's no spatial reference system with SRID 7."},
		{sql.ErrForeignKeyChildViolation.New("fk", "c", "p", "[1]"), "", 1452, "23000", "Cannot add or update a child row"},
		{sql.ErrForeignKeyParentViolation.New("fk", "p", "c", "[1]"), "", 1451, "23000", "Cannot delete or update a parent row"},
		{sql.ErrInsertIntoNonNullableProvidedNull.New("a"), "", 1048, "23000", "Column 'a' cannot be null"},
		{sql.ErrInsertIntoNonNullableDefaultNullColumn.New("a"), "", 1364, "HY000", "Field 'a' doesn't have a default value"},
		{sql.ErrColValCountMismatch.New(2), "", 1136, "21S01", "Column count doesn't match value count at row 2"},
		{types.ErrLengthBeyondLimit.New("abcdef", "c"), "", 1406, "22001", "Data too long for column 'c' at row 1"},
		{sql.ErrValueOutOfRange.New(300, "tinyint"), "", 1264, "22003", "Out of range value: 300 for tinyint"},
		{sql.ErrUnknownSystemVariable.New("@@nope"), "", 1193, "HY000", "Unknown system variable 'nope'"},
		{sql.ErrStoredProcedureDoesNotExist.New("p"), "", 1305, "42000", "PROCEDURE shop.p does not exist"},
		{sql.ErrFunctionNotFound.New("f"), "", 1305, "42000", "FUNCTION shop.f does not exist"},
		{sql.ErrReadOnlyTransaction.New(), "", 1792, "25006", "Cannot execute statement in a READ ONLY transaction."},
		{sql.ErrUnsupportedFeature.New("XA"), "", 1235, "42000", "This version of Moka doesn't yet support 'XA'"},
		{sql.ErrNonAggregatedColumnWithoutGroupBy.New(1, "a"), "", 1140, "42000", "nonaggregated"},
		{sql.ErrLockDeadlock.New("x"), "", 1213, "40001", "serialization failure"},
		{errors.New("context canceled"), "", 1317, "70100", "Query execution was interrupted"},
		{errors.New("no database selected"), "", 1046, "3D000", "No database selected"},
		{sql.ErrSyntaxError.New("syntax error at position 13 near 'fro'"), "select * fro t", 1064, "42000", "near 'fro t' at line 1"},
		{errors.New("Code: INVALID_ARGUMENT\nsyntax error at position 6 near 'selct'\n"), "", 1064, "42000", "near 'selct' at line 1"},
		{errors.New("syntax error at position 6 near 'selct'"), "", 1064, "42000", "near 'selct'"},
		{mysql.NewSQLError(1644, "45000", "duplicate primary key given: [1]"), "", 1644, "45000", "duplicate primary key given"},
		{errors.New("something else"), "", 1105, "HY000", "something else"},
	} {
		// The wire handler sees the error after go-mysql-server's own cast.
		out := Final(sql.CastSQLError(c.err), Statement{Query: c.query, Database: "shop"})
		if out.Num != c.code || out.State != c.state || !strings.Contains(out.Message, c.text) {
			t.Errorf("%v:\n got %d %s %q\nwant %d %s %q", c.err, out.Num, out.State, out.Message, c.code, c.state, c.text)
		}
	}
}

func TestSyntaxText(t *testing.T) {
	for _, c := range []struct {
		query string
		at    int
		want  string
	}{
		{"select 1 frm t", 9, "near 'frm t' at line 1"},
		{"select\n1\nfrm t", 9, "near 'frm t' at line 3"},
		{"select", 6, "near '' at line 1"},
		{"select", 99, "near '' at line 1"},
		{"x" + strings.Repeat("é", 100), 0, "near 'x" + strings.Repeat("é", 39) + "' at line 1"},
	} {
		if got := Syntax(c.query, c.at).Message; !strings.HasSuffix(got, c.want) {
			t.Errorf("%q at %d: %s", c.query, c.at, got)
		}
	}
}

// Every template of the table must match an error of its own kind, or an upgrade of the library has gone past us.
func TestPatternsMatchTheirKinds(t *testing.T) {
	for _, m := range table() {
		if m.kind == nil {
			continue
		}
		n := len(verbs.FindAllString(m.kind.Message, -1))
		args := make([]any, n)
		for i := range args {
			args[i] = "zz"
		}
		msg := m.kind.Message
		if n > 0 {
			msg = fmt.Sprintf(verbs.ReplaceAllString(m.kind.Message, "%v"), args...)
			if strings.Contains(m.kind.Message, "%q") {
				msg = fmt.Sprintf(strings.NewReplacer("%q", `"%v"`, "%d", "%v", "%s", "%v").Replace(m.kind.Message), args...)
			}
		}
		got := m.re.FindStringSubmatch(msg)
		if got == nil {
			t.Errorf("%q does not match %q", m.kind.Message, msg)
			continue
		}
		for _, a := range got[1:] {
			if a != "zz" {
				t.Errorf("%q: argument %q", m.kind.Message, a)
			}
		}
	}
}

// The expressions that word an error see its ends, however long a value it quotes: 20 µs for each byte of it
// were a core for minutes.
func TestLongValuesAreNotWorded(t *testing.T) {
	value := strings.Repeat("é", 4<<20)
	got := worded("front " + value + " end")
	if len(got) > 2*maxWorded || !strings.HasPrefix(got, "front é") || !strings.HasSuffix(got, "é end") ||
		!utf8.ValidString(got) {
		t.Errorf("%d bytes: %.20s", len(got), got)
	}
	for _, err := range []error{
		sql.ErrTableNotFound.New(value), sql.ErrInvalidType.New(value),
		fmt.Errorf("%s (errno 1406) (sqlstate 22001)", value),
	} {
		long, short := Final(err, Statement{}), Final(errors.New(worded(err.Error())), Statement{})
		if len(long.Message) > maxText || long.Message != short.Message {
			t.Errorf("%.60q, want %.60q", long.Message, short.Message)
		}
	}
	if e := Final(fmt.Errorf("%s (errno 1406) (sqlstate 22001)", value), Statement{}); e.Num != 1406 {
		t.Errorf("error %d, want 1406", e.Num)
	}
}

func FuzzFinal(f *testing.F) {
	f.Add("syntax error at position 13 near 'fro'", "select * fro t")
	f.Add("syntax error at position 99999999999999999999 near '", "x")
	f.Add("duplicate primary key given: [", "")
	f.Add("table not found: $1$db.1", "")
	f.Add("column \"`\" could not be found in any table in scope", "select ` 'x")
	f.Fuzz(func(t *testing.T, msg, query string) {
		out := Final(errors.New(msg), Statement{Query: query, Database: "d"})
		if out == nil || len(out.State) != 5 || out.Num == 0 {
			t.Fatalf("%#v", out)
		}
	})
}
