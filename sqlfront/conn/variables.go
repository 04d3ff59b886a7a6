package conn

import (
	"cmp"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/sirupsen/logrus"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/statements"
)

const (
	defaultWaitTimeout  = 28800
	defaultReadTimeout  = 30
	defaultWriteTimeout = 60
	// defaultMaxPacket is MySQL 8's. The library's is 1 GiB, which a few clients at once make more than
	// there is.
	defaultMaxPacket = 64 << 20
)

// setupVariables gives the process-wide system variables what clients expect. Variables that the library
// does not know are added; values of others are corrected.
func setupVariables(o Options) error {
	both := sql.GetMysqlScope(sql.SystemVariableScope_Both)
	global := sql.GetMysqlScope(sql.SystemVariableScope_Global)
	for _, v := range []*sql.MysqlSystemVariable{
		// Asked for by clients that stop when they are missing: pt-online-schema-change, sysbench, the
		// profiling pages of GUI tools, ORMs that save and restore the optimizer's switches.
		{Name: "innodb_stats_persistent", Scope: global, Dynamic: true,
			Type: types.NewSystemBoolType("innodb_stats_persistent"), Default: int8(1)},
		{Name: "innodb_stats_persistent_sample_pages", Scope: global, Dynamic: true,
			Type:    types.NewSystemIntType("innodb_stats_persistent_sample_pages", 1, 1<<62, false),
			Default: int64(20)},
		{Name: "optimizer_switch", Scope: both, Dynamic: true,
			Type: types.NewSystemStringType("optimizer_switch"), Default: ""},
		{Name: "profiling", Scope: both, Dynamic: true, Type: types.NewSystemBoolType("profiling"),
			Default: int8(0)},
		{Name: "profiling_history_size", Scope: both, Dynamic: true,
			Type: types.NewSystemIntType("profiling_history_size", 0, 100, false), Default: int64(15)},
		{Name: "query_cache_type", Scope: both, Dynamic: true,
			Type: types.NewSystemStringType("query_cache_type"), Default: "OFF"},
		{Name: "query_cache_size", Scope: global, Dynamic: true,
			Type: types.NewSystemIntType("query_cache_size", 0, 1<<62, false), Default: int64(0)},
	} {
		if _, _, known := sql.SystemVariables.GetGlobal(v.Name); !known {
			sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{v})
		}
	}
	// The library's default is 1 GiB: SET GLOBAL … = DEFAULT would let each client send as much.
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: "max_allowed_packet", Scope: both, Dynamic: true,
		Type:    types.NewSystemUintType("max_allowed_packet", 1024, 1<<30),
		Default: uint64(defaultMaxPacket),
	}})
	// The library's takes any path.
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: "slow_query_log_file", Scope: global, Dynamic: true,
		Type: types.NewSystemStringType("slow_query_log_file"), Default: "moka-slow.log",
		NotifyChanged: func(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
			name, _ := v.Val.(string)
			if err := statements.CheckFileName(name); err != nil {
				return sqlerr.New(sqlerr.WrongValueForVariable,
					"Variable 'slow_query_log_file' can't be set to the value of '%s' (%v)", name, err)
			}
			return nil
		},
	}})
	noTLS := o.TLS == nil && o.Socket == ""
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: "require_secure_transport", Scope: global, Dynamic: true,
		Type: types.NewSystemBoolType("require_secure_transport"), Default: int8(0),
		NotifyChanged: func(_ *sql.Context, _ sql.SystemVariableScope, v sql.SystemVarValue) error {
			if v.Val == int8(1) && noTLS { // nobody could log in any more
				return sqlerr.New(sqlerr.NoSecureTransport,
					"No secure transports (SSL or Shared Memory) are configured, unable to set "+
						"--require_secure_transport=ON.")
			}
			return nil
		},
	}})
	required := int8(0)
	if o.RequireTLS {
		required = 1
	}
	return sql.SystemVariables.AssignValues(map[string]any{
		"require_secure_transport": required,
		"version":                  o.Version,
		"version_comment":          "Moka",
		"max_connections":          int64(o.MaxConnections),
		"wait_timeout":             int64(defaultWaitTimeout),
		// LOAD DATA LOCAL reads a file of the client, which the client has to allow itself.
		"local_infile":     int8(1),
		"secure_file_priv": o.FileDir,
		// The library's are those of a MySQL that is not there: clients would look for its socket.
		"socket": o.Socket, "datadir": o.DataDir, "tmpdir": cmp.Or(o.TempDir, os.TempDir()),
	})
}

// announce tells the system variables where and how the server listens.
func (s *Server) announce() error {
	vars := map[string]any{"net_read_timeout": s.opts.ReadTimeout.Seconds(),
		"net_write_timeout": s.opts.WriteTimeout.Seconds()}
	if _, port, err := net.SplitHostPort(s.Addr().String()); err == nil {
		if n, err := strconv.ParseInt(port, 10, 64); err == nil {
			vars["port"] = n
		}
	}
	for name, v := range vars {
		if seconds, ok := v.(float64); ok && seconds < 1 {
			delete(vars, name)
		}
	}
	return sql.SystemVariables.AssignValues(vars)
}

// countConnection counts a client that has come; n are there now.
func countConnection(n int) {
	sql.StatusVariables.IncrementGlobal("Connections", 1)
	if _, v, ok := sql.StatusVariables.GetGlobal("Max_used_connections"); ok {
		if most, ok := v.(uint64); ok && uint64(n) > most {
			sql.StatusVariables.SetGlobal("Max_used_connections", uint64(n))
		}
	}
}

// bridgeLogs leads the logger of go-mysql-server, which is global to the process, to the first server's:
// what it calls an error, for debugging, since nearly all of it is a statement that was wrong.
var bridgeLogs = func() func(*slog.Logger) {
	var once sync.Once
	return func(l *slog.Logger) {
		once.Do(func() {
			logrus.SetOutput(discard{})
			logrus.SetLevel(logrus.ErrorLevel)
			logrus.AddHook(logrusHook{l})
		})
	}
}()

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

type logrusHook struct{ l *slog.Logger }

func (logrusHook) Levels() []logrus.Level {
	return []logrus.Level{logrus.ErrorLevel, logrus.FatalLevel, logrus.PanicLevel}
}

func (h logrusHook) Fire(e *logrus.Entry) error {
	h.l.Debug(e.Message)
	return nil
}
