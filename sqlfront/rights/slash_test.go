package rights

import (
	"slices"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// recorder notes what the library would be asked.
type recorder struct {
	sql.AuthorizationHandler
	names []string
}

func (r *recorder) HandleAuth(_ *sql.Context, _ sql.AuthorizationQueryState, a ast.AuthInformation) error {
	r.names = a.TargetNames
	return nil
}

func (r *recorder) CheckTable(_ *sql.Context, _ sql.AuthorizationQueryState, database, schema, table string) error {
	r.names = []string{database, schema, table}
	return nil
}

// TestSlashIsNoRevision: rights on a database are none on one whose name begins with its name and a slash, which directories of older releases may have.
func TestSlashIsNoRevision(t *testing.T) {
	r := &recorder{}
	w := whole{r}
	ctx := sql.NewEmptyContext()
	for _, c := range []struct {
		current    string
		kind       string
		asked, got []string
	}{
		{"", ast.AuthTargetType_DatabaseIdentifiers, []string{"own/x", "own", "a/b/c"}, []string{"own\x00x", "own", "a\x00b\x00c"}},
		{"", ast.AuthTargetType_SingleTableIdentifier, []string{"own/x", "t/u"}, []string{"own\x00x", "t/u"}},
		{"own/x", ast.AuthTargetType_MultipleTableIdentifiers, []string{"", "t", "vic", "u"}, []string{"own\x00x", "t", "vic", "u"}},
		{"own", ast.AuthTargetType_MultipleTableIdentifiers, []string{"", "t"}, []string{"", "t"}},
		{"", ast.AuthTargetType_TableColumn, []string{"own/x", "t", "c/d"}, []string{"own\x00x", "t", "c/d"}},
	} {
		ctx.SetCurrentDatabase(c.current)
		was := slices.Clone(c.asked)
		if err := w.HandleAuth(ctx, nil, ast.AuthInformation{AuthType: ast.AuthType_SELECT, TargetType: c.kind, TargetNames: c.asked}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.names, c.got) || !slices.Equal(was, c.asked) {
			t.Errorf("%q in %q: asked for %q (the tree's: %q), want %q", was, c.current, r.names, c.asked, c.got)
		}
	}
	ctx.SetCurrentDatabase("own/x")
	if _ = w.CheckTable(ctx, nil, "", "", "t"); !slices.Equal(r.names, []string{"own\x00x", "", "t"}) {
		t.Errorf("CheckTable asked for %q", r.names)
	}
}
