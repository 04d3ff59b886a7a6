package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"time"
)

// panelTime is how long one panel may take to read what it shows.
const panelTime = 3 * time.Second

// panelBusy is how often a panel is read at a time. A read that does not hear its bound goes on behind the
// answer; further ones do not pile up behind it.
const panelBusy = 4

// panel is a part of a page.
type panel struct {
	id, title string
	hint      string // what it shows, for who reads it for the first time
	open      bool   // without the token: it has figures and no names
	wide      bool
	// template shows what build returns.
	template string
	build    func(ctx context.Context, v view) (any, error)
	busy     chan struct{}
}

// view is who looks, and what was asked for.
type view struct {
	*Server
	signedIn bool
	query    url.Values
}

// sheet is a page: some panels behind an address.
type sheet struct {
	path, title string
	panels      []*panel
	every       time.Duration // between two events
}

// shown is what the template "panel" has.
type shown struct {
	ID, Title, Hint string
	Wide            bool
	Body            template.HTML
	Err             string
}

// show builds a panel. Whatever goes wrong is said in its place.
func (v view) show(ctx context.Context, p *panel) shown {
	s := shown{ID: p.id, Title: p.title, Hint: p.hint, Wide: p.wide}
	body, err := v.try(ctx, p)
	if err != nil {
		s.Err = err.Error()
	}
	s.Body = body
	return s
}

var errSlow = fmt.Errorf("not read within %v; it is tried again", panelTime)

// try runs build and the template with the bound.
func (v view) try(ctx context.Context, p *panel) (template.HTML, error) {
	select {
	case p.busy <- struct{}{}:
	default:
		return "", errSlow
	}
	ctx, cancel := context.WithTimeout(ctx, panelTime)
	defer cancel()
	type result struct {
		body template.HTML
		err  error
	}
	done := make(chan result, 1)
	v.reading.Go(func() {
		defer func() { <-p.busy }()
		defer func() {
			if r := recover(); r != nil {
				v.o.Logger.Error("a panel of the page panicked", "panel", p.id, "panic", r)
				done <- result{"", fmt.Errorf("internal error: %v", r)}
			}
		}()
		data, err := p.build(ctx, v)
		if err != nil {
			done <- result{"", err}
			return
		}
		var b bytes.Buffer
		err = templates.ExecuteTemplate(&b, p.template, data)
		done <- result{template.HTML(b.String()), err}
	})
	select {
	case r := <-done:
		if errors.Is(r.err, context.DeadlineExceeded) {
			return "", errSlow
		}
		return r.body, r.err
	case <-ctx.Done():
		return "", errSlow
	}
}
