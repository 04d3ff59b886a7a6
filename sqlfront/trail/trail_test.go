package trail

import (
	"slices"
	"testing"
)

// TestTrail: each id is handed out once, however often a scan passed its row; the one that is asked for comes
// first; and a trail that has not noted all rows knows of no others like one.
func TestTrail(t *testing.T) {
	r := New()
	for range 2 {
		for id, row := range []string{"a", "b", "a"} {
			if r.Wants(uint64(id)) {
				r.Note(uint64(id), []byte(row))
			}
		}
	}
	if ids := r.Like([]byte("a")); !slices.Equal(ids, []uint64{0, 2}) {
		t.Errorf("like a: %v", ids)
	}
	r.Next(2)
	for _, want := range []uint64{2, 0, 2} { // whoever asks for one knows that it is there
		if id, ok := r.Take([]byte("a")); !ok || id != want {
			t.Errorf("took %d, %v, want %d", id, ok, want)
		}
	}
	if id, ok := r.Take([]byte("a")); ok {
		t.Errorf("took %d once more", id)
	}
	for id := range uint64(most + 1) {
		if r.Wants(id + 10) {
			r.Note(id+10, []byte("b"))
		}
	}
	if ids := r.Like([]byte("b")); ids != nil {
		t.Errorf("a trail that is full knows of %d", len(ids))
	}
	if id, ok := r.Take([]byte("b")); !ok || id != 1 {
		t.Errorf("took %d, %v, want 1", id, ok)
	}
	var none *Trail
	if _, ok := none.Take(nil); ok || none.Like(nil) != nil {
		t.Error("no trail knows of rows")
	}
	none.Next(1)
}
