package page

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// actionTime bounds what a button does.
const actionTime = 30 * time.Second

// actions are what the buttons do. Each says what it has done.
var actions = map[string]func(ctx context.Context, s *Server, form url.Values) (string, error){
	"kill": func(ctx context.Context, s *Server, form url.Values) (string, error) {
		id, err := strconv.ParseUint(form.Get("id"), 10, 32)
		if err != nil {
			return "", errors.New("which connection?")
		}
		if err := s.o.Source.Kill(ctx, uint32(id), form.Get("what") == "connection"); err != nil {
			return "", err
		}
		if form.Get("what") == "connection" {
			return fmt.Sprintf("Connection %d was ended.", id), nil
		}
		return fmt.Sprintf("The statement of connection %d was ended.", id), nil
	},
	"retry":  alterObserver("RETRY FAILED", "Parked changes of %s are tried again."),
	"pause":  alterObserver("PAUSE", "%s pauses."),
	"resume": alterObserver("RESUME", "%s goes on."),
}

func alterObserver(verb, said string) func(context.Context, *Server, url.Values) (string, error) {
	return func(ctx context.Context, s *Server, form url.Values) (string, error) {
		db, name := form.Get("schema"), form.Get("name")
		if db == "" || name == "" {
			return "", errors.New("which observer?")
		}
		err := s.o.Source.Operate(ctx, "ALTER OBSERVER "+quoted(db)+"."+quoted(name)+" "+verb)
		return fmt.Sprintf(said, db+"."+name), err
	}
}

// quoted is a name as SQL quotes it.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// act carries out a button and shows its page again, with what became of it.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	f, ok := actions[r.PathValue("what")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actionTime)
	defer cancel()
	said, err := f(ctx, s, r.PostForm)
	to, _ := url.Parse(localPath(r.PostForm.Get("to")))
	n := notice{Text: said}
	if err != nil {
		n = notice{err.Error(), true}
	}
	q := to.Query()
	q.Set("notice", s.notices.add(n))
	s.o.Logger.Info("an operator used the page", "action", r.PathValue("what"), "form", r.PostForm.Encode(),
		"err", err)
	to.RawQuery = q.Encode()
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// statementsCSV is the digests for other programs, all of them.
func (s *Server) statementsCSV(w http.ResponseWriter, r *http.Request) {
	t, err := s.o.Source.View(r.Context(), "statements_summary")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="statements.csv"`)
	c := csv.NewWriter(w)
	_ = c.Write(t.Columns)
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = harmless(cell(v))
		}
		_ = c.Write(texts)
	}
	c.Flush()
}

// harmless keeps a spreadsheet from taking the text of a statement for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return "'" + text
		}
	}
	return text
}
