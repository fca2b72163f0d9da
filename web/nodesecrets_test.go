package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/limits"
	"takeover/store/storetest"
)

// forwardedNone is in the metrics of a node that has passed nothing on.
const forwardedNone = "takeover_forwarded_requests_total 0\n"

// TestRendersAtAnyNode makes a picture at one node, and reads it at the other one. There as
// here, its name is all that one needs, and nothing else leads to it.
func TestRendersAtAnyNode(t *testing.T) {
	a, b := startNodes(t)
	var made struct{ URL string }
	a.call("POST", "/v1/screenshot", map[string]any{"url": a.base + "/demo/"}, 200, &made)
	path, ok := strings.CutPrefix(made.URL, a.base)
	if !ok || !strings.HasSuffix(path, "."+a.cfg.Cluster.Self().ID) {
		t.Fatalf("the picture's address: %s", made.URL)
	}
	secret, id, _ := strings.Cut(strings.TrimPrefix(path, "/v1/renders?name="), ".")
	for name, by := range map[string]request{
		"an operator": {}, "another key": {key: otherKey}, "nobody": {key: "-"}, "a wrong key": {key: "a-key-that-is-none"},
	} {
		by.method, by.path = http.MethodGet, path
		here, there := a.do(by), b.do(by)
		if here.status != 200 || there.status != 200 || string(here.body) != string(there.body) || there.header.Get("Content-Type") != here.header.Get("Content-Type") || len(there.body) < 1000 {
			t.Errorf("%s gets %d here and %d there, %d and %d bytes", name, here.status, there.status, len(here.body), len(there.body))
		}
		for _, wrong := range []string{"", id, "." + id, "wrong." + id, secret[:25] + "." + id, secret + ".." + id, secret + "." + id + "." + id, secret + "." + b.cfg.Cluster.Self().ID} {
			by.path = "/v1/renders?name=" + url.QueryEscape(wrong)
			if here, there := a.do(by).status, b.do(by).status; here != 404 || there != 404 {
				t.Errorf("%s gets %d here and %d there for the name %s", name, here, there, wrong)
			}
		}
	}
	b.do(request{method: "GET", path: "/v1/renders?name=" + secret}).problem(404)
	if head := b.do(request{method: "HEAD", path: path, key: "-"}); head.status != 200 || len(head.body) > 0 {
		t.Errorf("HEAD: %d, %d bytes", head.status, len(head.body))
	}
}

// TestSecretsLeadToNodesOnly gives names and codes with an id that is of no node, or of one that
// does not answer.
func TestSecretsLeadToNodesOnly(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, b := startNode(t, nats, "a"), startNode(t, nats, "b")
	browsertest.Until(t, "a knows of b", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	name := b.withNode("x")
	ask := func(secret string) {
		t.Helper()
		for _, by := range []request{
			{method: "GET", path: "/v1/renders?name=" + url.QueryEscape(secret)},
			{method: "GET", path: "/v1/renders?name=" + url.QueryEscape(secret), key: "-"},
			{method: "POST", path: "/login", body: map[string]any{"code": secret}, key: "-", header: map[string]string{"Content-Type": "application/json"}},
		} {
			got := a.do(by)
			p := got.problem(503)
			_, id, _ := strings.Cut(secret, ".")
			if got.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "does not answer") || id != "" && strings.Contains(p.Detail, id) {
				t.Errorf("%s %s: %+v", by.method, secret, p)
			}
		}
	}
	for _, id := range []string{"none", "", "b", "*", ">", "http://" + strings.TrimPrefix(b.base, "http://"), "@" + strings.TrimPrefix(b.base, "http://"), strings.Repeat("0", 24), "\r\nHost: x"} {
		ask("x." + id)
	}
	if err := b.silence(); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "b is silent", func() bool { return a.cfg.Cluster.Nodes()[1].Lost })
	ask(name)
	if got := string(a.do(request{method: "GET", path: "/metrics"}).body); !strings.Contains(got, forwardedNone) {
		t.Error("a passed a request on")
	}
}

// TestSignInLinkAtAnyNode uses sign-in links of one node at the other one. Each works once, at
// whichever node.
func TestSignInLinkAtAnyNode(t *testing.T) {
	a, b := startNodes(t)
	works := func(got reply) {
		t.Helper()
		cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
		if got.status != 303 || got.header.Get("Location") != "/sessions/x" {
			t.Fatalf("the link leads with %d to %q: %s", got.status, got.header.Get("Location"), got.body)
		}
		for _, s := range []*testServer{a, b} {
			if got := s.do(request{method: "GET", path: "/v1/sessions", key: "-", header: map[string]string{"Cookie": cookie}}); got.status != 200 {
				t.Errorf("who signed in gets %d", got.status)
			}
		}
	}
	isUsed := func(link string) {
		t.Helper()
		for _, s := range []*testServer{a, b} {
			if got := s.postCode(link, nil); got.status != 401 || got.header.Get("Set-Cookie") != "" || !strings.Contains(string(got.body), "used before") {
				t.Errorf("a link that was used: %d", got.status)
			}
		}
	}
	link := a.SignInPath("/sessions/x")
	if page := b.do(request{method: "GET", path: link, key: "-"}); page.status != 200 || !strings.Contains(string(page.body), "data-code") {
		t.Errorf("the link's page: %d", page.status)
	}
	b.postCode(link, map[string]string{"Origin": "https://evil.example"}).is(403)
	works(b.postCode(link, nil))
	isUsed(link)
	link = a.SignInPath("/sessions/x")
	works(a.postCode(link, nil))
	isUsed(link)

	link = a.SignInPath("/sessions/x")
	of := func(id string) string { return strings.Replace(link, a.cfg.Cluster.Self().ID, id, 1) }
	b.postCode(of("none"), nil).is(503)
	b.postCode(of(b.cfg.Cluster.Self().ID), nil).is(401)
	works(b.postCode(link, nil)) // neither used it up

	link = a.SignInPath("")
	a.codes.mu.Lock()
	for hash, code := range a.codes.codes {
		code.expires = time.Now()
		a.codes.codes[hash] = code
	}
	a.codes.mu.Unlock()
	b.postCode(link, nil).is(401)
	a.postCode(link, nil).is(401)
}

// TestSignInLinkWorksOnceAtTheSameTime uses sign-in links at two nodes at the same time.
func TestSignInLinkWorksOnceAtTheSameTime(t *testing.T) {
	a, b := startNodes(t)
	for range 10 {
		link := a.SignInPath("")
		const each = 2
		answers := make(chan reply, 2*each)
		start := make(chan struct{})
		var tries sync.WaitGroup
		for range each {
			for _, s := range []*testServer{a, b} {
				tries.Go(func() {
					<-start
					answers <- s.postCode(link, nil)
				})
			}
		}
		close(start)
		tries.Wait()
		won := 0
		for range cap(answers) {
			switch got := <-answers; {
			case got.status == 303 && got.header.Get("Set-Cookie") != "":
				won++
			case got.status != 401 || got.header.Get("Set-Cookie") != "":
				t.Errorf("another use gets %d", got.status)
			}
		}
		if won != 1 {
			t.Fatalf("%d uses of the link succeed", won)
		}
	}
}

// TestWrongCodesCountAtBothNodes tries codes of one node at the other one until both refuse
// further tries.
func TestWrongCodesCountAtBothNodes(t *testing.T) {
	a, b := startNodes(t)
	link := "/login?code=" + url.QueryEscape(a.withNode(a.keys.entries[0].id+".guess"))
	const tries = 3
	for _, s := range []*testServer{a, b} {
		s.signIns = newLimiter(limits.SignIns, time.Hour, tries)
	}
	for range tries {
		b.postCode(link, nil).is(401)
	}
	wrongKey := request{method: "POST", path: "/login", body: map[string]any{"key": "wrong"}, key: "-", header: map[string]string{"Content-Type": "application/json"}}
	if got := b.do(wrongKey); got.status != 429 { // b answers that itself
		t.Errorf("b has not counted wrong codes of a: %d", got.status)
	}
	good := a.SignInPath("")
	b.postCode(good, nil).is(429)
	a.postCode(good, nil).is(429)
}

// TestSignInLinkOfAnotherKey uses a sign-in link at a node that has other keys. It is refused,
// and not used up.
func TestSignInLinkOfAnotherKey(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a := startNode(t, nats, "a")
	keys, err := NewKeys("the-key-of-another-node")
	if err != nil {
		t.Fatal(err)
	}
	b := startNode(t, nats, "b")
	b.keys.entries = keys.entries
	browsertest.Until(t, "b knows of a", func() bool { return len(b.cfg.Cluster.Nodes()) == 2 })
	link := a.SignInPath("")
	if got := b.postCode(link, nil); got.status != 401 || !strings.Contains(string(got.body), "does not have the key") {
		t.Errorf("at a node with other keys: %d", got.status)
	}
	a.postCode(link, nil).is(303)
}
