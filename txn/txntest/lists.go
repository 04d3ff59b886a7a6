package txntest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The list-append checker knows nothing of timestamps: it takes what clients saw from outside, over any protocol. Values are
// lists, and the only write appends an element that nobody else appends. So a list that was read tells which transactions
// wrote it, and in what order, which is what a register could never tell (Kingsbury and Alvaro, "Elle", VLDB 2020). From the
// orders follow the dependencies of Adya's thesis:
//
//	ww  the one's element is followed by the other's
//	wr  the one's element is the last that the other read
//	rw  the one read the list as it was before the other appended
//	rt  the one was acknowledged before the other was begun
//
// Snapshot isolation is the absence of cycles without two rw in a row (Cerone and Gotsman, "Analysing Snapshot Isolation", PODC
// 2016), serializability the absence of cycles. With rt among the dependencies both are the strong forms: nobody sees an old
// state after a newer one was acknowledged.

// Isolation is what a history is held against.
type Isolation int

const (
	ReadCommitted Isolation = iota // no cycles of ww, wr and rt; no reads of what was aborted or is unfinished
	SnapshotIsolation
	Serializable
)

// ListOp is an append of one element, or, if Append is zero, a read of a list.
type ListOp struct {
	Key      string
	Append   int   // unique in the history, not zero
	Elements []int // what was read
}

func (o ListOp) String() string {
	if o.Append != 0 {
		return fmt.Sprintf("append(%s, %d)", o.Key, o.Append)
	}
	return fmt.Sprintf("read(%s) = %v", o.Key, o.Elements)
}

// ListTxn is one transaction as its client saw it: Began before its first statement, Ended after the answer to its commit.
type ListTxn struct {
	Name         string
	Ops          []ListOp
	Outcome      Outcome
	Began, Ended int
}

func (t *ListTxn) String() string {
	ops := make([]string, len(t.Ops))
	for i, o := range t.Ops {
		ops[i] = o.String()
	}
	outcome := ""
	if t.Outcome == Unknown {
		outcome = " of unknown outcome"
	}
	return t.Name + "{" + strings.Join(ops, " ") + "}" + outcome
}

// ListHistory collects transactions. It is safe for concurrent use.
type ListHistory struct {
	mu      sync.Mutex
	seq     int
	element int
	txns    []*ListTxn
}

// Begin starts to record a transaction.
func (h *ListHistory) Begin(name string) *ListTxn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	return &ListTxn{Name: name, Began: h.seq}
}

// Element returns an element that nobody has appended.
func (h *ListHistory) Element() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.element++
	return h.element
}

// End records what the client was told.
func (h *ListHistory) End(t *ListTxn, o Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	t.Outcome, t.Ended = o, h.seq
	h.txns = append(h.txns, t)
}

// Txns returns what was recorded.
func (h *ListHistory) Txns() []*ListTxn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.txns)
}

// Check returns what level forbids in the history, by the anomalies' names. Transactions of unknown outcome count as committed
// if anybody else saw an element of theirs.
func (h *ListHistory) Check(level Isolation) []error {
	c := &listCheck{level: level, writer: map[int]*ListTxn{}, seen: map[int]bool{}, order: map[string][]int{}}
	for _, t := range h.Txns() {
		for _, o := range t.Ops {
			if o.Append != 0 {
				if c.writer[o.Append] != nil {
					c.bad("the history is no history: %d is appended by %v and %v", o.Append, c.writer[o.Append], t)
				}
				c.writer[o.Append] = t
			}
			for _, e := range o.Elements {
				if c.writer[e] != t { // what one reads of one's own says nothing of the commit
					c.seen[e] = true
				}
			}
		}
	}
	for _, t := range h.Txns() {
		if t.Outcome == Committed || t.Outcome == Unknown && slices.ContainsFunc(t.Ops, func(o ListOp) bool { return c.seen[o.Append] }) {
			c.txns = append(c.txns, t)
		}
	}
	c.orders()
	for _, t := range c.txns {
		c.internal(t)
		c.reads(t)
	}
	c.lost()
	if len(c.wrong) == 0 { // else the orders mean little
		c.cycles()
	}
	return c.wrong
}

type listCheck struct {
	level  Isolation
	txns   []*ListTxn // committed
	writer map[int]*ListTxn
	seen   map[int]bool
	order  map[string][]int // of each key: the longest list that was read
	wrong  []error
}

func (c *listCheck) bad(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf(format, args...))
}

// orders finds the order of each key's elements, of which every read must be a prefix.
func (c *listCheck) orders() {
	for _, t := range c.txns {
		for _, o := range t.Ops {
			if o.Append == 0 && len(o.Elements) > len(c.order[o.Key]) {
				c.order[o.Key] = o.Elements
			}
		}
	}
	for _, t := range c.txns {
		for _, o := range t.Ops {
			if o.Append == 0 && !slices.Equal(o.Elements, c.order[o.Key][:len(o.Elements)]) {
				c.bad("incompatible order: %v is no beginning of %v, which was read, too", t, c.order[o.Key])
			}
		}
	}
	for k, es := range c.order {
		once := map[int]bool{}
		for _, e := range es {
			if once[e] {
				c.bad("duplicate element: %d is twice in %s %v", e, k, es)
			}
			once[e] = true
		}
	}
}

// internal holds a transaction's reads against what it did before itself.
func (c *listCheck) internal(t *ListTxn) {
	read, own := map[string][]int{}, map[string][]int{}
	for _, o := range t.Ops {
		if o.Append != 0 {
			own[o.Key] = append(own[o.Key], o.Append)
			continue
		}
		mine := own[o.Key]
		if len(o.Elements) < len(mine) || !slices.Equal(o.Elements[len(o.Elements)-len(mine):], mine) {
			c.bad("internal: %v does not see what it appended itself to %s", t, o.Key)
			continue
		}
		before := o.Elements[:len(o.Elements)-len(mine)]
		if r, ok := read[o.Key]; ok && c.level != ReadCommitted && !slices.Equal(before, r) {
			c.bad("internal: %v read %s as %v and then as %v", t, o.Key, r, before)
		}
		read[o.Key] = before
	}
}

// reads finds what nobody may see.
func (c *listCheck) reads(t *ListTxn) {
	for _, o := range t.Ops {
		for i, e := range o.Elements {
			w := c.writer[e]
			switch {
			case w == nil:
				c.bad("garbage: %v read %d, which nobody appended", t, e)
			case w == t:
			case w.Outcome == Aborted:
				c.bad("G1a, aborted read: %v read %d of %v, which was aborted", t, e, w)
			case i == len(o.Elements)-1 && e != lastAppend(w, o.Key):
				c.bad("G1b, intermediate read: %v read %d of %v, which went on", t, e, w)
			}
		}
	}
}

func lastAppend(t *ListTxn, key string) (last int) {
	for _, o := range t.Ops {
		if o.Append != 0 && o.Key == key {
			last = o.Append
		}
	}
	return last
}

// lost finds appends that were acknowledged and are missing from a list that was read afterwards.
func (c *listCheck) lost() {
	appends := map[string][]ListOp{}
	for _, t := range c.txns {
		for _, o := range t.Ops {
			if o.Append != 0 && t.Outcome == Committed {
				appends[o.Key] = append(appends[o.Key], o)
			}
		}
	}
	for _, t := range c.txns {
		for _, o := range t.Ops {
			if o.Append != 0 {
				continue
			}
			for _, a := range appends[o.Key] {
				if w := c.writer[a.Append]; w.Ended < t.Began && !slices.Contains(o.Elements, a.Append) {
					c.bad("lost append: %v began after %v was acknowledged", t, w)
				}
			}
		}
	}
}

type listEdge struct {
	to   int
	kind string
}

// graph returns the dependencies. Its first nodes are the transactions; the others are moments, one after each acknowledgement, so
// that real time takes a number of edges that is linear.
func (c *listCheck) graph() [][]listEdge {
	index := map[*ListTxn]int{}
	for i, t := range c.txns {
		index[t] = i
	}
	edges := make([][]listEdge, len(c.txns))
	add := func(from, to *ListTxn, kind string) {
		if a, b := index[from], index[to]; a != b && !slices.Contains(edges[a], listEdge{b, kind}) {
			edges[a] = append(edges[a], listEdge{b, kind})
		}
	}
	for _, es := range c.order {
		for i := 1; i < len(es); i++ {
			add(c.writer[es[i-1]], c.writer[es[i]], "ww")
		}
	}
	for _, t := range c.txns {
		for _, o := range t.Ops {
			n, order := len(o.Elements), c.order[o.Key]
			if o.Append != 0 {
				continue
			}
			if n > 0 {
				add(c.writer[o.Elements[n-1]], t, "wr")
			}
			if n < len(order) {
				add(t, c.writer[order[n]], "rw")
			}
		}
	}
	acknowledged := slices.DeleteFunc(slices.Clone(c.txns), func(t *ListTxn) bool { return t.Outcome != Committed })
	slices.SortFunc(acknowledged, func(a, b *ListTxn) int { return cmp.Compare(a.Ended, b.Ended) })
	for i, t := range acknowledged {
		moment := len(edges)
		edges = append(edges, nil)
		edges[index[t]] = append(edges[index[t]], listEdge{moment, "rt"})
		if i > 0 {
			edges[moment-1] = append(edges[moment-1], listEdge{moment, "rt"})
		}
	}
	for i, t := range c.txns {
		n, _ := slices.BinarySearchFunc(acknowledged, t.Began, func(a *ListTxn, began int) int { return cmp.Compare(a.Ended, began) })
		if n > 0 {
			moment := len(c.txns) + n - 1
			edges[moment] = append(edges[moment], listEdge{i, "rt"})
		}
	}
	return edges
}

// cycles looks for a shortest forbidden cycle. A node of the search is a node of the graph and whether it was reached by rw, as two of
// those in a row are no business of snapshot isolation.
func (c *listCheck) cycles() {
	edges := c.graph()
	next := func(n int, visit func(int, string)) {
		for _, e := range edges[n/2] {
			switch {
			case e.kind != "rw":
				visit(2*e.to, e.kind)
			case c.level == Serializable:
				visit(2*e.to, e.kind)
			case c.level == SnapshotIsolation && n%2 == 0:
				visit(2*e.to+1, e.kind)
			}
		}
	}
	for _, component := range components(2*len(edges), next) {
		if len(component) > 1 {
			c.report(shortestCycle(component, next))
		}
	}
}

// report names a cycle by the edges in it.
func (c *listCheck) report(nodes []int, kinds []string) {
	count := map[string]int{}
	var text strings.Builder
	for i, n := range nodes {
		if n/2 < len(c.txns) {
			fmt.Fprintf(&text, "\n  %v", c.txns[n/2])
		}
		if to := nodes[(i+1)%len(nodes)]; to/2 < len(c.txns) {
			fmt.Fprintf(&text, " -%s->", kinds[i])
		}
		count[kinds[i]]++
	}
	name := "G0, dirty write"
	switch {
	case count["rw"] > 1:
		name = "G2, anti-dependency cycle"
		if c.level == SnapshotIsolation {
			name = "G-nonadjacent, two anti-dependencies that are not next to each other"
		}
	case count["rw"] == 1:
		name = "G-single, a lost update or a torn snapshot"
	case count["wr"] > 0:
		name = "G1c, circular information flow"
	}
	if count["rt"] > 0 {
		name += ", in real time"
	}
	c.bad("%s:%s", name, text.String())
}

// components are the strongly connected ones (Tarjan's algorithm, without recursion).
func components(n int, next func(int, func(int, string))) (found [][]int) {
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	type frame struct {
		node int
		to   []int
	}
	var stack []int
	count := 0
	for root := range n {
		if index[root] != 0 {
			continue
		}
		var frames []frame
		enter := func(v int) {
			count++
			index[v], low[v], on[v] = count, count, true
			stack = append(stack, v)
			f := frame{node: v}
			next(v, func(w int, _ string) { f.to = append(f.to, w) })
			frames = append(frames, f)
		}
		for enter(root); len(frames) > 0; {
			f := &frames[len(frames)-1]
			if len(f.to) > 0 {
				w := f.to[0]
				f.to = f.to[1:]
				if index[w] == 0 {
					enter(w)
				} else if on[w] {
					low[f.node] = min(low[f.node], index[w])
				}
				continue
			}
			v := f.node
			if frames = frames[:len(frames)-1]; len(frames) > 0 {
				p := frames[len(frames)-1].node
				low[p] = min(low[p], low[v])
			}
			if low[v] == index[v] {
				i := slices.Index(stack, v)
				for _, w := range stack[i:] {
					on[w] = false
				}
				found = append(found, slices.Clone(stack[i:]))
				stack = stack[:i]
			}
		}
	}
	return found
}

// shortestCycle within a component: the nodes, and the kind of the edge that leaves each.
func shortestCycle(component []int, next func(int, func(int, string))) (nodes []int, kinds []string) {
	inside := map[int]bool{}
	for _, n := range component {
		inside[n] = true
	}
	type step struct {
		from int
		kind string
	}
	for _, root := range component {
		came := map[int]step{}
		queue := []int{root}
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			next(n, func(w int, kind string) {
				if _, known := came[w]; inside[w] && !known {
					came[w] = step{n, kind}
					queue = append(queue, w)
				}
			})
			if _, closed := came[root]; closed {
				break
			}
		}
		var ns []int
		var ks []string
		for n := root; ; {
			s := came[n]
			ns, ks = append(ns, s.from), append(ks, s.kind)
			if n = s.from; n == root {
				break
			}
		}
		slices.Reverse(ns)
		slices.Reverse(ks)
		if nodes == nil || len(ns) < len(nodes) {
			nodes, kinds = ns, ks
		}
	}
	return nodes, kinds
}
