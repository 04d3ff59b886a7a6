package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/account"
)

// GRANT … ON `app\_%`.* is for all databases whose names match, those to come included. The library takes the pattern for a name. A session
// has a copy of its account's privileges: it gets those of the pattern under the name of each database that the session asks for.

// SetPrivilegeSet implements sql.Session. The library looks into the set that it hands over here.
func (s *Session) SetPrivilegeSet(set sql.PrivilegeSet, counter uint64) {
	if granted, ok := set.(mysql_db.PrivilegeSet); ok {
		s.exactly(granted)
	}
	s.AssumePrivileges(set, counter)
}

// AssumePrivileges gives the session a set of privileges, whatever its account has.
func (s *Session) AssumePrivileges(set sql.PrivilegeSet, counter uint64) {
	s.BaseSession.SetPrivilegeSet(set, counter)
	s.granted, _ = set.(mysql_db.PrivilegeSet)
	s.patterns = s.patterns[:0]
	if set == nil {
		return
	}
	for _, d := range set.GetDatabases() {
		name := strings.ToLower(d.Name())     // patterns are compared without case, as names are
		if _, ours := s.matched[name]; ours { // which is no pattern, whatever characters it has
			continue
		}
		if strings.ContainsAny(name, `%_`) && d.Count() > 0 {
			s.patterns = append(s.patterns, grantPattern{name, d.ToSlice()})
		}
	}
	// MySQL takes the most specific of them: the one whose first wildcard is last.
	slices.SortStableFunc(s.patterns, func(a, b grantPattern) int {
		return account.FirstWildcard(b.name) - account.FirstWildcard(a.name)
	})
	for name := range s.named {
		s.grant(name)
	}
}

// maxNamed bounds what a session remembers of the names that a client makes up.
const maxNamed = 1 << 12

// NameDatabase tells the session of a database that is asked for, before anybody looks whether it may be.
func (s *Session) NameDatabase(name string) {
	name = strings.ToLower(name)
	if _, done := s.named[name]; done || name == "" {
		return
	}
	if s.named == nil || len(s.named) > maxNamed {
		s.named = map[string]struct{}{}
	}
	s.named[name] = struct{}{}
	if len(s.patterns) > 0 {
		s.grant(name)
	}
}

// grantPattern is a pattern with the privileges that it gives.
type grantPattern struct {
	name   string
	rights []sql.PrivilegeType
}

// grant gives the privileges of the best pattern, unless there are some on the database itself. The library
// has those of a pattern under the pattern, as if it were a name: a database of that very name has none of
// them, if the pattern is not for it. (`my\_db` is for my_db.)
func (s *Session) grant(name string) {
	for _, p := range s.patterns {
		if p.name == name && !account.Matches(p.name, name) {
			s.granted.RemoveDatabase(name, p.rights...)
		}
	}
	if len(s.patterns) == 0 || s.granted.Database(name).Count() > 0 {
		return
	}
	for _, p := range s.patterns {
		if account.Matches(p.name, name) {
			if s.matched == nil {
				s.matched = map[string]struct{}{}
			}
			s.matched[name] = struct{}{}
			s.granted.AddDatabase(name, p.rights...)
			return
		}
	}
}
