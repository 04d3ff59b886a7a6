package client

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestStatementsOfPostgres(t *testing.T) {
	f, err := FamilyOf("postgres://u@h/d")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE b = ? AND c IN (?, ?)": "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)",
		"SELECT '?' FROM t WHERE b = ? FOR UPDATE": "SELECT '?' FROM t WHERE b = $1 FOR NO KEY " +
			"UPDATE",
		"SELECT x FROM t WHERE y LIKE 'it''s ?' AND z = ?": "SELECT x FROM t WHERE y LIKE 'it''s ?' AND z " +
			"= $1",
	} {
		if got := f.statement(text); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestServerCPU measures a process that is surely working: this one, and that there is no
// answer for a stranger.
func TestServerCPU(t *testing.T) {
	s := serverCPU{os.Getpid()}
	before, err := s.Used()
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after-before < 20*time.Millisecond; {
		if after, err = s.Used(); err != nil || after < before {
			t.Fatalf("%v after %v, %v", after, before, err)
		}
	}
	if _, err := FindServer("mysql://root@192.0.2.1:3306/d"); !errors.Is(err, errNoCPU) {
		t.Errorf("a server elsewhere: %v", err)
	}
}
