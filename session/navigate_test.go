package session

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestNavigationsHoldUpNothing opens a server that does not respond: the person's
// next commands still run at once.
func TestNavigationsHoldUpNothing(t *testing.T) {
	asked, left := make(chan struct{}, 10), make(chan struct{}, 10)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	}))
	t.Cleanup(silent.Close)
	base := site(t)
	s := borrow(t, base+"/one")
	v := join(t, s, RoleControl)
	await(v, "first page", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].Title == "Page one" })
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	quick := func(what string) { // each step takes less than waiting for a document would
		t.Helper()
		if took := time.Since(began); took > actTimeout {
			t.Errorf("%s: it took %v", what, took)
		}
		began = time.Now()
	}
	navigate := func(action, url string) {
		t.Helper()
		if err := v.Navigate(t.Context(), 0, action, url); err != nil {
			t.Fatalf("%s: %v", action, err)
		}
	}
	wait := func(what string, c chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(actTimeout): // how long waiting for the document would take
			t.Fatalf("%s: it took more than %v", what, actTimeout)
		}
		quick(what)
	}
	navigate("goto", silent.URL)
	wait("the request", asked)
	navigate("stop", "")
	wait("stop", left)
	navigate("goto", silent.URL)
	wait("the second request", asked)
	navigate("goto", base+"/two")
	wait("another address", left)
	await(v, "second page", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page two" && !m.Tabs[0].Loading })
	quick("second page")
	navigate("back", "")
	await(v, "first page again", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page one" })
	quick("back")
	navigate("forward", "")
	await(v, "second page again", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page two" })
	quick("forward")
	navigate("reload", "")
	quick("reload")
}
