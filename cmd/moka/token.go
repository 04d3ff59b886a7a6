package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// token is what who steers a server over HTTP, or looks into it with pprof, has to show: the content of a
// file that only the user who runs the server can read.
type token struct {
	value, file string
}

// tokenFile is its name in the directory of the data.
const tokenFile = "http.token"

// tokenHeader tells "moka ctl" where the file is, so that it finds it from any directory. It is
// no secret: the file is.
const tokenHeader = "Moka-Token-File"

// openToken reads the token, or makes one. A process without a directory has it in one that
// goes with the process.
func (s *stack) openToken() (*token, error) {
	dir := s.o.Data
	if s.node == nil || s.o.Memory {
		var err error
		if dir, err = os.MkdirTemp("", "moka-"); err != nil {
			return nil, fmt.Errorf("a place for the token of 'moka ctl': %w", err)
		}
		s.onClose(func(context.Context) error { return os.RemoveAll(dir) })
	}
	file, err := filepath.Abs(filepath.Join(dir, tokenFile))
	if err != nil {
		return nil, err
	}
	value, err := readToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		value = rand.Text() + rand.Text()
		err = os.WriteFile(file, []byte(value+"\n"), 0o600)
	}
	if err != nil {
		return nil, err
	}
	return &token{value, file}, nil
}

// minToken keeps a file that was emptied from being a token that everybody knows.
const minToken = 20

func readToken(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(b))
	if len(value) < minToken || len(value) > 256 {
		return "", fmt.Errorf("%s holds no token; remove it to have another made at the next start", file)
	}
	return value, nil
}

// required lets requests through that show the token, as a bearer's or as the password of basic
// authentication, which is what 'go tool pprof http://:TOKEN@HOST/debug/pprof/heap' sends.
func (t *token) required(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !t.shown(r) {
			t.refuse(w, r, "Bearer")
			return
		}
		// a profile, or a move, takes as long as it takes
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		next(w, r)
	}
}

// shown reports whether a request shows the token.
func (t *token) shown(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, given, _ = r.BasicAuth()
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(t.value)) == 1
}

// refuse answers who does not. A browser asks its user for the token if the challenge is Basic.
func (t *token) refuse(w http.ResponseWriter, _ *http.Request, challenge string) {
	w.Header().Set(tokenHeader, hex.EncodeToString([]byte(t.file))) // a path may have any bytes
	w.Header().Set("WWW-Authenticate", challenge+` realm="moka"`)
	http.Error(w, "this needs the token in "+t.file+" (moka ctl reads it; a browser sends it as the "+
		"password; with curl: -H \"Authorization: Bearer $(cat FILE)\")", http.StatusUnauthorized)
}

// guard refuses requests that a page of another site may have had a browser send: by a name of its own that
// it has made to mean this machine (DNS rebinding), or across sites.
func guard(next http.Handler, hosts []string) http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !knownHost(r.Host, hosts) {
			http.Error(w, fmt.Sprintf("this server is not known as %q; ask for it by its address, or start "+
				"it with --http-hosts", r.Host), http.StatusForbidden)
			return
		}
		if o := r.Header.Get("Origin"); o != "" {
			if u, err := url.Parse(o); err != nil || !strings.EqualFold(u.Host, r.Host) {
				http.Error(w, "this server does not answer pages of other sites", http.StatusForbidden)
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
}

// knownHost reports whether a Host is this server. An address cannot be made to mean another machine, a name
// can.
func knownHost(host string, names []string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") {
		return true
	}
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, host) })
}

// hosts are the names by which this process is asked for.
func (s *stack) hosts() []string {
	names := slices.Clone(s.o.HTTPHosts)
	if h, err := os.Hostname(); err == nil {
		names = append(names, h)
	}
	if h, _, err := net.SplitHostPort(s.o.HTTPAddr); err == nil && h != "" {
		names = append(names, h)
	}
	return names
}

// hintedToken reads the token from the file that a server on this machine has named. It has to be called as
// tokens are: a server that is not ours is not sent another file of the user's.
func hintedToken(addr, hint string) (string, error) {
	name, err := hex.DecodeString(hint)
	if err != nil || !loopback(addr) || filepath.Base(string(name)) != tokenFile {
		return "", errors.New("name the file of the server's token with --token-file")
	}
	value, err := readToken(string(name))
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("only the user who runs the server may steer it: %w", err)
	}
	return value, err
}
