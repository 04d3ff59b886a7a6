package system

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

var (
	nameType   = types.MustCreateString(sqltypes.VarChar, 64, sql.Collation_Information_Schema_Default)
	momentType = types.MustCreateDatetimeType(sqltypes.Datetime, 6)
)

// Name is a column of names; it is never NULL.
func Name(n string) *sql.Column { return &sql.Column{Name: n, Type: nameType} }

// Text is a column of texts.
func Text(n string) *sql.Column { return &sql.Column{Name: n, Type: types.LongText, Nullable: true} }

// Number is a column of numbers that are not negative.
func Number(n string) *sql.Column { return &sql.Column{Name: n, Type: types.Uint64, Nullable: true} }

// Moment is a column of times.
func Moment(n string) *sql.Column { return &sql.Column{Name: n, Type: momentType, Nullable: true} }
