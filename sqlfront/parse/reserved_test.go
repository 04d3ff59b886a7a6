package parse

import (
	"context"
	"strings"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Words that MySQL does not reserve are names, one or several in a statement; words that it does are not.
func TestNamesThatTheGrammarReserves(t *testing.T) {
	p := New(Hooks{})
	for q, want := range map[string]string{
		"create table t (yes int, no int, after int)":                       "`yes`",
		"select yes, after from t where precedes = 1 order by escape":       "`yes`",
		"insert into t (yes, no) values (1, 'yes')":                         "`yes`",
		"update t set yes = yes + 1":                                        "`yes`",
		"select '\"yes', \"it's yes\" from t where yes = 'a' and after = 1": "`yes`",
	} {
		stmt, err := p.ParseSimple(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		if got := ast.String(stmt); !strings.Contains(got, want) {
			t.Errorf("%s became %s", q, got)
		}
	}
	for q, near := range map[string]string{
		"select a from t where":             "near ''",
		"select name frm shop.customer":     "near 'shop.customer'",
		"create table t (select int)":       "near 'select int)'",
		"selec 1":                           "near 'selec 1'",
		"create table t (yes int, key int)": "near",
	} {
		_, err := p.ParseSimple(q)
		if sqlerr.Code(err) != sqlerr.SyntaxError || !strings.Contains(err.Error(), near) {
			t.Errorf("%s: %v, want %s", q, err, near)
		}
	}
	// The rest of a multi-statement begins behind the first, whatever was quoted in it.
	_, end, err := p.ParseOneWithOptions(context.Background(), "select yes from t; select 2",
		ast.ParserOptions{})
	if err != nil || strings.TrimSpace("select yes from t; select 2"[end:]) != "select 2" {
		t.Errorf("the rest begins at %d, %v", end, err)
	}
}
