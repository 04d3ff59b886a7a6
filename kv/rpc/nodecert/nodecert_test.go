package nodecert

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// handshake connects a client with the certificates of one directory to a server with those of another. A nil config is none.
func handshake(t *testing.T, server, client *tls.Config, name string) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			answered <- err
			return
		}
		defer c.Close()
		s := tls.Server(c, server)
		if err = s.Handshake(); err == nil {
			_, err = s.Write([]byte{1})
		}
		answered <- err
	}()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	config := client.Clone()
	config.ServerName = name
	c := tls.Client(raw, config)
	err = c.Handshake()
	if err == nil {
		_, err = c.Read(make([]byte, 1)) // a refusal of the client's certificate comes after its handshake
	}
	_ = raw.Close()
	return errors.Join(err, <-answered)
}

// TestWhoBelievesWhom is S3: only certificates of the cluster's authority are believed, and a certificate is what its role says.
func TestWhoBelievesWhom(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	must(CreateCA(at("ca")), CreateCA(at("other")),
		CreateNode(at("storage"), at("ca"), RoleStorage, []string{"db1", "10.0.0.1"}), CreateNode(at("sql"), at("ca"), RoleSQL, nil),
		CreateNode(at("stranger"), at("other"), RoleStorage, []string{"db1"}))
	config := func(f func(string) (*tls.Config, error), name string) *tls.Config {
		t.Helper()
		c, err := f(at(name))
		must(err)
		return c
	}
	server := config(Server, "storage")
	for _, name := range []string{"db1", "10.0.0.1"} {
		must(handshake(t, server, config(Client, "sql"), name), handshake(t, server, config(Client, "storage"), name))
	}
	none := config(Client, "sql")
	none.Certificates = nil
	asServer := config(Server, "storage") // a node of role sql that pretends to be a storage
	asServer.Certificates = config(Client, "sql").Certificates
	for what, err := range map[string]error{
		"no certificate":                  handshake(t, server, none, "db1"),
		"another authority's certificate": handshake(t, server, config(Client, "stranger"), "db1"),
		"another authority's server":      handshake(t, config(Server, "stranger"), config(Client, "sql"), "db1"),
		"another name":                    handshake(t, server, config(Client, "sql"), "db2"),
		"a server of role sql":            handshake(t, asServer, config(Client, "sql"), "db1"),
	} {
		if err == nil {
			t.Errorf("%s is believed", what)
		}
	}
	if _, err := Server(at("sql")); err == nil {
		t.Error("a certificate of role sql serves as storage's")
	}
	if err := CreateCA(at("ca")); err == nil {
		t.Error("an authority was written over")
	}
	if err := CreateNode(at("x"), at("ca"), "admin", nil); err == nil {
		t.Error("a role that is none")
	}
	must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		st, err := d.Info()
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, st.Mode())
		}
		return err
	}))
	must(os.Chmod(at("sql/node.key"), 0o644))
	if _, err := Client(at("sql")); err == nil {
		t.Error("a key that others may read is used")
	}
}
