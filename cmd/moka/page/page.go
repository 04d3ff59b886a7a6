package page

import (
	"cmp"
	"context"
	"embed"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options of a Server; all but Logger are required.
type Options struct {
	Source Source
	// Authorized reports whether a request shows the token.
	Authorized func(*http.Request) bool
	// Refuse answers a request that does not, challenge being how a browser is asked for it.
	Refuse func(w http.ResponseWriter, r *http.Request, challenge string)
	Logger *slog.Logger
}

// Server answers the page's addresses.
type Server struct {
	o       Options
	history history
	sheets  []*sheet
	cancel  context.CancelFunc
	ended   context.Context
	tasks   sync.WaitGroup
	reading sync.WaitGroup
	streams chan struct{}
	notices notices
}

//go:embed assets
var assets embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"perSecond": perSecond, "seconds": seconds, "ms": milliseconds, "duration": duration, "size": size,
	"count": count, "ago": ago, "cell": cell, "short": short, "span": span, "since": time.Since,
}).ParseFS(assets, "assets/*.html"))

// New begins to take figures; Close ends it.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, streams: make(chan struct{}, maxStreams)}
	s.sheets = allSheets()
	for _, sh := range s.sheets {
		for _, p := range sh.panels {
			p.busy = make(chan struct{}, panelBusy)
		}
	}
	s.ended, s.cancel = context.WithCancel(context.Background())
	s.tasks.Go(func() { s.history.run(s.ended, o.Source.Figures) })
	return s
}

// Leave ends the streams of events, so that their connections do not keep the process from stopping.
func (s *Server) Leave() { s.cancel() }

// Close ends what New and the requests have started, and waits for it.
func (s *Server) Close() {
	s.cancel()
	s.tasks.Wait()
	s.reading.Wait()
}

const (
	assetPath  = "/assets/"
	eventsPath = "/events"
	actionPath = "/action/"
)

// Register adds the page's addresses to a mux.
func (s *Server) Register(mux *http.ServeMux) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // embedded: it is there or it was not built
	}
	static := http.StripPrefix(assetPath, http.FileServerFS(files))
	mux.HandleFunc("GET "+assetPath, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".html") || strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		static.ServeHTTP(w, r)
	})
	for _, sh := range s.sheets {
		pattern := sh.path
		if pattern == "/" {
			pattern = "/{$}"
		}
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, sh) })
	}
	mux.HandleFunc("GET "+eventsPath, s.events)
	mux.HandleFunc("GET /statements.csv", s.guarded(s.statementsCSV))
	mux.HandleFunc("POST "+actionPath+"{what}", s.guarded(s.act))
}

// signIn is the parameter with which a page wants the token.
const signIn = "signin"

// with is q with one more value.
func with(q url.Values, name, value string) url.Values {
	q = maps.Clone(q)
	q.Set(name, value)
	return q
}

// policy forbids the page to load anything from elsewhere, to be put into somebody else's, and scripts that
// are not its file.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secure(w)
		if !s.o.Authorized(r) {
			s.o.Refuse(w, r, "Basic")
			return
		}
		next(w, r)
	}
}

// localPath is where to go on within this server: never to another one, whatever a link says.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.Contains(to, "\\") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// layout is what the template of the same name has.
type layout struct {
	Head
	Title, Path, Events string
	Nav                 []navigation
	Panels              []shown
	SignedIn            bool
	SignIn              string
	Hidden              []string // panels that want the token
	Notice              notice
	Now                 time.Time
}

type navigation struct {
	Path, Title string
	Here        bool
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, sh *sheet) {
	secure(w)
	q := r.URL.Query()
	v := view{s, s.o.Authorized(r), q}
	if q.Has(signIn) {
		// The browser asks for the token, and sends it with all that follows. The page is the answer itself:
		// a redirect would not bring it along.
		if !v.signedIn {
			s.o.Refuse(w, r, "Basic")
			return
		}
		q.Del(signIn)
	}
	l := layout{Head: s.o.Source.Head(), Title: sh.title, Path: sh.path, SignedIn: v.signedIn,
		Now: time.Now(), Notice: s.notices.get(q.Get("notice"))}
	q.Del("notice")
	l.SignIn = sh.path + "?" + with(q, signIn, "1").Encode()
	q.Set("sheet", sh.path)
	l.Events = eventsPath + "?" + q.Encode()
	for _, x := range s.sheets {
		l.Nav = append(l.Nav, navigation{x.path, x.title, x == sh})
	}
	for _, p := range sh.panels {
		if !p.open && !v.signedIn {
			l.Hidden = append(l.Hidden, p.title)
			continue
		}
		l.Panels = append(l.Panels, v.show(r.Context(), p))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := templates.ExecuteTemplate(w, "layout", l); err != nil {
		s.o.Logger.Debug("the page could not be sent", "err", err)
	}
}

// within finds a sheet by its path.
func (s *Server) sheet(path string) *sheet {
	for _, sh := range s.sheets {
		if sh.path == cmp.Or(path, "/") {
			return sh
		}
	}
	return nil
}
