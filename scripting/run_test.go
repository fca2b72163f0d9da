package scripting

import "testing"

func TestBody(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"value", `return 1 + 1`, `2`},
		{"top-level await", `const x: number = await Promise.resolve(3); return { x }`, `{"x":3}`},
		{"nothing", `1`, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustSucceed(t, p, newWorld(), c.code); got != c.want {
				t.Errorf("returned %s, want %s", got, c.want)
			}
		})
	}
}
