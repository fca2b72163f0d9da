package widget

import (
	"math"
	"slices"
	"testing"
)

// FuzzReport parses arbitrary reports of documents: a report that passes has only
// values that the server may pass on.
func FuzzReport(f *testing.F) {
	for _, seed := range []string{
		`{"focus":{"kind":"password","rect":[1,2,3,4]}}`, `{"focus":null}`, `{"cursor":"pointer","at":1.5}`, `{"secret":"x"}`, `{"open":1}`,
		`{"menu":{"link":"https://a.test/","image":"","selected":true,"editable":false}}`, `{"menu":{"link":"javascript:1"}}`, `{"refused":"camera"}`,
		`{"focus":{"kind":"text","rect":[1e999,0,-1,0]}}`, `{"printed":true,"moved":true}`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		r, err := parseReport(payload)
		if err != nil {
			return
		}
		if r.Focus != nil {
			if !slices.Contains(Kinds, r.Focus.Kind) || !(math.Abs(r.Focus.Rect.X) <= maxCoordinate) || r.Focus.Rect.Width < 0 || r.Focus.Rect.Height < 0 {
				t.Errorf("%s has the focus %+v", payload, r.Focus)
			}
		}
		if r.Cursor != "" && !slices.Contains(Cursors, r.Cursor) || r.Refused != "" && !slices.Contains(Permissions, r.Refused) {
			t.Errorf("%s passed", payload)
		}
		if r.Menu != nil && !(r.Menu.ofWeb(r.Menu.Link) && r.Menu.ofWeb(r.Menu.Image)) {
			t.Errorf("%s has an address that is not of the web", payload)
		}
	})
}
