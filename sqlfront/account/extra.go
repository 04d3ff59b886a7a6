package account

import (
	"encoding/json"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/sqlerr"
)

// extraKey is the key of what is ours in an account's attributes. MySQL's own object has "metadata" there.
const extraKey = "moka"

// extra is what the library has no field for.
type extra struct {
	// ID tells an account from another that had its name before it and was dropped. Those of older releases,
	// and that of the first root, have none.
	ID          uint64   `json:"id,omitempty"`
	Role        bool     `json:"role,omitempty"`
	Expired     bool     `json:"expired,omitempty"`
	Lifetime    *int     `json:"lifetime,omitempty"` // days; 0 for never, nil for the server's default
	Connections int64    `json:"connections,omitempty"`
	Defaults    []string `json:"defaults,omitempty"` // default roles, as Name.key
	All         bool     `json:"all,omitempty"`      // all granted roles are
	Admin       []string `json:"admin,omitempty"`    // roles that the account may grant on
}

// attributes is the JSON object of an account.
type attributes struct {
	Metadata map[string]json.RawMessage `json:"metadata,omitempty"`
	Extra    *extra                     `json:"moka,omitempty"`
}

func attributesOf(u *mysql_db.User) (a attributes) {
	if u.Attributes == nil {
		return a
	}
	if json.Unmarshal([]byte(*u.Attributes), &a) == nil && (a.Metadata != nil || a.Extra != nil) {
		return a
	}
	// An older release kept the object of ATTRIBUTE itself.
	a = attributes{}
	if json.Unmarshal([]byte(*u.Attributes), &a.Metadata) != nil {
		a.Metadata = nil
	}
	return a
}

// extraOf is the account's extra, to be changed.
func extraOf(u *mysql_db.User) extra {
	if e := attributesOf(u).Extra; e != nil {
		return *e
	}
	return extra{}
}

// setExtra gives an account of one's own what the library does not know.
func setExtra(u *mysql_db.User, f func(*extra)) {
	a := attributesOf(u)
	if a.Extra == nil {
		a.Extra = &extra{}
	}
	f(a.Extra)
	a.store(u)
}

func (a attributes) store(u *mysql_db.User) {
	if len(a.Metadata) == 0 && a.Extra == nil {
		u.Attributes = nil
		return
	}
	text, _ := json.Marshal(a) // of strings, numbers and what was JSON
	s := string(text)
	u.Attributes = &s
}

// setMetadata merges what COMMENT and ATTRIBUTE say: a null takes a key away.
func setMetadata(u *mysql_db.User, o Options) error {
	if o.Comment == nil && o.Attribute == nil {
		return nil
	}
	a := attributesOf(u)
	if a.Metadata == nil {
		a.Metadata = map[string]json.RawMessage{}
	}
	add := map[string]json.RawMessage{}
	if o.Comment != nil {
		add["comment"], _ = json.Marshal(*o.Comment)
	} else if err := json.Unmarshal([]byte(*o.Attribute), &add); err != nil {
		return sqlerr.New(invalidJSON, "Invalid JSON text in argument 1 to function ATTRIBUTE: \"%s\" at position 0.", err.Error())
	}
	for k, v := range add {
		if string(v) == "null" {
			delete(a.Metadata, k)
		} else {
			a.Metadata[k] = v
		}
	}
	a.store(u)
	return nil
}

// metadata is the object of COMMENT and ATTRIBUTE, "" for none.
func metadata(u *mysql_db.User) string {
	a := attributesOf(u)
	if len(a.Metadata) == 0 {
		return ""
	}
	text, _ := json.Marshal(a.Metadata)
	return string(text)
}

// shownAttributes is the column User_attributes of mysql.user, "" for NULL.
func shownAttributes(u *mysql_db.User) string {
	m := metadata(u)
	if m == "" {
		return ""
	}
	return `{"metadata": ` + m + `}`
}
