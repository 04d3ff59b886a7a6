package page

import (
	"context"
	"fmt"
	"html/template"
	"strings"
)

func shards(ctx context.Context, v view) (any, error) { return v.o.Source.Shards(ctx) }

// Hot is a tablet of which much more is asked than of the others.
const (
	hotRate  = 100  // commands a second at least
	hotShare = 0.25 // of all commands
)

// placed is a tablet on the map.
type placed struct {
	Tablet
	Table string
	Share int // of the most that is asked of one, in percent
	Hot   bool
}

// tableMap is a table with its tablets.
type tableMap struct {
	Name    string
	Tablets []placed
	Bytes   uint64
	Rate    float64
}

// tabletMap is what the template "tablets" has.
type tabletMap struct {
	Tables []*tableMap
	Strip  template.HTML
	Cut    int // tablets that are not shown
}

// tabletsShown bounds the rows of the page.
const tabletsShown = 500

func tablets(ctx context.Context, v view) (any, error) {
	list, err := v.o.Source.Tablets(ctx)
	if err != nil {
		return nil, err
	}
	return mapOf(list), nil
}

func mapOf(list []Tablet) (m tabletMap) {
	var all, most float64
	for _, t := range list {
		all, most = all+t.Rate, max(most, t.Rate)
	}
	by := map[string]*tableMap{}
	var strip []placed
	for i, t := range list {
		if i == tabletsShown {
			m.Cut = len(list) - i
			break
		}
		p := placed{Tablet: t, Table: tableOf(t.Begins), Hot: t.Rate >= hotRate && t.Rate >= hotShare*all}
		if most > 0 {
			p.Share = int(100 * t.Rate / most)
		}
		x := by[p.Table]
		if x == nil {
			x = &tableMap{Name: p.Table}
			by[p.Table], m.Tables = x, append(m.Tables, x)
		}
		x.Tablets, x.Bytes, x.Rate = append(x.Tablets, p), x.Bytes+t.Bytes, x.Rate+t.Rate
		strip = append(strip, p)
	}
	m.Strip = stripOf(strip)
	return m
}

// tableOf is the table of a row's name: "shop.line" of "shop.line(1, 'x')".
func tableOf(name string) string {
	table, _, _ := strings.Cut(name, "(")
	if table == "" {
		return "first rows"
	}
	return table
}

// stripOf draws the key space from left to right, a box for each tablet.
func stripOf(list []placed) template.HTML {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" role="img" aria-label="%d tablets in the order of their rows" `+
		`viewBox="0 0 %d 24" preserveAspectRatio="none">`, len(list), 10*len(list))
	for i, t := range list {
		fmt.Fprintf(&b, `<rect class="shard%d heat%d" x="%d" y="0" width="9.9" height="24">`+
			`<title>%s</title></rect>`,
			t.Shard%6, t.Share/20, 10*i, template.HTMLEscapeString(fmt.Sprintf("%s, shard %d, %s, %s",
				t.Begins, t.Shard, size(t.Bytes), perSecond(t.Rate))))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
