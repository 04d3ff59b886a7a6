package spare

import "testing"

func TestPoolKeepsNoMoreThanItMay(t *testing.T) {
	p := Pool[string, int]{Most: 100, Each: 2}
	for i := range 3 {
		p.Put("a", 1, i, 10)
	}
	if w := p.Weighs(); w != 20 {
		t.Errorf("three of a key of which two are kept weigh %d", w)
	}
	p.Put("b", 1, 7, 100)
	if _, ok := p.Take("a", 1); ok || p.Weighs() != 100 {
		t.Errorf("a is still there, %d bytes", p.Weighs())
	}
	p.Put("c", 1, 8, 101)
	if _, ok := p.Take("c", 1); ok {
		t.Error("one that is too heavy is kept")
	}
	if v, ok := p.Take("b", 1); !ok || v != 7 || p.Weighs() != 0 {
		t.Errorf("b is %v, %v, and %d bytes are left", v, ok, p.Weighs())
	}
	p.Put("a", 1, 1, 10)
	p.Put("a", 2, 2, 10)
	p.Put("a", 1, 3, 10)
	if _, ok := p.Take("a", 1); ok {
		t.Error("an older version was kept beside the newer one")
	}
	if v, ok := p.Take("a", 2); !ok || v != 2 {
		t.Errorf("the newer version is %v, %v", v, ok)
	}
	p.Put("a", 2, 2, 10)
	if _, ok := p.Take("a", 3); ok || p.Weighs() != 0 {
		t.Error("what is older than what is asked for stays")
	}
	p.Put("a", 3, 1, 10)
	p.Drop("a")
	if p.Weighs() != 0 {
		t.Error("what was dropped stays")
	}
}
