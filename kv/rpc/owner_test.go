package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"moka/kv"
	"moka/kv/rpc/nodecert"
)

// TestOwnerOnly is S3 on one machine: the same user's processes find each other. Another user's do not, which cmd/itest shows with
// a real one and kv/peercred decides.
func TestOwnerOnly(t *testing.T) {
	l := newLink(t, echo, Options{Credentials: OwnerOnly()}, Options{Credentials: OwnerOnly()})
	if got, err := l.call(t.Context(), readCmd, "x"); err != nil || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRoleIsAsked runs commands over mutual TLS: one of role sql may do what the server allows to it and no more.
func TestRoleIsAsked(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(nodecert.CreateCA(dir+"/ca"), nodecert.CreateNode(dir+"/storage", dir+"/ca", nodecert.RoleStorage, []string{"127.0.0.1"}),
		nodecert.CreateNode(dir+"/sql", dir+"/ca", nodecert.RoleSQL, nil)); err != nil {
		t.Fatal(err)
	}
	load := func(f func(string) (*tls.Config, error), name string) credentials.TransportCredentials {
		t.Helper()
		c, err := f(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return credentials.NewTLS(c)
	}
	forbidden := errors.New("only storage may")
	allow := func(ctx context.Context) func(string) error {
		p, _ := peer.FromContext(ctx)
		if role, err := nodecert.Role(p.AuthInfo.(credentials.TLSInfo).State); err != nil || role != nodecert.RoleSQL {
			return nil
		}
		return func(what string) error {
			if what == "test.Write" || what == "/moka.kv.v1.Cluster/Hello" {
				return forbidden
			}
			return nil
		}
	}
	s, addr := serve(t, "127.0.0.1:0", echo, Options{Credentials: load(nodecert.Server, "storage"), Allow: allow})
	for _, role := range []string{"storage", "sql"} {
		p := NewPool(registry(t, readCmd, writeCmd), Options{Credentials: load(nodecert.Client, role)})
		defer p.Close()
		p.SetAddress(theNode, addr)
		l := &link{s, p, addr}
		if _, err := l.call(t.Context(), readCmd, "x"); err != nil {
			t.Errorf("%s reads: %v", role, err)
		}
		_, write := l.call(t.Context(), writeCmd, "x")
		_, join := p.Join(t.Context(), addr, "v1")
		if role == "storage" && (write != nil || join != nil) {
			t.Errorf("storage: %v, %v", write, join)
		}
		if role == "sql" {
			wantCode(t, write, kv.ErrInvalidArgument)
			if join == nil {
				t.Error("a method that is not allowed was called")
			}
		}
	}
	plain := NewPool(registry(t, readCmd), Options{})
	defer plain.Close()
	plain.SetAddress(theNode, addr)
	if _, err := plain.Call(t.Context(), theNode, 1, nil, readCmd, &text{"x"}); err == nil {
		t.Error("a caller without a certificate was answered")
	}
}
