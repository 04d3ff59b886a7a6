package sqlfront_test

import (
	"context"
	"testing"
)

// TestLimitsThatAreNoNumbers: NULL is a syntax error as a literal, and 0 as a parameter; a negative parameter
// is 1210, a text is the number that it begins with. As MariaDB has it.
func TestLimitsThatAreNoNumbers(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	for _, q := range []string{"select 1 limit null", "select 1 limit 1 offset null", "select 1 union select 2 limit null"} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, 1064, "42000")
	}
	want(t, c, "select 1 limit ?", "", nil)
	want(t, c, "select 1 limit ? offset ?", "1", 1, nil)
	want(t, c, "select 1 limit ?", "1", "1")
	want(t, c, "select 1 limit ?", "", "x")
	run(t, c, "prepare p from 'select 1 limit ?'", "set @a = -1, @b = null, @c = 1.5")
	_, err := c.ExecContext(context.Background(), "execute p using @a")
	wantErr(t, "negative", err, 1210, "HY000")
	want(t, c, "execute p using @b", "")
	want(t, c, "execute p using @c", "1")
	_, err = c.QueryContext(context.Background(), "select 1 limit ?", -1)
	wantErr(t, "negative, binary protocol", err, 1210, "HY000")
}
