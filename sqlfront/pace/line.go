package pace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Line has those who would only hinder each other go one after the other. All schema changes move the one
// version of the catalog, and of those that run side by side one gets through; the others try again after a
// pause that grows, so that who came first and has lost often had the worst of it.
//
// A user's turn comes after one of each other user who waits, however many connections they wait on; turns
// of one user come in the order in which he asked. It orders and proves nothing: a turn that lasts is over
// for the next one to begin, as a change of a large table takes minutes, and those of other processes are not
// in the line.
type Line struct {
	most time.Duration // that a turn lasts

	mu    sync.Mutex
	users []*waiting // in the order of their turns
	now   *Turn
}

// waiting is a user with the turns that he waits for.
type waiting struct {
	user  string
	turns []*Turn
}

// Turn is what Enter gives. A nil one is over.
type Turn struct {
	line  *Line
	begun chan struct{}
	end   *time.Timer // the line's mutex guards it
	over  bool        // and this
}

// NewLine makes a line whose turns last no longer than most.
func NewLine(most time.Duration) *Line { return &Line{most: most} }

// Enter waits for a turn of the user.
func (l *Line) Enter(ctx context.Context, user string) (*Turn, error) {
	t := &Turn{line: l, begun: make(chan struct{})}
	l.mu.Lock()
	if l.now == nil {
		l.begin(t)
	} else {
		l.wait(t, user)
	}
	l.mu.Unlock()
	select {
	case <-t.begun:
		return t, nil
	case <-ctx.Done():
		t.End()
		return nil, context.Cause(ctx)
	}
}

func (l *Line) begin(t *Turn) {
	l.now = t
	t.end = time.AfterFunc(l.most, t.End)
	close(t.begun)
}

func (l *Line) wait(t *Turn, user string) {
	i := slices.IndexFunc(l.users, func(w *waiting) bool { return w.user == user })
	if i < 0 {
		l.users = append(l.users, &waiting{user, []*Turn{t}})
		return
	}
	l.users[i].turns = append(l.users[i].turns, t)
}

// Over reports whether the turn has ended.
func (t *Turn) Over() bool {
	if t == nil {
		return true
	}
	t.line.mu.Lock()
	defer t.line.mu.Unlock()
	return t.over
}

// End lets the next one begin.
func (t *Turn) End() {
	if t == nil {
		return
	}
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.over {
		return
	}
	if t.over = true; l.now != t {
		return // next passes it over
	}
	t.end.Stop()
	l.next()
}

// next begins the first turn that somebody still waits for.
func (l *Line) next() {
	l.now = nil
	for l.now == nil && len(l.users) > 0 {
		w := l.users[0]
		t := w.turns[0]
		l.users, w.turns = l.users[1:], w.turns[1:]
		if len(w.turns) > 0 {
			l.users = append(l.users, w)
		}
		if !t.over {
			l.begin(t)
		}
	}
}
