package itest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// browser is a headless Chromium with one page, driven by its DevTools protocol: a request is a message with
// a number, and so is its answer; what else comes are events.
type browser struct {
	t      testing.TB
	ws     *websocket.Conn
	last   int
	errors []string // what scripts have thrown, and the policy of the page has refused
}

// openBrowser starts Chromium, which .ci/packages sees to. The network stays within the machine: the page has
// nothing to fetch from elsewhere, and the browser's own errands are switched off.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium to look at the page with; .ci/packages installs Debian's as root")
	}
	dir, err := os.MkdirTemp("", "moka-browser-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage", "--user-data-dir="+dir, "--remote-debugging-port=0",
		"--remote-allow-origins=*", "--window-size=1280,900", "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		// Its children end a moment later, and may still write there until then.
		eventually(t, "the browser's directory is gone", readyWithin, func() bool {
			return os.RemoveAll(dir) == nil
		})
	})
	var port string
	eventually(t, "Chromium says where it listens", readyWithin, func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		port, _, _ = strings.Cut(string(b), "\n")
		return err == nil && port != ""
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
		"http://127.0.0.1:"+port+"/json/new?about:blank", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var target struct{ WebSocketDebuggerURL string }
	if err := json.Unmarshal(text, &target); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	b := &browser{t: t}
	if b.ws, err = websocket.Dial(target.WebSocketDebuggerURL, "", "http://127.0.0.1/"); err != nil {
		t.Fatal(err)
	}
	b.ws.MaxPayloadBytes = 64 << 20
	t.Cleanup(func() { _ = b.ws.Close() })
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends a request and reads until its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// errProtocol is what the browser answers to a request that it cannot serve, as opposed to a broken
// connection.
type errProtocol string

func (e errProtocol) Error() string { return string(e) }

// try sends a request and reads until its answer.
func (b *browser) try(method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	b.last++
	_ = b.ws.SetDeadline(time.Now().Add(readyWithin))
	err := websocket.JSON.Send(b.ws, map[string]any{"id": b.last, "method": method, "params": params})
	for err == nil {
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
			Params json.RawMessage
		}
		if err = websocket.JSON.Receive(b.ws, &m); err != nil {
			break
		}
		if m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" &&
			strings.Contains(string(m.Params), `"level":"error"`) {
			b.errors = append(b.errors, string(m.Params))
		}
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			return errProtocol(m.Error.Message)
		}
		if result != nil {
			err = json.Unmarshal(m.Result, result)
		}
		break
	}
	return err
}

// eval runs an expression of JavaScript in the page and returns its value as text. A page that is just being
// replaced by the next has none: the browser refuses then, and the value is "between pages". So whoever asks
// while a page may be on its way asks until the answer is what it waits for, and nothing that must happen
// once is done by an expression that starts a navigation itself (see press).
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Text string }
	}
	err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	var refused errProtocol
	if errors.As(err, &refused) && (strings.Contains(err.Error(), "navigated or closed") ||
		strings.Contains(err.Error(), "context")) { // "Cannot find default execution context", and its like
		return "between pages"
	}
	if err != nil {
		b.t.Fatalf("Runtime.evaluate: %v", err)
	}
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Text)
	}
	return fmt.Sprint(r.Result.Value)
}

// open goes to an address and waits until the page is there and up to date.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.awaitLive()
}

func (b *browser) awaitLive() {
	b.t.Helper()
	eventually(b.t, "the page is live", readyWithin, func() bool {
		return b.eval(`document.readyState === "complete" &&
			document.getElementById("live")?.textContent`) == "live"
	})
}

// text is what a person reads of an element.
func (b *browser) text(id string) string {
	b.t.Helper()
	return b.eval(fmt.Sprintf(`document.getElementById(%q)?.innerText`, id))
}

// await waits until an element has a text.
func (b *browser) await(id, want string) {
	b.t.Helper()
	seen := ""
	defer func() {
		if b.t.Failed() {
			b.t.Logf("#%s has\n%s", id, seen)
		}
	}()
	eventually(b.t, fmt.Sprintf("#%s has %q", id, want), readyWithin, func() bool {
		seen = b.text(id)
		return strings.Contains(seen, want)
	})
}

// press clicks on the button with that label, and waits for the page that follows.
func (b *browser) press(label string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("button")].find((e) =>
		(e.getAttribute("aria-label") || e.textContent) === %q)`, label)
	eventually(b.t, "there is a button "+label, readyWithin, func() bool {
		return b.eval("!!"+find) == "true"
	})
	// The click comes after the answer, which would be lost if the page went first; and as the page renews
	// its tables, the button is looked for and clicked in one go.
	b.eval(`window.before = true; (function go(wait) {
		setTimeout(() => { const e = ` + find + `; e ? e.click() : go(10) }, wait) })(0)`)
	eventually(b.t, "the page is loaded again", readyWithin, func() bool {
		return b.eval(`!window.before && document.readyState === "complete"`) == "true"
	})
	b.awaitLive()
}

// shot writes a picture of the page if MOKA_SHOTS named a directory when the tests began.
func (b *browser) shot(name string, height int) {
	b.t.Helper()
	if shots == "" {
		return
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": height,
		"deviceScaleFactor": 1, "mobile": false}, nil)
	var r struct{ Data []byte }
	var raw struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &raw)
	var err error
	if r.Data, err = base64.StdEncoding.DecodeString(raw.Data); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name+".png"), r.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// shots is what MOKA_SHOTS was when the tests began.
var shots = os.Getenv("MOKA_SHOTS")
