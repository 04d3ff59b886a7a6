package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"time"
)

const (
	// maxStreams are open at a time; each is a connection of the server's and reads the panels of its page.
	maxStreams = 16
	// streamTime ends a stream; the browser opens another one.
	streamTime = 10 * time.Minute
	// sendTime is how long an event may be on its way to who does not take it.
	sendTime = 10 * time.Second
)

// event is the data of one: a panel as it is now.
type event struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// events sends the panels of a page again and again, those that have changed: server-sent events (HTML
// standard, 9.2), which need nothing but a connection and end with it.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	secure(w)
	sh := s.sheet(r.URL.Query().Get("sheet"))
	if sh == nil {
		http.NotFound(w, r)
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "as many pages are kept up to date as may be; this one is when it is loaded again",
			http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	v := view{s, s.o.Authorized(r), r.URL.Query()}
	out := http.NewResponseController(w)
	sent := map[string]uint64{}
	seed := maphash.MakeSeed()
	t := time.NewTicker(sh.every)
	defer t.Stop()
	end := time.NewTimer(streamTime)
	defer end.Stop()
	for {
		var b bytes.Buffer
		for _, p := range sh.panels {
			if !p.open && !v.signedIn {
				continue
			}
			var html bytes.Buffer
			if err := templates.ExecuteTemplate(&html, "panel", v.show(r.Context(), p)); err != nil {
				s.o.Logger.Debug("a panel could not be written", "panel", p.id, "err", err)
				continue
			}
			if sum := maphash.Bytes(seed, html.Bytes()); sent[p.id] != sum {
				sent[p.id] = sum
				data, err := json.Marshal(event{p.id, html.String()})
				if err == nil {
					fmt.Fprintf(&b, "event: panel\ndata: %s\n\n", data)
				}
			}
		}
		fmt.Fprintf(&b, "event: tick\ndata: %d\n\n", time.Now().Unix())
		_ = out.SetWriteDeadline(time.Now().Add(sendTime))
		if _, err := w.Write(b.Bytes()); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ended.Done():
			return
		case <-end.C:
			return
		case <-t.C:
		}
	}
}
