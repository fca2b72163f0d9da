package limits

import "testing"

func TestHits(t *testing.T) {
	h := New()
	h.Add(Tabs, 1)
	h.Add(Tabs, 2)
	for _, name := range Names {
		want := uint64(0)
		if name == Tabs {
			want = 3
		}
		if got := h.Count(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	var none *Hits
	none.Add(Tabs, 1)
	if none.Count(Tabs) != 0 {
		t.Error("a nil Hits has counted")
	}
}
