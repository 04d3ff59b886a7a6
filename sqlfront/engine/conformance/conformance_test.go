// Package conformance runs go-mysql-server's own test suite over our storage.
package conformance

import (
	"context"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/enginetest"
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
	return enginetest.RunSetupScripts(ctx, e, data, true)
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

func TestQueries(t *testing.T)          { enginetest.TestQueries(t, newHarness(t)) }
func TestInsertInto(t *testing.T)       { enginetest.TestInsertInto(t, newHarness(t)) }
func TestInsertIgnoreInto(t *testing.T) { enginetest.TestInsertIgnoreInto(t, newHarness(t)) }
func TestReplaceInto(t *testing.T)      { enginetest.TestReplaceInto(t, newHarness(t)) }
func TestUpdate(t *testing.T)           { enginetest.TestUpdate(t, newHarness(t)) }
func TestDelete(t *testing.T)           { enginetest.TestDelete(t, newHarness(t)) }
func TestTruncate(t *testing.T)         { enginetest.TestTruncate(t, newHarness(t)) }
func TestScripts(t *testing.T)          { enginetest.TestScripts(t, newHarness(t)) }
