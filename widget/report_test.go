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
		`{"focus":{"kind":"text","rect":[1e999,0,-1,0]}}`, `{"focus":{"kind":"text","rect":[1,2,3,4],"element":[1,2,3,4],"around":[[0,0,9,9],[0,0,10,9]],"text":16}}`, `{"printed":true,"moved":true}`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		r, err := parseReport(payload)
		if err != nil {
			return
		}
		if r.Focus != nil {
			if !slices.Contains(Kinds, r.Focus.Kind) || !(r.Focus.Text >= 0 && r.Focus.Text <= maxCoordinate) {
				t.Errorf("%s has the focus %+v", payload, r.Focus)
			}
			for _, rect := range append(r.Focus.Around[:], r.Focus.Rect, r.Focus.Element) {
				if !(math.Abs(rect.X) <= maxCoordinate && math.Abs(rect.Y) <= maxCoordinate) || rect.Width < 0 || rect.Height < 0 {
					t.Errorf("%s has the rectangle %+v", payload, rect)
				}
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
