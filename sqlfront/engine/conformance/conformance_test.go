//go:build conformance

// Package conformance runs go-mysql-server's own test suite over our storage.
package conformance

import (
	"context"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/enginetest"
	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv/kvtest"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/txn"
	"moka/txn/txntest"
)

// harness gives the suite engines over fresh stores in memory.
type harness struct {
	t     *testing.T
	setup []setup.SetupScript
	eng   *engine.Engine
	sess  *engine.Session
}

var (
	_ enginetest.Harness             = (*harness)(nil)
	_ enginetest.ClientHarness       = (*harness)(nil)
	_ enginetest.IndexHarness        = (*harness)(nil)
	_ enginetest.ForeignKeyHarness   = (*harness)(nil)
	_ enginetest.KeylessTableHarness = (*harness)(nil)
	_ enginetest.TransactionHarness  = (*harness)(nil)
	_ enginetest.SkippingHarness     = (*harness)(nil)
)

func newHarness(t *testing.T) *harness {
	h := &harness{t: t}
	h.reset(t)
	return h
}

func (h *harness) reset(t *testing.T) {
	client, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
	ctx := context.Background()
	cat, err := catalog.Open(ctx, client, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(ctx, engine.Options{Client: client, Catalog: cat})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	h.eng, h.sess = eng, nil
	// The suite expects the library's default collation, not MySQL's.
	if err := sql.SystemVariables.AssignValues(map[string]any{
		"collation_server": "utf8mb4_0900_bin", "collation_connection": "utf8mb4_0900_bin", "collation_database": "utf8mb4_0900_bin",
	}); err != nil {
		t.Fatal(err)
	}
}

func (h *harness) SupportsNativeIndexCreation() bool { return true }
func (h *harness) SupportsForeignKeys() bool         { return true }
func (h *harness) SupportsKeylessTables() bool       { return true }

func (h *harness) Setup(data ...[]setup.SetupScript) {
	h.setup = nil
	for i := range data {
		for j := range data[i] {
			h.setup = append(h.setup, data[i][j])
		}
	}
}

func (h *harness) session(client sql.Client) *engine.Session {
	return h.eng.NewSession(sql.NewBaseSessionWithClientServer("address", client, 1))
}

var root = sql.Client{Address: "localhost", User: "root"}

func (h *harness) NewContext() *sql.Context {
	if h.sess == nil {
		h.sess = h.session(root)
	}
	return sql.NewContext(context.Background(), sql.WithSession(h.sess))
}

func (h *harness) NewContextWithClient(client sql.Client) *sql.Context {
	return sql.NewContext(context.Background(), sql.WithSession(h.session(client)))
}

func (h *harness) NewSession() *sql.Context {
	h.sess = h.session(root)
	return h.NewContext()
}

func (h *harness) NewEngine(t *testing.T) (enginetest.QueryEngine, error) {
	h.reset(t)
	e := enginetest.NewEngineWithProvider(t, h, h.eng.Provider())
	h.eng.Install(e.Analyzer)
	data := h.setup
	if len(data) == 0 {
		data = setup.MydbData
	}
	ctx := enginetest.NewContext(h)
	out, err := enginetest.RunSetupScripts(ctx, e, data, true)
	h.sess = nil // what the setup has left in the session (LAST_INSERT_ID) is not the test's
	return out, err
}

// SkipQueryTest looks the query up among those that cannot work here.
func (h *harness) SkipQueryTest(query string) bool {
	q := strings.ToLower(strings.Join(strings.Fields(query), " "))
	for _, s := range skipped {
		if strings.HasPrefix(q, strings.ToLower(s.query)) {
			return true
		}
	}
	return false
}

// skipped are queries of the suite that are not expected to pass, each with the reason.
var skipped = []struct{ query, reason string }{}

var _ = (*sqle.Engine)(nil)

func TestMain(m *testing.M) {
	if err := engine.Setup(); err != nil {
		panic(err)
	}
	m.Run()
}

// scripts runs each script under a test of its own: a failing one ends its parent.
func scripts(t *testing.T, all []queries.ScriptTest) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) { enginetest.TestScript(t, newHarness(t), s) })
	}
}

func TestSuite(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, enginetest.Harness)
	}{
		{"Queries", func(t *testing.T, h enginetest.Harness) { enginetest.TestQueries(t, h) }},
		{"InsertInto", func(t *testing.T, h enginetest.Harness) { enginetest.TestInsertInto(t, h) }},
		{"InsertIgnoreInto", func(t *testing.T, h enginetest.Harness) { enginetest.TestInsertIgnoreInto(t, h) }},
		{"ReplaceInto", func(t *testing.T, h enginetest.Harness) { enginetest.TestReplaceInto(t, h) }},
		{"Update", func(t *testing.T, h enginetest.Harness) { enginetest.TestUpdate(t, h) }},
		{"Delete", func(t *testing.T, h enginetest.Harness) { enginetest.TestDelete(t, h) }},
		{"Truncate", func(t *testing.T, h enginetest.Harness) { enginetest.TestTruncate(t, h) }},
		{"JoinQueries", func(t *testing.T, h enginetest.Harness) { enginetest.TestJoinQueries(t, h) }},
		{"Indexes", func(t *testing.T, h enginetest.Harness) { enginetest.TestIndexes(t, h) }},
		{"CreateTable", func(t *testing.T, h enginetest.Harness) { enginetest.TestCreateTable(t, h) }},
		{"DropTable", func(t *testing.T, h enginetest.Harness) { enginetest.TestDropTable(t, h) }},
		{"RenameTable", func(t *testing.T, h enginetest.Harness) { enginetest.TestRenameTable(t, h) }},
		{"RenameColumn", func(t *testing.T, h enginetest.Harness) { enginetest.TestRenameColumn(t, h) }},
		{"AddColumn", func(t *testing.T, h enginetest.Harness) { enginetest.TestAddColumn(t, h) }},
		{"ModifyColumn", func(t *testing.T, h enginetest.Harness) { enginetest.TestModifyColumn(t, h) }},
		{"DropColumn", func(t *testing.T, h enginetest.Harness) { enginetest.TestDropColumn(t, h) }},
		{"AlterTable", func(t *testing.T, h enginetest.Harness) { enginetest.TestAlterTable(t, h) }},
		{"CreateForeignKeys", func(t *testing.T, h enginetest.Harness) { enginetest.TestCreateForeignKeys(t, h) }},
		{"DropForeignKeys", func(t *testing.T, h enginetest.Harness) { enginetest.TestDropForeignKeys(t, h) }},
		{"ForeignKeys", func(t *testing.T, h enginetest.Harness) { enginetest.TestForeignKeys(t, h) }},
		{"CreateCheckConstraints", func(t *testing.T, h enginetest.Harness) { enginetest.TestCreateCheckConstraints(t, h) }},
		{"ChecksOnInsert", func(t *testing.T, h enginetest.Harness) { enginetest.TestChecksOnInsert(t, h) }},
		{"ChecksOnUpdate", func(t *testing.T, h enginetest.Harness) { enginetest.TestChecksOnUpdate(t, h) }},
		{"Triggers", func(t *testing.T, h enginetest.Harness) { enginetest.TestTriggers(t, h) }},
		{"RollbackTriggers", func(t *testing.T, h enginetest.Harness) { enginetest.TestRollbackTriggers(t, h) }},
		{"Views", func(t *testing.T, h enginetest.Harness) { enginetest.TestViews(t, h) }},
		{"StoredProcedures", func(t *testing.T, h enginetest.Harness) { enginetest.TestStoredProcedures(t, h) }},
		{"ColumnDefaults", func(t *testing.T, h enginetest.Harness) { enginetest.TestColumnDefaults(t, h) }},
		{"OnUpdateExprScripts", func(t *testing.T, h enginetest.Harness) { enginetest.TestOnUpdateExprScripts(t, h) }},
		{"NullRanges", func(t *testing.T, h enginetest.Harness) { enginetest.TestNullRanges(t, h) }},
		{"IndexPrefix", func(t *testing.T, h enginetest.Harness) { enginetest.TestIndexPrefix(t, h) }},
		{"Blobs", func(t *testing.T, h enginetest.Harness) { enginetest.TestBlobs(t, h) }},
		{"JsonScripts", func(t *testing.T, h enginetest.Harness) { enginetest.TestJsonScripts(t, h, nil) }},
		{"PkOrdinalsDDL", func(t *testing.T, h enginetest.Harness) { enginetest.TestPkOrdinalsDDL(t, h) }},
		{"PkOrdinalsDML", func(t *testing.T, h enginetest.Harness) { enginetest.TestPkOrdinalsDML(t, h) }},
	} {
		if c.run != nil {
			t.Run(c.name, func(t *testing.T) { c.run(t, newHarness(t)) })
		}
	}
}

func TestScripts(t *testing.T)          { scripts(t, queries.ScriptTests) }
func TestGeneratedColumns(t *testing.T) { scripts(t, queries.GeneratedColumnTests) }
func TestCreateTable(t *testing.T)      { scripts(t, queries.CreateTableScriptTests) }
func TestAlterTable(t *testing.T)       { scripts(t, queries.AlterTableScripts) }
func TestTriggers(t *testing.T)         { scripts(t, queries.TriggerTests) }
func TestProcedures(t *testing.T)       { scripts(t, queries.ProcedureLogicTests) }
func TestIndexes(t *testing.T)          { scripts(t, queries.IndexQueries) }
func TestInserts(t *testing.T)          { scripts(t, queries.InsertScripts) }
func TestUpdates(t *testing.T)          { scripts(t, queries.UpdateScriptTests) }
