package page

import (
	"crypto/rand"
	"sync"
)

// notice is what a button has done, to be said above the page that is shown next. It is kept here and named
// in the address: words in an address are anybody's who makes a link.
type notice struct {
	Text  string
	Wrong bool
}

// notices are a few, the oldest going first.
type notices struct {
	mu   sync.Mutex
	said map[string]notice
	ids  []string
}

const noticesKept = 64

func (n *notices) add(x notice) (id string) {
	id = rand.Text()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		n.said = map[string]notice{}
	}
	if len(n.ids) == noticesKept {
		delete(n.said, n.ids[0])
		n.ids = n.ids[1:]
	}
	n.said[id], n.ids = x, append(n.ids, id)
	return id
}

func (n *notices) get(id string) notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.said[id]
}
