package parse

import (
	"context"
	"math"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/sqlerr"
)

// Statements about accounts are parsed here as a whole: of ALTER USER the grammar knows the password only,
// and of SET ROLE, SET PASSWORD and SHOW CREATE USER nothing.

// accounts parses one statement. The first error stays; from then on there is no next token.
type accounts struct {
	r   *rewriter
	l   lexer
	t   token // the one at hand
	err error
}

// aboutAccounts reports whether a statement that begins so may be about accounts.
func aboutAccounts(first string) bool {
	switch len(first) {
	case 3:
		return fold(first, "set")
	case 4:
		return fold(first, "drop") || fold(first, "show")
	case 5:
		return fold(first, "alter") || fold(first, "grant")
	case 6:
		return fold(first, "create") || fold(first, "revoke") || fold(first, "rename")
	}
	return false
}

// ChangesPassword reports whether a text begins with a statement that may change a password: ALTER
// USER, or SET PASSWORD.
func ChangesPassword(query string) bool {
	l := &lexer{s: query}
	first, second := l.next(), l.next()
	return l.is(first, "alter") && l.is(second, "user") || l.is(first, "set") && l.is(second, "password")
}

// account parses the statement if it is one of those; the lexer stands behind the first word.
func (r *rewriter) account(ctx context.Context, l *lexer, first token) (stmt ast.Statement, end int,
	done bool, err error) {
	if r.parser.hooks.Account == nil {
		return nil, 0, false, nil
	}
	p := &accounts{r: r, l: *l}
	p.t = p.l.next()
	s := p.statement(strings.ToLower(l.text(first)))
	if s == nil && p.err == nil {
		return nil, 0, false, nil
	}
	if p.err == nil {
		end, p.err = r.statementEnd(&p.l, p.t)
	}
	if p.err != nil {
		return nil, 0, true, p.err
	}
	stmt, err = r.parser.hooks.Account(ctx, s)
	return stmt, end, true, err
}

func (p *accounts) statement(first string) account.Statement {
	switch first {
	case "create", "drop":
		role := p.is("role")
		if !role && !p.is("user") {
			return nil
		}
		p.step()
		switch {
		case first == "drop":
			exists := p.accept("if") && p.expect("exists")
			return account.DropUser{IfExists: exists, Names: p.names(), Role: role}
		case role:
			missing := p.accept("if") && p.expect("not", "exists")
			return account.CreateRole{IfNotExists: missing, Names: p.names()}
		}
		return p.createUser()
	case "alter":
		if !p.is("user") {
			return nil
		}
		p.step()
		return p.alterUser()
	case "rename":
		if !p.is("user") {
			return nil
		}
		p.step()
		var s account.RenameUser
		for more := true; more; more = p.comma() {
			s.From = append(s.From, p.name())
			p.expect("to")
			s.To = append(s.To, p.name())
		}
		return s
	case "set":
		return p.set()
	case "grant":
		return p.grant(false)
	case "revoke":
		return p.grant(true)
	case "show":
		switch {
		case p.is("grants"):
			p.step()
			var s account.ShowGrants
			if p.accept("for") {
				n := p.name()
				s.For = &n
				if p.accept("using") {
					s.Using = p.names()
				}
			}
			return s
		case p.is("create"):
			ahead := p.l
			if n := ahead.next(); ahead.is(n, "user") {
				p.step()
				p.step()
				return account.ShowCreateUser{Name: p.name()}
			}
		}
	}
	return nil
}

func (p *accounts) step() {
	if p.err == nil {
		p.t = p.l.next()
	}
}

func (p *accounts) is(w string) bool { return p.err == nil && p.l.is(p.t, w) }

func (p *accounts) accept(w string) bool {
	if !p.is(w) {
		return false
	}
	p.step()
	return true
}

func (p *accounts) expect(words ...string) bool {
	for _, w := range words {
		if !p.accept(w) {
			p.wrong()
			return false
		}
	}
	return true
}

func (p *accounts) punct(c byte) bool {
	if p.err != nil || !p.l.isByte(p.t, c) {
		return false
	}
	p.step()
	return true
}

func (p *accounts) comma() bool { return p.punct(',') }

func (p *accounts) wrong() {
	if p.err == nil {
		p.err = p.r.errAt(p.t)
	}
}

// refuse is for what MySQL knows and nobody would keep an eye on here.
func (p *accounts) refuse(what string) {
	if p.err == nil {
		p.err = unsupported(what)
	}
}

// textOfToken is what a string stands for.
func textOfToken(s string) string {
	if len(s) < 2 {
		return ""
	}
	q := s[0]
	s = strings.TrimSuffix(s[1:], string(q))
	if !strings.ContainsRune(s, '\\') && strings.IndexByte(s, q) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '0':
				b.WriteByte(0)
			case 'b':
				b.WriteByte('\b')
			case 'Z':
				b.WriteByte(26)
			default:
				b.WriteByte(s[i])
			}
		case s[i] == q && i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// text is a string in quotes.
func (p *accounts) text() string {
	if p.err != nil || p.t.kind != str {
		p.wrong()
		return ""
	}
	s := textOfToken(p.l.text(p.t))
	p.step()
	return s
}

func (p *accounts) number() int64 {
	if p.err != nil || p.t.kind != num {
		p.wrong()
		return 0
	}
	n, err := strconv.ParseInt(p.l.text(p.t), 10, 64)
	if err != nil || n > math.MaxInt32 {
		p.wrong()
	}
	p.step()
	return n
}

// name is an account: user@host, user, CURRENT_USER, USER().
func (p *accounts) name() account.Name {
	if p.err != nil {
		return account.Name{}
	}
	ahead := p.l
	call := ahead.isByte(ahead.next(), '(')
	if p.is("current_user") || p.is("user") && call {
		p.step()
		if p.punct('(') && !p.punct(')') {
			p.wrong()
		}
		return account.Name{Current: true}
	}
	n := account.Name{Host: "%"}
	switch p.t.kind {
	case word, quoted:
		n.User = p.l.name(p.t)
	case str:
		n.User = textOfToken(p.l.text(p.t))
	default:
		p.wrong()
		return n
	}
	p.step()
	if p.t.kind != variable {
		return n
	}
	host := p.l.text(p.t)[1:]
	p.step()
	if host == "" { // there was a space behind the @
		if p.t.kind != word && p.t.kind != quoted && p.t.kind != str && p.t.kind != num {
			p.wrong()
			return n
		}
		host = p.l.text(p.t)
		p.step()
	}
	if q := host[0]; q == '\'' || q == '"' || q == '`' {
		host = textOfToken(host)
	} else {
		for p.l.isByte(p.t, '-') || p.l.isByte(p.t, '%') { // host-1.example
			host += p.l.text(p.t)
			p.step()
			if p.t.kind == word || p.t.kind == num {
				host += p.l.text(p.t)
				p.step()
			}
		}
	}
	if n.Host = host; host == "" {
		n.Host = "%"
	}
	return n
}

func (p *accounts) names() (out []account.Name) {
	for more := true; more; more = p.comma() {
		out = append(out, p.name())
	}
	return out
}

// auth is IDENTIFIED …, nil for none.
func (p *accounts) auth(alter bool) *account.Auth {
	if !p.accept("identified") {
		return nil
	}
	a := &account.Auth{}
	if p.accept("with") {
		switch p.t.kind {
		case str:
			a.Plugin = textOfToken(p.l.text(p.t))
		case word, quoted:
			a.Plugin = p.l.name(p.t)
		default:
			p.wrong()
		}
		p.step()
		switch {
		case p.accept("as"):
			h := p.text()
			a.Hash = &h
			return a
		case !p.accept("by"):
			return a
		}
	} else {
		p.expect("by")
	}
	if p.accept("random") {
		p.expect("password")
		a.Random = true
	} else {
		a.Password = p.text()
	}
	if alter {
		p.afterPassword()
	}
	return a
}

// afterPassword is what ALTER USER and SET PASSWORD may have behind a new password.
func (p *accounts) afterPassword() {
	// MySQL looks at it only where password_require_current is on, which it is not here
	if p.accept("replace") {
		p.text()
	}
	if p.is("retain") {
		p.refuse("RETAIN CURRENT PASSWORD")
	}
}

func (p *accounts) users(alter bool) (out []account.User) {
	for more := true; more; more = p.comma() {
		u := account.User{Name: p.name()}
		u.Auth = p.auth(alter)
		if p.is("discard") {
			p.refuse("DISCARD OLD PASSWORD")
		}
		if p.is("and") && u.Auth != nil {
			p.refuse("authentication by several factors")
		}
		out = append(out, u)
	}
	return out
}

func (p *accounts) createUser() account.Statement {
	s := account.CreateUser{IfNotExists: p.accept("if") && p.expect("not", "exists")}
	s.Users = p.users(false)
	if p.accept("default") {
		p.expect("role")
		s.Roles = p.names()
	}
	s.Options = p.options()
	return s
}

func (p *accounts) alterUser() account.Statement {
	s := account.AlterUser{IfExists: p.accept("if") && p.expect("exists")}
	s.Users = p.users(true)
	if p.accept("default") && p.expect("role") {
		d := account.SetDefaultRole{Alter: true}
		d.Choice, d.Roles = p.roles(false)
		for _, u := range s.Users {
			d.To = append(d.To, u.Name)
		}
		return d
	}
	s.Options = p.options()
	return s
}

// roles is what may stand behind SET ROLE (all), or in front of TO.
func (p *accounts) roles(all bool) (account.RoleChoice, []account.Name) {
	switch {
	case p.accept("none"):
		return account.NoRoles, nil
	case p.accept("all"):
		if all && p.accept("except") {
			return account.AllRolesExcept, p.names()
		}
		return account.AllRoles, nil
	case all && p.accept("default"):
		return account.DefaultRoles, nil
	}
	return account.TheseRoles, p.names()
}

func (p *accounts) options() (o account.Options) {
	if p.accept("require") {
		o.Require = p.require()
	}
	if p.accept("with") {
		p.limits(&o)
	}
	for p.err == nil {
		switch {
		case p.accept("account"):
			lock := p.accept("lock")
			if !lock {
				p.expect("unlock")
			}
			o.Locked = &lock
		case p.accept("password"):
			p.password(&o)
		case p.is("failed_login_attempts"), p.is("password_lock_time"):
			what := strings.ToUpper(p.l.text(p.t))
			p.step()
			if p.is("unbounded") || p.number() != 0 {
				p.refuse(what)
			}
		case p.accept("comment"):
			c := p.text()
			o.Comment = &c
			return o
		case p.accept("attribute"):
			a := p.text()
			o.Attribute = &a
			return o
		default:
			return o
		}
	}
	return o
}

func (p *accounts) require() *account.TLS {
	t := &account.TLS{}
	switch {
	case p.accept("none"):
		t.None = true
	case p.accept("ssl"):
		t.Any = true
	case p.accept("x509"):
		t.X509 = true
	default:
		for first := true; first || p.accept("and") || p.is("cipher") || p.is("issuer") ||
			p.is("subject"); first = false {
			switch {
			case p.accept("cipher"):
				t.Cipher = p.text()
			case p.accept("issuer"):
				t.Issuer = p.text()
			case p.accept("subject"):
				t.Subject = p.text()
			default:
				p.wrong()
			}
			if p.err != nil {
				break
			}
		}
	}
	return t
}

func (p *accounts) limits(o *account.Options) {
	for n := 0; p.err == nil; n++ {
		switch {
		case p.accept("max_user_connections"):
			v := p.number()
			o.Conns = &v
		case p.is("max_queries_per_hour"), p.is("max_updates_per_hour"), p.is("max_connections_per_hour"):
			what := strings.ToUpper(p.l.text(p.t))
			p.step()
			if p.number() != 0 {
				p.refuse(what)
			}
		case n == 0:
			p.wrong()
		default:
			return
		}
	}
}

func (p *accounts) password(o *account.Options) {
	switch {
	case p.accept("expire"):
		switch {
		case p.accept("default"):
			o.Expiry = &account.Expiry{Default: true}
		case p.accept("never"):
			o.Expiry = &account.Expiry{}
		case p.accept("interval"):
			o.Expiry = &account.Expiry{Days: int(p.number())}
			p.expect("day")
			if o.Expiry.Days < 1 || o.Expiry.Days > 65535 {
				p.wrong()
			}
		default:
			o.Expiry = &account.Expiry{Now: true}
		}
	case p.accept("history"):
		if !p.accept("default") && p.number() != 0 {
			p.refuse("PASSWORD HISTORY")
		}
	case p.accept("reuse"):
		p.expect("interval")
		if p.accept("default") {
			return
		}
		if p.number() != 0 {
			p.refuse("PASSWORD REUSE INTERVAL")
		}
		p.expect("day")
	case p.accept("require"):
		p.expect("current")
		if !p.accept("default") && !p.accept("optional") {
			p.refuse("PASSWORD REQUIRE CURRENT")
		}
	default:
		p.wrong()
	}
}

func (p *accounts) set() account.Statement {
	switch {
	case p.is("password"):
		p.step()
		u := account.User{Name: account.Name{Current: true}, Auth: &account.Auth{}}
		if p.accept("for") {
			u.Name = p.name()
		}
		switch {
		case p.accept("to"):
			p.expect("random")
			u.Auth.Random = true
		default:
			if !p.punct('=') {
				p.wrong()
			}
			u.Auth.Password = p.text()
		}
		p.afterPassword()
		return account.AlterUser{Users: []account.User{u}}
	case p.is("role"):
		ahead := p.l
		if n := ahead.next(); ahead.isByte(n, '=') || ahead.isByte(n, ':') { // a variable of that name
			return nil
		}
		p.step()
		var s account.SetRole
		s.Choice, s.Roles = p.roles(true)
		return s
	case p.is("default"):
		p.step()
		p.expect("role")
		var s account.SetDefaultRole
		s.Choice, s.Roles = p.roles(false)
		p.expect("to")
		s.To = p.names()
		return s
	}
	return nil
}

// listed is one thing in the list of GRANT or REVOKE, which is of privileges or of roles.
type listed struct {
	name      account.Name
	words     string // a privilege, in upper case
	columns   []string
	privilege bool
}

func (p *accounts) grant(revoke bool) account.Statement {
	exists := revoke && p.accept("if") && p.expect("exists")
	if p.accept("proxy") {
		p.refuse("PROXY")
		return account.Grant{}
	}
	all := false
	var list []listed
	if p.is("all") {
		p.step()
		p.accept("privileges")
		all = true
		if revoke && p.comma() {
			p.expect("grant", "option")
			return p.finishGrant(account.Grant{Revoke: true, Everything: true, IfExists: exists})
		}
	} else {
		for more := true; more; more = p.comma() {
			list = append(list, p.listed())
		}
	}
	if !all && !p.is("on") {
		s := account.GrantRole{Revoke: revoke, IfExists: exists}
		for _, one := range list {
			if one.columns != nil {
				p.wrong()
			}
			if one.name.User == "" {
				one.name = account.Name{User: strings.ToLower(one.words), Host: "%"}
			}
			s.Roles = append(s.Roles, one.name)
		}
		p.toOrFrom(revoke)
		s.To = p.names()
		if !revoke && p.accept("with") {
			s.Admin = p.expect("admin", "option")
		}
		s.IgnoreUser = revoke && p.accept("ignore") && p.expect("unknown", "user")
		return s
	}
	p.expect("on")
	g := account.Grant{Revoke: revoke, All: all, IfExists: exists}
	for _, one := range list {
		if !one.privilege || !account.IsPrivilege(one.words) {
			if p.err == nil {
				p.err = sqlerr.Syntax(p.r.src, p.t.start)
			}
			return g
		}
		g.Privileges = append(g.Privileges, account.Privilege{Name: one.words, Columns: one.columns})
	}
	p.object(&g)
	return p.finishGrant(g)
}

func (p *accounts) finishGrant(g account.Grant) account.Statement {
	p.toOrFrom(g.Revoke)
	g.To = p.names()
	if p.is("identified") || p.is("require") { // which MySQL 8 has in CREATE USER only
		p.wrong()
	}
	if !g.Revoke && p.accept("with") {
		g.WithGrant = p.expect("grant", "option")
	}
	if p.is("as") {
		p.refuse("GRANT … AS")
	}
	g.IgnoreUser = g.Revoke && p.accept("ignore") && p.expect("unknown", "user")
	return g
}

func (p *accounts) toOrFrom(revoke bool) {
	if revoke {
		p.expect("from")
	} else {
		p.expect("to")
	}
}

// listed reads a privilege, which may be several words and have columns, or a role.
func (p *accounts) listed() (out listed) {
	if p.err != nil {
		return out
	}
	start := p.t
	if p.t.kind == word {
		var words []string
		for p.t.kind == word && !p.is("on") && !p.is("to") && !p.is("from") && p.err == nil {
			words = append(words, strings.ToUpper(p.l.text(p.t)))
			p.step()
		}
		out.words, out.privilege = strings.Join(words, " "), true
		if p.t.kind != variable {
			if len(words) == 1 {
				out.name = account.Name{User: p.l.text(start), Host: "%"}
			}
			if p.punct('(') {
				for more := true; more; more = p.comma() {
					if p.t.kind != word && p.t.kind != quoted {
						p.wrong()
						return out
					}
					out.columns = append(out.columns, p.l.name(p.t))
					p.step()
				}
				if !p.punct(')') {
					p.wrong()
				}
			}
			return out
		}
		// role@host: once more from its start
		p.l.pos = start.end
		p.t = start
	}
	out.privilege = false
	out.name = p.name()
	return out
}

// object is [TABLE | FUNCTION | PROCEDURE] *, *.*, db.*, db.name or name.
func (p *accounts) object(g *account.Grant) {
	ahead := p.l
	next := ahead.next()
	kind := next.kind == word || next.kind == quoted || ahead.isByte(next, '*')
	switch {
	case !kind:
	case p.accept("table"):
	case p.accept("function"):
		g.Object = account.OnFunction
	case p.accept("procedure"):
		g.Object = account.OnProcedure
	}
	part := func() string {
		switch {
		case p.punct('*'):
			return "*"
		case p.err == nil && (p.t.kind == word || p.t.kind == quoted):
			s := p.l.name(p.t)
			p.step()
			return s
		}
		p.wrong()
		return ""
	}
	if g.Name = part(); p.punct('.') {
		g.Database, g.Name = g.Name, part()
	}
}
