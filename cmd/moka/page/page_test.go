package page

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"
)

// fake is a process of which a test says what it answers.
type fake struct {
	views map[string]func(context.Context) (Table, error)
	done  []string
}

func (f *fake) Head() Head { return Head{Version: "v1", SQL: "127.0.0.1:3306", Started: time.Now()} }
func (f *fake) Figures() Figures {
	return Figures{Storage: true, SQL: true, LatencyUpTo: func(i int) float64 { return float64(i) }}
}
func (f *fake) Shards(context.Context) ([]Shard, error) { return []Shard{{ID: 1, Reads: 12345}}, nil }
func (f *fake) Replicas(context.Context) (Table, error) { return Table{}, nil }
func (f *fake) Tablets(context.Context) ([]Tablet, error) {
	return []Tablet{{Begins: "shop.line(1, '<x>')", Shard: 1, Rate: 500}, {Begins: "shop.line(2)",
		Rate: 10}}, nil
}
func (f *fake) View(ctx context.Context, name string) (Table, error) {
	if v := f.views[name]; v != nil {
		return v(ctx)
	}
	return Table{Columns: []string{"statement"}, Rows: [][]any{{"SELECT 'rows of " + name + "'"}}}, nil
}
func (f *fake) Processes(context.Context) (Table, error) {
	return Table{Columns: []string{"Id", "User"}, Rows: [][]any{{uint32(7), "ann"}}}, nil
}
func (f *fake) Explain(_ context.Context, digest string) (string, Table, error) {
	return "SELECT 1", Table{Columns: []string{"plan"}, Rows: [][]any{{"of " + digest}}}, nil
}
func (f *fake) Settings() []Setting { return []Setting{{"shards", "3", "MOKA_SHARDS", "command line"}} }
func (f *fake) Mix() *Mix {
	return &Mix{Unit: "trtps", Rate: 12, Lines: []MixLine{{Name: "Trade-Order"}}}
}
func (f *fake) Kill(_ context.Context, id uint32, connection bool) error {
	if id == 404 {
		return errors.New("Unknown thread id: 404")
	}
	f.done = append(f.done, fmt.Sprint("kill ", id, " ", connection))
	return nil
}
func (f *fake) Operate(_ context.Context, statement string) error {
	f.done = append(f.done, statement)
	return nil
}

// serve makes a page of the source whose users have the token if they say so in a header.
func serve(t *testing.T, f *fake) (*Server, http.Handler) {
	t.Helper()
	s := New(Options{Source: f, Authorized: func(r *http.Request) bool { return r.Header.Get("Token") != "" },
		Refuse: func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusUnauthorized)
		}})
	t.Cleanup(s.Close)
	mux := http.NewServeMux()
	s.Register(mux)
	return s, mux
}

func get(h http.Handler, method, path, body string, token bool) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token {
		r.Header.Set("Token", "yes")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The old page was an error from top to bottom if one of its tables could not be read.
func TestPanelsFailAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		f := &fake{views: map[string]func(context.Context) (Table, error){
			"locks":     func(context.Context) (Table, error) { return Table{}, errors.New("no leader") },
			"deadlocks": func(context.Context) (Table, error) { panic("out of range") },
			"transactions": func(context.Context) (Table, error) { // and does not hear that it is late
				<-release
				return Table{}, nil
			},
		}}
		_, h := serve(t, f)
		began := time.Now()
		body := get(h, "GET", "/transactions", "", true).Body.String()
		for _, want := range []string{"no leader", "internal error: out of range", errSlow.Error(), "ann"} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		if took := time.Since(began); took > 3*panelTime {
			t.Errorf("it took %v", took)
		}
		// Reads that hang do not pile up: the next are refused.
		for range 2 * panelBusy {
			get(h, "GET", "/transactions", "", true)
		}
	})
}

// Without the token there are figures, and nothing that has names or keys.
func TestNamesWantTheToken(t *testing.T) {
	_, h := serve(t, &fake{})
	for _, path := range []string{"/", "/tablets", "/transactions", "/observers", "/statements", "/jobs",
		"/mix", "/settings"} {
		open, signedIn := get(h, "GET", path, "", false), get(h, "GET", path, "", true)
		if open.Code != 200 || signedIn.Code != 200 {
			t.Errorf("%s: %d, %d", path, open.Code, signedIn.Code)
		}
		for _, name := range []string{"rows of", "shop.line", "ann", "command line"} {
			if strings.Contains(open.Body.String(), name) {
				t.Errorf("%s shows %q to everybody", path, name)
			}
		}
		if p := open.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") {
			t.Errorf("%s: policy %q", path, p)
		}
		checkHTML(t, path, signedIn.Body.String())
	}
	body := get(h, "GET", "/tablets", "", true).Body.String()
	if !strings.Contains(body, "shop.line(1, &#39;&lt;x&gt;&#39;)") {
		t.Error("a key of a row is not there, or not escaped")
	}
	if code := get(h, "GET", "/?signin=1", "", false).Code; code != http.StatusUnauthorized {
		t.Errorf("signing in: %d", code)
	}
}

// checkHTML looks for what the policy would refuse, and for what a screen reader needs.
func checkHTML(t *testing.T, path, text string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s> has %s=%q", path, n.Data, a.Key, a.Val)
			}
			if (a.Key == "src" || a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") &&
				!strings.HasPrefix(a.Val, "#") {
				t.Errorf("%s: <%s> leads to %q", path, n.Data, a.Val)
			}
		}
		switch {
		case n.Data == "script" && n.FirstChild != nil, n.Data == "style":
			t.Errorf("%s: <%s> within the page", path, n.Data)
		case n.Data == "svg" && attr["aria-label"] == "" && attr["aria-hidden"] == "":
			t.Errorf("%s: a picture that a screen reader cannot name", path)
		case n.Data == "th" && attr["scope"] == "":
			t.Errorf("%s: a heading of a table that does not say what for", path)
		}
	}
	if count["h1"] != 1 || count["nav"] != 1 || count["main"] != 1 {
		t.Errorf("%s: %v", path, count)
	}
}

func TestActions(t *testing.T) {
	f := &fake{}
	_, h := serve(t, f)
	for _, form := range []string{"kill?id=7&what=query", "kill?id=7&what=connection",
		"pause?schema=shop&name=a`b", "retry?schema=shop&name=o", "resume?schema=shop&name=o"} {
		what, values, _ := strings.Cut(form, "?")
		if code := get(h, "POST", "/action/"+what, values, false).Code; code != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d", form, code)
		}
		w := get(h, "POST", "/action/"+what, values+"&to=/observers?x=1", true)
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/observers?") {
			t.Errorf("%s: %d %s", form, w.Code, to)
		}
		if !strings.Contains(get(h, "GET", to, "", true).Body.String(), "notice done") {
			t.Errorf("%s: the page does not say what was done", form)
		}
	}
	want := "[kill 7 false kill 7 true ALTER OBSERVER `shop`.`a``b` PAUSE " +
		"ALTER OBSERVER `shop`.`o` RETRY FAILED ALTER OBSERVER `shop`.`o` RESUME]"
	if got := fmt.Sprint(f.done); got != want {
		t.Errorf("done %s\nwant %s", got, want)
	}
	w := get(h, "POST", "/action/kill", "id=404&to=//evil.example/", true)
	to := w.Header().Get("Location")
	if !strings.HasPrefix(to, "/?") {
		t.Fatalf("sent to %s", to)
	}
	if !strings.Contains(get(h, "GET", to, "", true).Body.String(), "Unknown thread id") {
		t.Error("the page does not say what went wrong")
	}
}

func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{"/a?b=c": "/a?b=c", "": "/", "//x/y": "/", "http://x/": "/",
		"/\\x": "/", "x": "/", "javascript:alert(1)": "/"} {
		if got := localPath(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

// Events come as long as somebody listens, to a bounded number of them, and end with the server.
func TestEvents(t *testing.T) {
	s, h := serve(t, &fake{})
	srv := httptest.NewServer(h)
	defer srv.Close()
	listen := func() (*http.Response, *bufio.Scanner) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/events?sheet=/tablets", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp, bufio.NewScanner(resp.Body)
	}
	var streams []*bufio.Scanner
	for range maxStreams {
		resp, lines := listen()
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatal(resp.Status, resp.Header)
		}
		streams = append(streams, lines)
	}
	if resp, _ := listen(); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one stream more than there may be: %s", resp.Status)
	}
	text := ""
	for lines := streams[0]; lines.Scan() && !strings.HasPrefix(lines.Text(), "event: tick"); {
		text += lines.Text() + "\n"
	}
	if !strings.Contains(text, "event: panel") || !strings.Contains(text, "345") {
		t.Errorf("the first event is\n%s", text)
	}
	if strings.Contains(text, "shop.line") {
		t.Error("names are sent without the token")
	}
	s.Leave()
	for _, lines := range streams {
		for lines.Scan() { // until it ends
		}
	}
}

func TestCSV(t *testing.T) {
	f := &fake{views: map[string]func(context.Context) (Table, error){
		"statements_summary": func(context.Context) (Table, error) {
			return Table{Columns: []string{"digest_text", "errors"}, Rows: [][]any{
				{`=HYPERLINK("x")`, int64(-3)}, {nil, uint64(2)}}}, nil
		},
	}}
	_, h := serve(t, f)
	w := get(h, "GET", "/statements.csv", "", true)
	if want := "digest_text,errors\n\"'=HYPERLINK(\"\"x\"\")\",-3\n,2\n"; w.Body.String() != want {
		t.Errorf("%q, want %q", w.Body, want)
	}
}
