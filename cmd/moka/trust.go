package main

import (
	"context"
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

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"

	"moka/kv/kvpb"
	"moka/kv/rpc"
	"moka/kv/rpc/nodecert"
	"moka/oracle/oraclepb"
)

// insecureWarning is said wherever somebody may look.
const insecureWarning = "--insecure: nodes are let in without certificates; whoever reaches the node " +
	"address is root of this database"

// trustNodes decides by what nodes that join are known: their certificates, or on one machine the user who
// runs them. Whoever speaks to a storage node can read and write everything, so that there is nothing in
// between but --insecure, which says so. It listens at bound; both that and what others are told to be its
// address must be of this machine alone, or something that forwards would speak for everybody.
func (s *stack) trustNodes(bound string) error {
	flag, asked := "node-addr", s.o.NodeAddr
	if s.o.NodeListen != "" && loopback(s.o.NodeAddr) {
		flag, asked = "node-listen", s.o.NodeListen
	}
	switch {
	case s.o.CertDir != "":
		c, err := nodecert.Server(s.o.CertDir)
		if err != nil {
			return fmt.Errorf("--cert-dir: %w", err)
		}
		s.trusted = credentials.NewTLS(c)
	case s.o.Insecure:
		s.o.Logger.Warn(insecureWarning, "addr", bound)
		s.trusted = insecure.NewCredentials()
	case loopback(bound) && (s.o.NodeListen == "" || loopback(s.o.NodeAddr)):
		s.trusted = rpc.OwnerOnly()
	default:
		return fmt.Errorf("--%s %s is not on this machine's loopback interface: whoever reaches it "+
			"could read and write everything. Make certificates ('moka cert create-ca', 'moka cert "+
			"create-node') "+
			"and name them with --cert-dir, or listen on 127.0.0.1, or say --insecure", flag, asked)
	}
	return nil
}

// dialCredentials are how a process shows itself to the node at addr, which a flag names, and knows it.
func (o *stackOptions) dialCredentials(flag, addr string) (credentials.TransportCredentials, error) {
	switch {
	case o.CertDir != "":
		c, err := nodecert.Client(o.CertDir)
		if err != nil {
			return nil, fmt.Errorf("--cert-dir: %w", err)
		}
		return credentials.NewTLS(c), nil
	case o.Insecure:
		return insecure.NewCredentials(), nil
	case loopback(addr):
		return rpc.OwnerOnly(), nil
	}
	return nil, fmt.Errorf("--%s: %s is not on this machine: name the certificates with --cert-dir ('moka "+
		"cert create-node'), or say --insecure", flag, addr)
}

// loopback reports whether an address is of this machine alone.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// storageOnly is what a process with a certificate of role sql does not do: it has no tablets to change,
// and collects no garbage.
var storageOnly = map[string]bool{
	oraclepb.Oracle_SetSafePoint_FullMethodName: true,

	"txn.Collect": true, "txn.SafePoint": true,

	"store.UpdateMeta": true, "store.CreateTable": true, "store.DropTable": true, "store.MutateRow": true,
	"store.MutateRows":        true,
	"store.CheckAndMutateRow": true, "store.ReadModifyWriteRow": true, "store.Sweep": true,
	"store.Admin": true, "replicas.Order": true,

	kvpb.Raft_Messages_FullMethodName: true,
	kvpb.Raft_Snapshot_FullMethodName: true,
}

// allowRole is rpc.Options.Allow by the role in the caller's certificate. Without certificates
// callers are the user himself.
func allowRole(ctx context.Context) func(what string) error {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return nil
	}
	role, err := nodecert.Role(info.State)
	switch {
	case err != nil:
		return func(string) error { return err }
	case role == nodecert.RoleStorage:
		return nil
	}
	return func(what string) error {
		if storageOnly[what] {
			return fmt.Errorf("a node with a certificate of role %s may not call %s", role, what)
		}
		return nil
	}
}

// clientTLS is what SQL clients are offered: the operator's certificate, or one that the server has made
// for itself, as MySQL's does. That one keeps listeners out and is known to nobody: clients that verify
// it need the operator's.
func (s *stack) clientTLS() (*tls.Config, error) {
	var cert tls.Certificate
	var err error
	switch {
	case s.o.TLSCert != "":
		if cert, err = tls.LoadX509KeyPair(s.o.TLSCert, s.o.TLSKey); err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
	case s.node != nil && !s.o.Memory:
		cert, err = storedCertificate(filepath.Join(s.o.Data, "tls"))
	default:
		var chain, key []byte
		if chain, key, err = selfSigned(); err == nil {
			cert, err = tls.X509KeyPair(chain, key)
		}
	}
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

// storedCertificate is the server's own, kept so that clients that remember it know it again; a new one
// when it is about to end.
func storedCertificate(dir string) (tls.Certificate, error) {
	certFile, keyFile := filepath.Join(dir, "server-cert.pem"), filepath.Join(dir, "server-key.pem")
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err == nil {
		if leaf, err := x509.ParseCertificate(cert.Certificate[0]); err == nil &&
			time.Until(leaf.NotAfter) > 30*24*time.Hour {
			return cert, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return cert, fmt.Errorf("the server's own certificate in %s cannot be read: %w; remove the "+
			"directory to have another made", dir, err)
	}
	chain, key, err := selfSigned()
	if err != nil {
		return cert, err
	}
	// A crash in between leaves a key without its certificate, which is as none.
	_ = os.Remove(certFile)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(keyFile, key, 0o600),
		os.WriteFile(certFile, chain, 0o600)); err != nil {
		return cert, fmt.Errorf("keeping the server's own certificate: %w", err)
	}
	return tls.X509KeyPair(chain, key)
}

func selfSigned() (chain, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	names := []string{"localhost"}
	if h, err := os.Hostname(); err == nil {
		names = append(names, h)
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Moka_Auto_Generated_Server_Certificate"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &k.PublicKey, k)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}
