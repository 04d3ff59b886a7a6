package client

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// What the servers' errors mean to the workload. Either family's error tells by its type whose it is.

// errorCode is the server's number (MySQL) or SQLSTATE (PostgreSQL), empty for an error that no server has
// sent.
func errorCode(err error) string {
	var my *mysql.MySQLError
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &my):
		return fmt.Sprint(my.Number)
	case errors.As(err, &pg):
		return pg.Code
	default:
		return ""
	}
}

// AbortReason names the engine's request to try the whole transaction again, or is empty.
func AbortReason(err error) string {
	switch errorCode(err) {
	case "1213":
		return "1213 deadlock or conflict"
	case "1205":
		return "1205 lock wait timeout"
	case "40001":
		return "40001 serialization failure"
	case "40P01":
		return "40P01 deadlock"
	default:
		return ""
	}
}

func NoSuchTable(err error) bool {
	switch errorCode(err) {
	case "1146", "1049", "42P01", "3D000":
		return true
	}
	return false
}

func DuplicateKey(err error) bool { c := errorCode(err); return c == "1062" || c == "23505" }
func SyntaxError(err error) bool  { c := errorCode(err); return c == "1064" || c == "42601" }

func connectionLost(err error) bool {
	if code := errorCode(err); code != "" {
		return code == "1053" || code == "57P01" // the server is shutting down
	}
	var netErr net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &netErr) || pgconn.SafeToRetry(err)
}

// ErrorKind groups errors for the report.
func ErrorKind(err error) string {
	var status StatusError
	var unknown unknownOutcome
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("status %d", status.Code)
	case errors.As(err, &unknown):
		return "outcome unknown"
	case AbortReason(err) != "":
		return AbortReason(err)
	case errorCode(err) != "":
		return "error " + errorCode(err)
	case connectionLost(err):
		return "connection lost"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	default:
		return "other"
	}
}
