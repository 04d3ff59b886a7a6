package routine

import (
	"maps"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Condition is an error or a warning in the diagnostics area.
type Condition struct {
	Number  int
	State   string
	Message string
	items   map[string]string // CLASS_ORIGIN … that SIGNAL has set, in lower case
}

func conditionOf(ctx *sql.Context, err error) *Condition {
	if s, ok := err.(*signalled); ok {
		return s.condition
	}
	e := sqlerr.Final(err, sqlerr.Statement{Database: ctx.GetCurrentDatabase()})
	return &Condition{Number: e.Num, State: e.State, Message: e.Message}
}

func noData() *Condition {
	return &Condition{Number: sqlerr.FetchNoData, State: "02000",
		Message: "No data - zero rows fetched, selected, or processed"}
}

func (c *Condition) sqlError() *mysql.SQLError {
	return &mysql.SQLError{Num: c.Number, State: c.State, Message: c.Message}
}

// signalled is the error of SIGNAL, with items that the protocol has no place for.
type signalled struct{ condition *Condition }

func (s *signalled) Error() string { return s.condition.sqlError().Error() }
func (s *signalled) Unwrap() error { return s.condition.sqlError() }

// class is the class of conditions that a handler may be for.
type class uint8

const (
	classNone class = iota
	classException
	classWarning
	classNotFound
)

func (c *Condition) class() class {
	switch c.State[:2] {
	case "00":
		return classNone
	case "01":
		return classWarning
	case "02":
		return classNotFound
	}
	return classException
}

// matcher is what a handler is for: a number, a state or a class.
type matcher struct {
	number int
	state  string
	class  class
}

// rank says how specific the match is, 0 if there is none.
func (m *matcher) rank(c *Condition) int {
	switch {
	case m.number != 0 && m.number == c.Number:
		return 3
	case m.state != "" && m.state == c.State:
		return 2
	case m.class != classNone && m.class == c.class():
		return 1
	}
	return 0
}

// signal is SIGNAL and RESIGNAL.
type signal struct {
	again bool
	state string
	items []signalItem
}

type signalItem struct {
	name  string
	value *scalar
}

func (s *signal) run(f *frame) (*jump, error) {
	c := &Condition{State: s.state, items: map[string]string{}}
	if s.again {
		if len(f.signals) == 0 {
			return nil, sqlerr.New(sqlerr.ResignalWithoutHandler, "RESIGNAL when handler not active")
		}
		old := f.signals[len(f.signals)-1]
		if s.state == "" {
			*c = *old
			c.items = map[string]string{}
			maps.Copy(c.items, old.items)
		} else if c.Message == "" {
			c.Message = old.Message
			c.Number = old.Number
		}
	}
	if s.state != "" {
		switch c.class() {
		case classWarning:
			c.Number, c.Message = sqlerr.SignalWarning, "Unhandled user-defined warning condition"
		case classNotFound:
			c.Number, c.Message = sqlerr.SignalNotFound, "Unhandled user-defined not found condition"
		default:
			c.Number, c.Message = sqlerr.SignalException, "Unhandled user-defined exception condition"
		}
		if s.again { // it is the condition of the handler with another state
			c.Message = f.signals[len(f.signals)-1].Message
			c.Number = f.signals[len(f.signals)-1].Number
		}
	}
	for _, i := range s.items {
		v, _, err := i.value.eval(f)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, sqlerr.New(sqlerr.WrongValueForVariable,
				"Variable '%s' can't be set to the value of 'NULL'", strings.ToUpper(i.name))
		}
		if i.name == string(ast.SignalConditionItemName_MysqlErrno) {
			n, _, err := types.Int64.Convert(f.ctx, v)
			if err != nil || n.(int64) <= 0 || n.(int64) > 65535 {
				return nil, sqlerr.New(sqlerr.WrongValueForVariable,
					"Variable 'MYSQL_ERRNO' can't be set to the value of '%v'", v)
			}
			c.Number = int(n.(int64))
			continue
		}
		text, err := itemText(f.ctx, i.name, v)
		if err != nil {
			return nil, err
		}
		if i.name != string(ast.SignalConditionItemName_MessageText) {
			c.items[i.name] = text
			continue
		}
		c.Message = text
	}
	if c.class() == classWarning {
		f.ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: c.Number, Message: c.Message})
		return f.warned(c)
	}
	return nil, &signalled{c}
}

// DiagnosticsProcedure is what the parser writes GET DIAGNOSTICS as, with the rest of its text as the
// argument: the grammar does not know it.
const DiagnosticsProcedure = "moka get diagnostics"

// diagnostics is GET DIAGNOSTICS.
type diagnostics struct {
	stacked bool
	number  *scalar // of the condition; nil for items of the statement
	items   []diagnosticsItem
}

type diagnosticsItem struct {
	to   destination
	name string
}

var statementItems = map[string]bool{"number": true, "row_count": true}

var conditionItems = map[string]bool{
	"class_origin": true, "subclass_origin": true, "returned_sqlstate": true, "message_text": true,
	"mysql_errno":        true,
	"constraint_catalog": true, "constraint_schema": true, "constraint_name": true, "catalog_name": true,
	"schema_name": true,
	"table_name":  true, "column_name": true, "cursor_name": true,
}

// diagnostics compiles [CURRENT | STACKED] DIAGNOSTICS [CONDITION n] target = item, …: each word is an
// argument.
func (c *compiler) diagnostics(s *ast.Call) (node, error) {
	var words []string
	for _, p := range s.Params {
		if v, ok := p.(*ast.SQLVal); ok {
			words = append(words, string(v.Val))
		}
	}
	syntax := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "You have an error in your SQL syntax near 'DIAGNOSTICS %s'",
			strings.Join(words, " "))
	}
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		w := words[0]
		words = words[1:]
		return w
	}
	n := &diagnostics{}
	w := next()
	if strings.EqualFold(w, "stacked") || strings.EqualFold(w, "current") {
		n.stacked = strings.EqualFold(w, "stacked")
		w = next()
	}
	if !strings.EqualFold(w, "diagnostics") {
		return nil, syntax()
	}
	known := statementItems
	if len(words) > 0 && strings.EqualFold(words[0], "condition") {
		next()
		known = conditionItems
		which := next()
		if _, err := strconv.Atoi(which); err == nil {
			n.number = c.scalar(ast.NewIntVal([]byte(which)))
		} else {
			n.number = c.scalar(ast.NewColName(which))
		}
	}
	for {
		target := next()
		to, err := c.destinations([]string{target})
		if err != nil {
			return nil, err
		}
		if next() != "=" {
			return nil, syntax()
		}
		item := strings.ToLower(next())
		if !known[item] {
			return nil, syntax()
		}
		n.items = append(n.items, diagnosticsItem{to[0], item})
		switch next() {
		case "":
			return n, nil
		case ",":
		default:
			return nil, syntax()
		}
	}
}

func (d *diagnostics) run(f *frame) (*jump, error) {
	area := f.area
	if d.stacked {
		if len(f.signals) == 0 {
			return nil, sqlerr.New(sqlerr.StackedWithoutHandler,
				"GET STACKED DIAGNOSTICS when handler not active")
		}
		area = f.signals[len(f.signals)-1:]
	}
	var c *Condition
	if d.number != nil {
		v, _, err := d.number.eval(f)
		if err != nil {
			return nil, err
		}
		n, _, err := types.Int64.Convert(f.ctx, v)
		if err != nil || n == nil || n.(int64) < 1 || n.(int64) > int64(len(area)) {
			return nil, sqlerr.New(sqlerr.BadConditionNumber, "Invalid condition number")
		}
		c = area[n.(int64)-1]
	}
	for _, i := range d.items {
		var v any
		typ := sql.Type(types.LongText)
		switch i.name {
		case "number":
			v, typ = int64(len(area)), types.Int64
		case "row_count":
			v, typ = f.affected, types.Int64
		case "mysql_errno":
			v, typ = int64(c.Number), types.Int64
		case "returned_sqlstate":
			v = c.State
		case "message_text":
			v = c.Message
		case "class_origin", "subclass_origin":
			origin := "ISO 9075"
			if strings.HasPrefix(c.State, "HY") || c.State >= "45" {
				origin = "MySQL"
			}
			if set, ok := c.items[i.name]; ok {
				origin = set
			}
			v = origin
		default:
			v = c.items[i.name]
		}
		if err := f.store([]destination{i.to}, sql.Row{v}, sql.Schema{{Type: typ}}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
