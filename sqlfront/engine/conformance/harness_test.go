package conformance

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/enginetest"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/kv/kvtest"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/pushdown"
	"moka/txn"
	"moka/txn/txntest"
)

// harness gives the suite engines over fresh stores in memory.
type harness struct {
	t     *testing.T
	suite string // the entry of the table in suite_test.go
	setup []setup.SetupScript
	eng   *engine.Engine
	sess  *engine.Session
	// keep carries the setup's session over into the test.
	keep bool
}

var (
	_ enginetest.Harness             = (*harness)(nil)
	_ enginetest.ClientHarness       = (*harness)(nil)
	_ enginetest.ServerHarness       = (*harness)(nil)
	_ enginetest.IndexHarness        = (*harness)(nil)
	_ enginetest.ForeignKeyHarness   = (*harness)(nil)
	_ enginetest.KeylessTableHarness = (*harness)(nil)
	_ enginetest.TransactionHarness  = (*harness)(nil)
	_ enginetest.SkippingHarness     = (*harness)(nil)
)

func newHarness(t *testing.T, suite string) *harness {
	h := &harness{t: t, suite: suite}
	h.reset(t)
	return h
}

func (h *harness) reset(t *testing.T) {
	client, _ := txntest.NewStoreWith(t, kvtest.Options{}, txn.Options{}, txn.CoprocessorOptions{Programs: pushdown.Load})
	ctx := context.Background()
	cat, err := catalog.Open(ctx, client, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(ctx, engine.Options{Client: client, Catalog: cat, Persist: globals{}, Procedures: procedures})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Whatever the test has done to the tables: their indexes must agree with them.
		wrong, err := eng.CheckAll(ctx)
		for _, w := range wrong {
			t.Error(w)
		}
		if err != nil {
			t.Error(err)
		}
		_ = eng.Close()
	})
	h.eng, h.sess = eng, nil
	// The suite expects the library's default collation and SQL mode, not MySQL's; warnings of divisions it expects whatever the mode. One of its scripts has
	// a recursion of 5000 rounds, which the library does not count.
	if err := sql.SystemVariables.AssignValues(map[string]any{
		"sql_mode": suiteMode, "cte_max_recursion_depth": int64(10_000),
		"collation_server": "utf8mb4_0900_bin", "collation_connection": "utf8mb4_0900_bin", "collation_database": "utf8mb4_0900_bin",
	}); err != nil {
		t.Fatal(err)
	}
}

const suiteMode = "NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES"

// globals is what SET PERSIST keeps, in memory.
type globals map[string]any

func (g globals) Persist(_ context.Context, name string, value any) error {
	g[name] = value
	return nil
}
func (g globals) Forget(_ context.Context, name string) error { delete(g, name); return nil }
func (g globals) ForgetAll(context.Context) error             { clear(g); return nil }
func (g globals) Persisted(_ context.Context, name string) (any, bool, error) {
	v, ok := g[name]
	return v, ok, nil
}

func (h *harness) SupportsNativeIndexCreation() bool { return true }
func (h *harness) SupportsForeignKeys() bool         { return true }
func (h *harness) SupportsKeylessTables() bool       { return true }

func (h *harness) Setup(data ...[]setup.SetupScript) {
	h.setup = nil
	for i := range data {
		h.setup = append(h.setup, data[i]...)
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

// SessionBuilder is for the tests that start a server.
func (h *harness) SessionBuilder() server.SessionBuilder {
	return func(ctx context.Context, conn *mysql.Conn, addr string) (sql.Session, error) {
		return h.eng.ClientSession(client{conn}, addr), nil
	}
}

// client is a connection of the server that the suite starts, which is vitess'.
type client struct{ *mysql.Conn }

func (c client) ID() uint32                { return c.ConnectionID }
func (c client) Capabilities() uint32      { return c.Conn.Capabilities }
func (c client) TLS() *tls.ConnectionState { return nil }
func (c client) Interrupt(error) bool      { return false }
func (c client) Sending() bool             { return false }
func (c client) Account() (user, host string) {
	u, _ := c.UserData.(sql.MysqlConnectionUser)
	return u.User, u.Host
}

func (h *harness) NewEngine(t *testing.T) (enginetest.QueryEngine, error) {
	h.reset(t)
	e := enginetest.NewEngineWithProvider(t, h, h.eng.Provider())
	h.eng.Install(e.Analyzer)
	data := h.setup
	if len(data) == 0 {
		data = setup.MydbData
	}
	data = withoutVectors(data)
	ctx := enginetest.NewContext(h)
	out, err := enginetest.RunSetupScripts(ctx, e, data, true)
	if !h.keep {
		h.sess = nil // what the setup has left in the session (LAST_INSERT_ID) is not the test's
	}
	return out, err
}

// withoutVectors takes the indexes over vectors, which Moka refuses, out of the data that most of the suite shares; nothing
// but the suite of such indexes asks for them.
func withoutVectors(data []setup.SetupScript) []setup.SetupScript {
	out := make([]setup.SetupScript, len(data))
	for i, script := range data {
		for _, q := range script {
			if !strings.HasPrefix(strings.ToLower(q), "create vector index") {
				out[i] = append(out[i], q)
			}
		}
	}
	return out
}

func (h *harness) SkipQueryTest(query string) bool { return skip(h.suite, query) }

var _ = (*sqle.Engine)(nil)

func TestMain(m *testing.M) {
	if err := engine.Setup(); err != nil {
		panic(err)
	}
	leave, err := besideTestdata()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	leave()
	os.Exit(code)
}

// besideTestdata goes to a directory that has the suite's testdata in it, which LOAD DATA reads by relative path, and where
// SELECT … INTO OUTFILE may write.
func besideTestdata() (leave func(), err error) {
	file, _ := runtime.FuncForPC(reflect.ValueOf(enginetest.TestLoadData).Pointer()).FileLine(0)
	dir, err := os.MkdirTemp("", "moka-conformance")
	if err != nil {
		return nil, err
	}
	// A copy: links out of the directory are not followed.
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS(filepath.Join(filepath.Dir(file), "testdata"))); err != nil {
		return nil, err
	}
	return func() { _ = os.RemoveAll(dir) }, os.Chdir(dir)
}

// persistable is a session for the tests of SET PERSIST.
func (h *harness) persistable(*sql.Context) sql.PersistableSession { return h.session(root) }

// procedures are what the suite expects to be there for CALL.
var procedures = []sql.ExternalStoredProcedureDetails{
	{Name: "memory_inout_add_readonly", Schema: nil, Function: addInto, ReadOnly: true},
	{Name: "memory_inout_add_readwrite", Schema: nil, Function: addInto},
}

func addInto(_ *sql.Context, a *int64, b int64) (sql.RowIter, error) {
	*a += b
	return sql.RowsToRowIter(), nil
}
