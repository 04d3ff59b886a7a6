package engine

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// Warn implements sql.Session. What IGNORE forgives the library notes in its own words, with no number or one of another error; clients read
// the numbers.
func (s *Session) Warn(w *sql.Warning) {
	if s.ofClient && w.Level == "Note" && (w.Code == sqlerr.Unknown || w.Code == sqlerr.BadNull || w.Code == sqlerr.DuplicateKeyEntry) {
		var err error = errors.New(w.Message)
		if w.Code == sqlerr.DuplicateKeyEntry {
			err = mysql.NewSQLError(w.Code, "", "%s", w.Message)
		}
		if e := sqlerr.Final(err, sqlerr.Statement{}); e.Num != sqlerr.Unknown {
			w = &sql.Warning{Level: "Warning", Code: e.Num, Message: e.Message}
			if e.Num == sqlerr.DataTooLong { // which is no error here
				w.Code = sqlerr.DataTruncated
			}
		}
	}
	s.BaseSession.Warn(w)
}
