package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/account"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/multitable"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// Whose rights count. A statement of a client has those of its account. What a body does, of a trigger, an observer or a routine, has those of
// the definer, and what the text of a view names is asked of the view's; SQL SECURITY INVOKER leaves them as they are. They are
// never looked at once and for all: whatever keeps the answer (a statement of a body, by its plan or bound once) keeps beside it under which version
// of the accounts, and for whom, it was given. Comparing that is what a REVOKE, on any SQL node, costs a trigger that is fired.

// ActAs runs f with the rights of another account: as it is now, with the roles that it logs in with.
func (s *Session) ActAs(ctx *sql.Context, user, host string, f func() error) error {
	if !s.eng.asks() {
		return f()
	}
	by, ok := s.eng.directory.Spelled(account.Name{User: user, Host: host})
	if !ok {
		return sqlerr.New(sqlerr.NoSuchDefiner, "The user specified as a definer ('%s'@'%s') does not exist", user, host)
	}
	client, granted, patterns := s.Client(), s.granted, s.patterns
	set, counter := s.GetPrivilegeSet()
	as := client
	as.User, as.Address = by.User, by.Host
	s.acting++
	s.patterns = nil
	s.become(as)
	defer func() {
		s.acting--
		s.SetClient(client)
		s.BaseSession.SetPrivilegeSet(set, counter)
		if s.granted, s.patterns = granted, patterns; len(patterns) > 0 {
			for name := range s.named { // there are more of them now
				s.grant(name)
			}
		}
	}()
	return f()
}

// asks reports whether privileges are asked for at all.
func (e *Engine) asks() bool { return e.accounts() != nil && e.accounts().Enabled() }

// hasAccount reports whether there is an account of exactly that name: the library would take one whose host is a pattern that matches.
func (e *Engine) hasAccount(n account.Name) bool {
	_, ok := e.directory.Spelled(n)
	return ok
}

// definerName reads user@host as descriptors have it; empty is nobody.
func definerName(text string) account.Name {
	if text == "" {
		return account.Name{}
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return account.Name{User: text, Host: "%"}
	}
	return account.Name{User: text[:at], Host: text[at+1:]}
}

// nobody reports whether a client is none: of a session of the server's own, or in the place of a definer
// that nobody knows. It is not the anonymous user, whose name is empty and who has a host.
func nobody(c sql.Client) bool { return account.Name{User: c.User, Host: c.Address}.None() }

// newDefiner is whose something will be that the user of ctx creates, user@host, by the DEFINER clause of its text if there is one. Somebody else's
// takes a privilege, and is the user's own doing: what it may is asked when it runs.
func (e *Engine) newDefiner(ctx *sql.Context, clause string) (definer string, own bool, err error) {
	client := ctx.Client()
	as := definerOf(clause)
	if nobody(as) || as.User == client.User && strings.EqualFold(as.Address, client.Address) {
		if nobody(client) {
			return "", true, nil
		}
		return client.User + "@" + client.Address, true, nil
	}
	if e.asks() && !e.mayPose(ctx) {
		return "", false, rights.Needs("SUPER or SET_USER_ID")
	}
	if e.asks() && !e.hasAccount(account.Name{User: as.User, Host: as.Address}) {
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: sqlerr.NoSuchDefiner, Message: "The user specified as a definer ('" + as.User + "'@'" + as.Address + "') does not exist"})
	}
	return as.User + "@" + as.Address, false, nil
}

// mayLend refuses a routine with SQL SECURITY INVOKER of somebody who may not make things in other accounts' names, when it is not the invoker himself
// who calls it but a view, a trigger, an observer or a routine that runs as its definer. That was written when there was a table, or another routine,
// of the name; whoever may replace those would have all that the definer may. (MySQL and MariaDB run it.)
func (s *Session) mayLend(ctx *sql.Context, c *compiled, view bool) error {
	if s.acting == 0 && s.posing == 0 && !view || !s.eng.asks() {
		return nil
	}
	by := account.Name{User: c.definer.User, Host: c.definer.Address}
	now := asked{s.eng.directory.Version(), by}
	if c.lends == now {
		return nil
	}
	may := false
	if s.eng.hasAccount(by) {
		if err := s.ActAs(ctx, by.User, by.Host, func() error {
			may = s.eng.mayPose(ctx)
			return nil
		}); err != nil {
			return err
		}
	}
	if !may {
		return sqlerr.New(sqlerr.RoutineAccessDenied, "execute command denied to user '%s'@'%s' for routine '%s.%s': it has SQL SECURITY INVOKER, and what "+
			"calls it runs as its definer, in whose name '%s'@'%s' may not act (SET_USER_ID); make it SQL SECURITY DEFINER, or create it as another user",
			ctx.Client().User, ctx.Client().Address, c.body.Database, c.body.Name, by.User, by.Host)
	}
	c.lends = now
	return nil
}

// mayPose reports whether the user may make things whose definer is somebody else.
func (e *Engine) mayPose(ctx *sql.Context) bool {
	return rights.Has(ctx, e.accounts(), sql.PrivilegeType_Super) || e.accounts().UserHasPrivileges(ctx, sql.NewDynamicPrivilegedOperation("set_user_id"))
}

// asked is under which version of the accounts a question about privileges was answered with yes, and for whom.
type asked struct {
	version uint64
	by      account.Name
}

// asking is the question of the moment. ok is false if the answer must not be kept: what a client's own statement may depends on the roles
// that it has switched on.
func (s *Session) asking() (a asked, ok bool) {
	if s.acting == 0 {
		return asked{}, false
	}
	return asked{s.eng.directory.Version(), s.Account()}, true
}

// may reports whether a statement of a body may be run by its plan.
func (k *keptStatement) may(ctx *sql.Context, s *Session) bool {
	now, keeps := s.asking()
	if keeps && k.asked == now {
		return true
	}
	if !s.eng.accounts().UserHasPrivileges(ctx, k.plan.allow...) {
		return false
	}
	if keeps {
		k.asked = now
	}
	return true
}

// entitled refuses a body whose definer may have none on its table any more: that takes TRIGGER, SELECT on the columns of OLD and NEW that the
// body reads, and UPDATE on those of NEW that it gives values to. It is called as the definer.
func (b *Body) entitled(ctx *sql.Context, s *Session) error {
	now, keeps := s.asking()
	if !keeps || b.asked == now {
		return nil
	}
	if !rights.OnTable(ctx, b.eng.accounts(), b.db, b.name, sql.PrivilegeType_Trigger) {
		return rights.TableDenied(ctx, "TRIGGER", b.name)
	}
	if err := b.mayColumns(ctx, sql.PrivilegeType_Select, b.routine.Reads); err != nil {
		return err
	}
	if err := b.mayColumns(ctx, sql.PrivilegeType_Update, b.routine.Writes); err != nil {
		return err
	}
	b.asked = now
	return nil
}

func (b *Body) mayColumns(ctx *sql.Context, p sql.PrivilegeType, columns []string) error {
	if len(columns) == 0 || rights.OnTable(ctx, b.eng.accounts(), b.db, b.name, p) {
		return nil
	}
	of := b.eng.accounts().UserActivePrivilegeSet(ctx).Database(b.db).Table(b.name)
	for _, name := range columns {
		if !of.Column(name).Has(p) {
			return rights.ColumnDenied(ctx, strings.ToUpper(p.String()), name, b.name)
		}
	}
	return nil
}

// mayAssign is entitled for the parameter of a CALL that comes back into a column of NEW.
func (h *routineHost) mayAssign(ctx *sql.Context, variable string) error {
	column, ok := strings.CutPrefix(variable, "NEW.")
	if _, keeps := h.session.asking(); !ok || !keeps || h.body == nil {
		return nil
	}
	return h.body.mayColumns(ctx, sql.PrivilegeType_Update, []string{column})
}

// Within implements rights.within: the view in whose text the name stands that is bound next.
func (s *Session) Within(v *rights.Stored, function string) {
	s.reading, s.calling = v, function
}

// Explain notes that the statement that is being bound is explained, as package rights wants to know.
func (s *Session) Explain(is bool) { s.explains = is }

// Explains reports whether it is.
func (s *Session) Explains() bool { return s.explains }

// callee takes what is known of a function's call, for who looks the function up: the view in whose text it stands, nil for none.
func (s *Session) callee(name string) *rights.Stored {
	v, called := s.reading, s.calling
	s.calling = ""
	if called == "" || !strings.EqualFold(called, name) {
		return nil
	}
	return v
}

// storedAs is whose rights count for the text of a view that the planner is about to bind: its definer's, or with SQL SECURITY INVOKER those of the
// view in which it is named, if it is in one. Of views of the oldest releases nobody knows who made them: they are read with the user's.
func (s *Session) storedAs(database, name, definer string, invoker bool) *rights.Stored {
	return storedAs(s.reading, database, name, definer, invoker)
}

// storedAs is that for a view within outer; nil for none.
func storedAs(outer *rights.Stored, database, name, definer string, invoker bool) *rights.Stored {
	v := &rights.Stored{Database: database, View: name, Definer: definer}
	if !invoker && definer != "" {
		by := definerName(definer)
		v.User, v.Host = by.User, by.Host
		return v
	}
	if outer != nil {
		v.User, v.Host, v.Makers = outer.User, outer.Host, outer.Makers
	}
	if v.Makers != "" && definer != "" {
		v.Makers += "\x00"
	}
	v.Makers += definer
	return v
}

// refuseSystemTables refuses to write rows of the database mysql, to root as well: the library would take them for accounts that nobody has
// looked at. It is asked when the statement runs, whatever way it came.
func refuseSystemTables(n sql.Node) error {
	refuse := func(under sql.Node) (err error) {
		transform.Inspect(under, func(n sql.Node) bool {
			if t, ok := n.(*plan.ResolvedTable); ok && err == nil && t.SqlDatabase != nil && strings.EqualFold(t.SqlDatabase.Name(), infoschema.AccountsDatabase) {
				err = rights.SystemTable(t.Name())
			}
			_, derived := n.(*plan.SubqueryAlias)
			return !derived
		})
		return err
	}
	if t, ok := n.(*plan.Truncate); ok {
		return refuse(t.Child)
	}
	for _, target := range multitable.WrittenBy(n) {
		if err := refuse(target); err != nil {
			return err
		}
	}
	return nil
}
