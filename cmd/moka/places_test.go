package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestSilentHTTPClients: sockets that say nothing, half a request, or nothing more after an answer, give way
// to who asks. 64 of them kept everybody from /healthz.
func TestSilentHTTPClients(t *testing.T) {
	const places = 4
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := bound(inner, places)
	entered, leave := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		fmt.Fprint(w, "slow")
	})
	srv := boundHTTP(mux)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-ended
	})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	answer := func(c net.Conn) string {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err.Error()
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	get := func(path string) net.Conn {
		c := dial()
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
		return c
	}
	for _, first := range []string{"", "GET / HTTP/1.1\r\nHost: localhost\r\nX",
		"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\nx"} {
		for range 3 * places {
			fmt.Fprint(dial(), first)
		}
		if got := answer(get("/healthz")); got != "ok" {
			t.Errorf("among sockets that say %q: %s", first, got)
		}
	}
	for range 3 * places { // each stays open
		if got := answer(get("/healthz")); got != "ok" {
			t.Fatal(got)
		}
	}

	// Who is being answered keeps its place; who comes when all are waits.
	var slow []net.Conn
	for range places {
		slow = append(slow, get("/slow"))
		<-entered
	}
	late := get("/healthz")
	leave <- struct{}{}
	if got := answer(late); got != "ok" {
		t.Errorf("when a place is free again: %s", got)
	}
	for range places - 1 {
		leave <- struct{}{}
	}
	for _, c := range slow {
		if got := answer(c); got != "slow" {
			t.Errorf("a request that was under way: %s", got)
		}
	}
}
