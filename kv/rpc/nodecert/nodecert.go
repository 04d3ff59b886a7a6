// Package nodecert makes and reads the certificates by which nodes know each other: one certificate authority for a cluster, one
// certificate for each node, with what the node is in it.
//
//	ca.crt  ca.key      the authority; ca.key stays with who makes certificates, nodes do not need it
//	node.crt  node.key  a node; the organizational unit of the subject is its role
//
// A node believes nobody but this authority, and nothing but the role in the certificate: a certificate of role sql can call a
// storage node and cannot be one.
package nodecert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// What a certificate's owner may be.
const (
	RoleStorage = "storage" // everything
	RoleSQL     = "sql"     // a process that serves SQL for a database whose storage is elsewhere
)

// Files in a directory of certificates.
const (
	caCert, caKey     = "ca.crt", "ca.key"
	nodeCert, nodeKey = "node.crt", "node.key"
)

const (
	caYears   = 10
	nodeYears = 3
	// skew is how far the clocks of nodes may be apart.
	skew = time.Hour
)

// CreateCA makes an authority in a directory, which is created. It does not write over one that is there: all certificates of a
// cluster would be worth nothing.
func CreateCA(dir string) error {
	t, err := template("Moka cluster authority", caYears)
	if err != nil {
		return err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return write(dir, caCert, caKey, t, t, key, key)
}

// CreateNode makes a node's certificate in a directory, signed by the authority in another, and puts the authority's certificate
// beside it. hosts are the names and addresses by which others call the node; a node of role sql is called by nobody and may have
// none.
func CreateNode(dir, caDir, role string, hosts []string) error {
	if role != RoleStorage && role != RoleSQL {
		return fmt.Errorf("role %q is neither %s nor %s", role, RoleStorage, RoleSQL)
	}
	if role == RoleStorage && len(hosts) == 0 {
		return errors.New("a storage node needs the names or addresses by which others reach it, as in --join and --node-addr")
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(caDir, caCert), filepath.Join(caDir, caKey))
	if err != nil {
		return fmt.Errorf("no certificate authority in %s: %w; make one with 'moka cert create-ca'", caDir, err)
	}
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return err
	}
	name := role
	if len(hosts) > 0 {
		name = hosts[0]
	}
	t, err := template(name, nodeYears)
	if err != nil {
		return err
	}
	t.Subject.OrganizationalUnit = []string{role}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if role == RoleStorage {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := write(dir, nodeCert, nodeKey, t, ca, key, pair.PrivateKey.(crypto.Signer)); err != nil {
		return err
	}
	beside := filepath.Join(dir, caCert)
	if _, err := os.Stat(beside); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(beside, encode("CERTIFICATE", pair.Certificate[0]), 0o600)
}

func template(name string, years int) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{Organization: []string{"Moka"}, CommonName: name},
		NotBefore: now.Add(-skew), NotAfter: now.AddDate(years, 0, 0),
	}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write signs a certificate and writes it and its key, over nothing that is there.
func write(dir, certName, keyName string, t, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer) error {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		pem  []byte
	}{{keyName, encode("PRIVATE KEY", secret)}, {certName, encode("CERTIFICATE", der)}} {
		path := filepath.Join(dir, f.name)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists; name another --cert-dir, or take it away first", path)
		}
		if err != nil {
			return err
		}
		_, err = file.Write(f.pem)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// load reads a node's certificate and its authority.
func load(dir string) (tls.Certificate, *x509.CertPool, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, nodeCert), filepath.Join(dir, nodeKey))
	if err != nil {
		return pair, nil, fmt.Errorf("the node's certificate in %s cannot be read: %w; make one with 'moka cert create-node'", dir, err)
	}
	if err := keptSecret(filepath.Join(dir, nodeKey)); err != nil {
		return pair, nil, err
	}
	authority, err := os.ReadFile(filepath.Join(dir, caCert))
	if err != nil {
		return pair, nil, fmt.Errorf("the authority's certificate cannot be read: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return pair, nil, fmt.Errorf("%s holds no certificate", filepath.Join(dir, caCert))
	}
	own, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return pair, nil, err
	}
	if _, err := own.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return pair, nil, fmt.Errorf("the node's certificate in %s would be believed by nobody: %w; make another with 'moka cert create-node'", dir, err)
	}
	return pair, pool, nil
}

func keptSecret(key string) error {
	st, err := os.Stat(key)
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s may be read by others (%v): chmod 600 it; if others did read it, make new certificates", key, st.Mode().Perm())
	}
	return nil
}

// Server is how a storage node answers: to those that have a certificate of the same authority.
func Server(dir string) (*tls.Config, error) {
	pair, pool, err := load(dir)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	if role := roleOf(leaf); role != RoleStorage {
		return nil, fmt.Errorf("the certificate in %s is of role %q; a node that others join needs one of role %s", dir, role, RoleStorage)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
		VerifyConnection: func(s tls.ConnectionState) error {
			_, err := Role(s)
			return err
		},
	}, nil
}

// Client is how a node calls a storage node: with its certificate, and only if the other has one of role storage for the name by
// which it is called.
func Client(dir string) (*tls.Config, error) {
	pair, pool, err := load(dir)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS13,
		VerifyConnection: func(s tls.ConnectionState) error {
			role, err := Role(s)
			if err == nil && role != RoleStorage {
				err = fmt.Errorf("the node that answers has a certificate of role %s, which is no storage", role)
			}
			return err
		},
	}, nil
}

// Role is what the certificate of the other end of a connection says that it is.
func Role(s tls.ConnectionState) (string, error) {
	if len(s.VerifiedChains) == 0 {
		return "", errors.New("the other end has shown no certificate of this cluster")
	}
	role := roleOf(s.VerifiedChains[0][0])
	if role != RoleStorage && role != RoleSQL {
		return "", fmt.Errorf("the certificate %q has no role that is known (%q)", s.VerifiedChains[0][0].Subject.CommonName, role)
	}
	return role, nil
}

func roleOf(c *x509.Certificate) string {
	if len(c.Subject.OrganizationalUnit) != 1 {
		return ""
	}
	return c.Subject.OrganizationalUnit[0]
}
