package browserless

import "testing"

// TestFunctions tells functions from expressions.
func TestFunctions(t *testing.T) {
	for _, tt := range []struct {
		code            string
		function, async bool
	}{
		{"() => ready", true, false}, {" ( a, b ) => a", true, false}, {"_ => ready", true, false}, {"$é1=>1", true, false},
		{"function () { return 1 }", true, false}, {"function named() {}", true, false},
		{"async () => {}", false, true}, {"\nasync function () {}", false, true}, {"async x => x", false, true},
		{"window.ready", false, false}, {"(() => 1)()", false, false}, {"(function () { return 1 })()", false, false},
		{"functions > 1", false, false}, {"asyncDone", false, false}, {"a >= 1", false, false}, {"(a) > 1", false, false},
	} {
		if got := anyFunction.MatchString(tt.code); got != tt.function {
			t.Errorf("%q is a function: %v", tt.code, got)
		}
		if got := asyncFunction.MatchString(tt.code); got != tt.async {
			t.Errorf("%q is async: %v", tt.code, got)
		}
	}
}
