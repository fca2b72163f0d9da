package browserless

import "testing"

// TestAsyncFunctions checks which functions are called once: those that return a promise
// anyway. The page finds out about all others.
func TestAsyncFunctions(t *testing.T) {
	for code, want := range map[string]bool{
		"async () => true": true, " async function f() {}": true, "async page => 1": true, "async(a, b) => 1": true,
		"() => 1": false, "function () {}": false, "asynchronous": false, "async.ready": false, "window.async": false,
	} {
		if got := asyncFunction.MatchString(code); got != want {
			t.Errorf("%q: %v, want %v", code, got, want)
		}
	}
}
