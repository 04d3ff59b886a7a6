package wire

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// Plans runs statements of which it has a plan without the SQL library's parser, analyser and row machinery.
type Plans interface {
	// Run runs a SELECT, INSERT, UPDATE or DELETE if it has a plan for it; a nil result without an error leaves the statement to the
	// library, of whose result learn, if it is not nil, wants the head.
	Run(ctx context.Context, c *mysql.Conn, session sql.Session, text string, prepared bool, vars map[string]*querypb.BindVariable,
		status string) (result *sqltypes.Result, learn func([]*querypb.Field), err error)
	// Transaction is "begin", "commit" or "rollback"; not done, it is left to the library.
	Transaction(ctx context.Context, c *mysql.Conn, session sql.Session, verb string) (done bool, err error)
	// Forget is told of each statement that the library has run.
	Forget(session sql.Session)
}

// planVerbs are the kinds of statements that may have plans, with the status variables that count them.
var planVerbs = [verbs]string{verbSelect: "Com_select", verbInsert: "Com_insert", verbUpdate: "Com_update", verbDelete: "Com_delete"}

// transactionVerb is the statement in the words of Plans.Transaction, empty for others.
func transactionVerb(query string) string {
	if len(query) > 24 {
		return ""
	}
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(query), "; ")) {
	case "begin", "start transaction":
		return "begin"
	case "commit":
		return "commit"
	case "rollback":
		return "rollback"
	}
	return ""
}

// planned puts the plans in front of exec, which is the library.
func (h *handler) planned(conn *connection, st statement, query string, prepare *mysql.PrepareData,
	exec func(context.Context, mysql.ResultSpoolFn) (string, error)) func(context.Context, mysql.ResultSpoolFn) (string, error) {
	plans := h.srv.opts.Plans
	if plans == nil || conn.session == nil {
		return exec
	}
	status := planVerbs[st.verb]
	verb := ""
	if st.verb == verbTransaction {
		verb = transactionVerb(query)
	}
	var vars map[string]*querypb.BindVariable
	if prepare != nil {
		vars = prepare.BindVars
	}
	return func(ctx context.Context, callback mysql.ResultSpoolFn) (rest string, err error) {
		conn.planned = false
		var learn func([]*querypb.Field)
		switch {
		case status != "":
			var r *sqltypes.Result
			r, learn, err = plans.Run(ctx, conn.conn, conn.session, query, prepare != nil, vars, status)
			if err != nil {
				return "", err
			}
			if r != nil {
				conn.planned = true
				return "", callback(r, false)
			}
		case verb != "":
			done, err := plans.Transaction(ctx, conn.conn, conn.session, verb)
			if err != nil {
				return "", err
			}
			if done {
				return "", callback(&sqltypes.Result{}, false)
			}
		}
		defer func() {
			plans.Forget(conn.session)
			conn.limits = nil
		}()
		if learn == nil {
			return exec(ctx, callback)
		}
		var head []*querypb.Field
		rest, err = exec(ctx, func(r *sqltypes.Result, more bool) error {
			err := callback(r, more) // mends the head
			if head == nil {
				head = r.Fields
			}
			return err
		})
		if err == nil {
			learn(head)
		}
		return rest, err
	}
}
