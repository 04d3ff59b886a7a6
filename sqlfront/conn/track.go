package conn

import (
	"fmt"
	"strings"

	"moka/sqlfront/mysqlproto"
)

// tracked is what a client that tracks its session (CLIENT_SESSION_TRACK) is told of when it changes.
type tracked struct {
	on        bool
	schema    string
	variables []string // name, value, name, value, …
}

// track is the state before a statement.
func (c *Connection) track() tracked {
	if !c.has(mysqlproto.ClientSessionTrack) || c.session == nil {
		return tracked{}
	}
	t := tracked{on: true, schema: c.session.GetCurrentDatabase()}
	v, err := c.session.GetSessionVariable(nil, "session_track_system_variables")
	if err != nil {
		return t
	}
	names, _ := v.(string)
	for name := range strings.SplitSeq(names, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if v, err := c.session.GetSessionVariable(nil, name); err == nil {
			t.variables = append(t.variables, name, shown(v))
		}
	}
	return t
}

// shown is a variable's value as SHOW VARIABLES has it.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int8:
		if v != 0 {
			return "ON"
		}
		return "OFF"
	}
	return fmt.Sprint(v)
}

// noteChanges compares the state with that before a statement.
func (c *Connection) noteChanges(before tracked) {
	if !before.on || c.session == nil {
		return
	}
	now := c.track()
	var b []byte
	had := map[string]string{}
	for i := 0; i < len(before.variables); i += 2 {
		had[before.variables[i]] = before.variables[i+1]
	}
	for i := 0; i < len(now.variables); i += 2 {
		if old, known := had[now.variables[i]]; known && old != now.variables[i+1] {
			b = mysqlproto.AppendVariableChange(b, now.variables[i], now.variables[i+1])
		}
	}
	if now.schema != before.schema && c.variable("session_track_schema") != 0 {
		b = mysqlproto.AppendSchemaChange(b, now.schema)
	}
	c.noted = append(c.noted, b...)
}

// changes are those that the client has not been told of.
func (c *Connection) changes() []byte {
	b := c.noted
	c.noted = nil
	return b
}
