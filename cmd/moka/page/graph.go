package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// node is a table or an observer of the graph.
type node struct {
	name     string
	observer bool
	out      []int
	// component is which part of the graph it belongs to whose nodes reach each other (Tarjan 1972).
	component int
	column    int
	x, y      int
}

// network is the graph of what sets off what.
type network struct {
	nodes []*node
	index map[string]int
	sizes []int // of the components
}

func (g *network) node(name string, observer bool) int {
	key := name
	if observer {
		key = "observer " + name
	}
	if i, ok := g.index[key]; ok {
		return i
	}
	g.index[key] = len(g.nodes)
	g.nodes = append(g.nodes, &node{name: name, observer: observer})
	return len(g.nodes) - 1
}

func (g *network) edge(from, to int) {
	if !slices.Contains(g.nodes[from].out, to) {
		g.nodes[from].out = append(g.nodes[from].out, to)
	}
}

// circular reports whether an edge is part of a cycle.
func (g *network) circular(from, to int) bool {
	c := g.nodes[from].component
	return c == g.nodes[to].component && g.sizes[c] > 1
}

// shownGraph is what the template "graph" has.
type shownGraph struct {
	SVG    template.HTML
	Paths  []string // the same in words
	Cycles bool
}

func graph(ctx context.Context, v view) (any, error) {
	declared, err := v.o.Source.View(ctx, "observers")
	if err != nil {
		return nil, err
	}
	written, err := v.o.Source.View(ctx, "observer_writes")
	if err != nil {
		return nil, err
	}
	g := &network{index: map[string]int{}}
	r := byName(declared)
	for i := range declared.Rows {
		k := keyOf(r, i)
		g.edge(g.node(k.schema+"."+r.text(i, "event_table"), false), g.node(k.schema+"."+k.name, true))
	}
	r = byName(written)
	for i := range written.Rows {
		k := keyOf(r, i)
		g.edge(g.node(k.schema+"."+k.name, true),
			g.node(r.text(i, "table_schema")+"."+r.text(i, "table_name"), false))
	}
	return g.show(), nil
}

// nodesDrawn bounds the drawing; the words below it are all there.
const nodesDrawn = 120

func (g *network) show() (s shownGraph) {
	g.components()
	for from, n := range g.nodes {
		for _, to := range n.out {
			text := n.name + " → " + g.nodes[to].name
			if g.circular(from, to) {
				s.Cycles = true
				text += " (cycle)"
			}
			s.Paths = append(s.Paths, text)
		}
	}
	if len(g.nodes) > 0 && len(g.nodes) <= nodesDrawn {
		s.SVG = g.draw()
	}
	return s
}

// components finds the strongly connected ones, in reverse topological order.
func (g *network) components() {
	n := len(g.nodes)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, on[v] = append(stack, v), true
		for _, w := range g.nodes[v].out {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		size := 0
		for {
			w := stack[len(stack)-1]
			stack, on[w] = stack[:len(stack)-1], false
			g.nodes[w].component = len(g.sizes)
			if size++; w == v {
				break
			}
		}
		g.sizes = append(g.sizes, size)
	}
	for v := range g.nodes {
		if index[v] == 0 {
			visit(v)
		}
	}
}

const (
	nodeWidth, nodeHeight = 150, 30
	nodeGapX, nodeGapY    = 44, 16
)

// draw puts every node one column behind the last of those that set it off; within a cycle the order is that
// of the walk, and the edge back is bent.
func (g *network) draw() template.HTML {
	placed := make([]bool, len(g.nodes))
	var columns []int
	place := func(i, column int) {
		for len(columns) <= column {
			columns = append(columns, 0)
		}
		n := g.nodes[i]
		n.column, placed[i] = column, true
		n.x = 10 + column*(nodeWidth+nodeGapX)
		n.y = 10 + columns[column]*(nodeHeight+nodeGapY)
		columns[column]++
	}
	// Components are numbered from the end, so going down meets who sets off before who is set off.
	for c := len(g.sizes) - 1; c >= 0; c-- {
		for i, n := range g.nodes {
			if n.component == c && !placed[i] {
				g.walk(i, g.after(i, placed), placed, place)
			}
		}
	}
	height := 20 + slices.Max(columns)*(nodeHeight+nodeGapY) + nodeHeight
	width := 20 + len(columns)*(nodeWidth+nodeGapX) - nodeGapX
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="graph" role="img" aria-label="What sets off what; the same is below"`+
		` viewBox="0 0 %d %d" width="%d" height="%d">`, width, height, width, height)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" ` +
		`markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">` +
		`<path d="M0 0L8 4L0 8z"/></marker></defs>`)
	for from, n := range g.nodes {
		for _, to := range n.out {
			class := "edge"
			if g.circular(from, to) {
				class = "edge cycle"
			}
			fmt.Fprintf(&b, `<path class="%s" d="%s" marker-end="url(#tip)"/>`, class, curve(n, g.nodes[to]))
		}
	}
	for _, n := range g.nodes {
		class, radius := "table", 3
		if n.observer {
			class, radius = "observer", 15
		}
		name := n.name
		if r := []rune(name); len(r) > 21 {
			name = string(r[:20]) + "…"
		}
		fmt.Fprintf(&b, `<g class="node %s"><title>%s</title>`+
			`<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/><text x="%d" y="%d">%s</text></g>`,
			class, template.HTMLEscapeString(n.name), n.x, n.y, nodeWidth, nodeHeight, radius,
			n.x+nodeWidth/2, n.y+nodeHeight/2+5, template.HTMLEscapeString(name))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// after is the column behind all that set a node off and have their place.
func (g *network) after(i int, placed []bool) (column int) {
	for j, n := range g.nodes {
		if placed[j] && slices.Contains(n.out, i) {
			column = max(column, n.column+1)
		}
	}
	return column
}

// walk gives the nodes of a component their places, depth first.
func (g *network) walk(i, column int, placed []bool, place func(i, column int)) {
	place(i, column)
	for _, to := range g.nodes[i].out {
		if !placed[to] && g.nodes[to].component == g.nodes[i].component {
			g.walk(to, column+1, placed, place)
		}
	}
}

func curve(from, to *node) string {
	x1, y1, x2, y2 := from.x+nodeWidth, from.y+nodeHeight/2, to.x, to.y+nodeHeight/2
	if to.column > from.column {
		bend := (x2 - x1) / 2
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
	}
	// back: below both
	low := max(from.y, to.y) + nodeHeight + nodeGapY
	x1, x2 = from.x+nodeWidth/2, to.x+nodeWidth/2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, from.y+nodeHeight, x1, low+12, x2, low+12, x2,
		to.y+nodeHeight)
}
