package fetch_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"takeover/fetch"
)

// TestBodiesTogether checks that all bodies being read share one limit, and free
// their share when done.
func TestBodiesTogether(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{
		"/large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20+1)) },
		"/small": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) },
	})
	c := client(t, fetch.Options{MaxBodies: 1 << 20})
	for range 2 {
		if _, err := c.Do(t.Context(), get(t, s.URL+"/large")); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes together") {
			t.Errorf("too large: %v", err)
		}
		if res, err := c.Do(t.Context(), get(t, s.URL+"/small")); err != nil || len(res.Body) != 1<<20 {
			t.Errorf("one after it: %v", err)
		}
	}
}

// TestRequestsTogether checks that requests beyond the limit wait.
func TestRequestsTogether(t *testing.T) {
	var now, most atomic.Int32
	s := server(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		now.Add(-1)
	}})
	c := client(t, fetch.Options{MaxRequests: 3})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := c.Do(t.Context(), get(t, s.URL)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n < 1 || n > 3 {
		t.Errorf("%d requests at a time", n)
	}
}

// TestLargeCookie checks that a cookie that no browser would accept is not kept.
func TestLargeCookie(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		for _, n := range []int{4095, 4096} {
			w.Header().Add("Set-Cookie", fmt.Sprintf("%c=%s", 'a'+rune(n-4095), strings.Repeat("x", n)))
		}
	}})
	var jar fetch.Memory
	r := get(t, s.URL)
	r.Jar = &jar
	if _, err := client(t, fetch.Options{}).Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if all := jar.All(); len(all) != 1 || all[0].Name != "a" {
		t.Errorf("%d cookies", len(all))
	}
}

// TestCookiesOfMuch checks that attributes that no browser accepts are dropped,
// and that the number of cookies is limited.
func TestCookiesOfMuch(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{
		"/path": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "long=1; Path=/"+strings.Repeat("x", 1024))
			w.Header().Add("Set-Cookie", "just=1; Path=/"+strings.Repeat("x", 1023))
		},
		"/many": func(w http.ResponseWriter, req *http.Request) {
			for i := range 100 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("%s%d=%s", req.URL.Query().Get("n"), i, strings.Repeat("x", 4000)))
			}
		},
	})
	var jar fetch.Memory
	c := client(t, fetch.Options{})
	ask := func(path string) []fetch.Cookie {
		t.Helper()
		r := get(t, s.URL+path)
		r.Jar = &jar
		if _, err := c.Do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return jar.All()
	}
	if all := ask("/path"); len(all) != 2 || all[0].Path != "/" || len(all[1].Path) != 1024 {
		t.Errorf("paths: %v", all)
	}
	for n := range 4 {
		ask(fmt.Sprintf("/many?n=%c", 'a'+n))
	}
	all := jar.All()
	size := 0
	for _, c := range all {
		size += len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path)
	}
	if size > 1<<20 || size < 1<<20-5000 || all[len(all)-1].Name != "d99" {
		t.Errorf("%d cookies with %d bytes, the last %q", len(all), size, all[len(all)-1].Name)
	}
}
