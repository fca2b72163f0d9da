package web

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/cluster"
	"takeover/session"
	"takeover/store"
	"takeover/store/storetest"
	"takeover/web/views"
)

// manyNodes is how many nodes joinMany simulates. With 1000, the list has a hundred thousand
// sessions.
var manyNodes = flag.Int("nodes", 100, "how many nodes TestListOfManyNodes and TestPageOfManyNodes simulate")

const (
	// eachHas is how many sessions each of them has.
	eachHas = 100
	// newest is how many sessions one more node has, which are newer than all others.
	newest = 250
	// eachEnded is how many ended sessions each of them has.
	eachEnded = 3
)

// joinMany makes nodes join a cluster that only answer for their part of the list and of the
// page of sessions.
// The newest session has the highest number; each node has every thousandth if there
// are a thousand. sent counts the sessions that they send.
func joinMany(t *testing.T, nats string) (sent *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	kept, err := store.Open(t.Context(), store.Options{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	bucket, err := kept.Bucket(t.Context(), "nodes", store.BucketOptions{Bytes: 8 << 20, Age: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	many := *manyNodes
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lists := map[string][]placed[json.RawMessage]{} // by the node's address, newest first
	pages := map[string]*views.SessionsPage{}
	for n := range many + 1 {
		addr := fmt.Sprintf("127.0.%d.%d:%s", 1+n/250, 1+n%250, port)
		name, has := fmt.Sprint("node-", n), eachHas
		if n == many {
			has = newest
		}
		pages[addr] = &views.SessionsPage{LiveTotal: has, EndedTotal: eachEnded, Scripts: map[string]int{}}
		for i := range has {
			number := (has-1-i)*many + n
			if n == many {
				number = many*eachHas + newest - 1 - i
			}
			at := position{start.Add(time.Duration(number) * time.Second), manySession(number)}
			raw, _ := json.Marshal(sessionView{Info: session.Info{ID: at.id, Status: session.StatusLive, CreatedAt: at.at, Title: "A page of a shop", URL: "https://shop.example/cart?item=" + at.id, Metadata: map[string]any{"n": number}, Tabs: []session.Tab{{}}}, Node: name})
			lists[addr] = append(lists[addr], placed[json.RawMessage]{raw, at})
			page, script := pages[addr], manyScript(number)
			page.Live = append(page.Live, views.SessionInfo{ID: at.id, Status: "live", Title: "A page of a shop", URL: "https://shop.example/cart", Script: script, CreatedAt: at.at})
			page.Scripts[script]++
		}
		for i := range eachEnded {
			number := i*(many+1) + n
			pages[addr].Ended = append(pages[addr].Ended, views.SessionInfo{ID: endedSession(number), Status: "released", CreatedAt: start, EndedAt: start.Add(time.Duration(number+1) * time.Second)})
		}
		state, _ := json.Marshal(cluster.Node{ID: name, Name: name, URL: "http://" + addr, Version: "test", Load: cluster.Load{Sessions: eachHas, MaxSessions: eachHas}})
		if err := bucket.Set(t.Context(), name, state); err != nil {
			t.Fatal(err)
		}
	}
	sent = &atomic.Int64{}
	stub := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			page := *pages[r.Host]
			page.Filter = views.NewSessionFilter(r.URL.Query())
			page.Ended = matching(page.Ended, page.Filter, start) // as pageSessions does
			part, err := partOfPage(&page, r.URL.Query(), start)
			if err != nil {
				t.Error(err)
			}
			sent.Add(int64(len(part.Live) + len(part.Ended)))
			_ = json.NewEncoder(w).Encode(part)
			return
		}
		all := lists[r.Host]
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			after, _ := readCursor(cursor)
			all = all[slices.IndexFunc(append(all, placed[json.RawMessage]{}), func(p placed[json.RawMessage]) bool { return p.compare(after) < 0 }):]
		}
		answer := map[string]any{"sessions": []json.RawMessage{}, "next": nil}
		if r.URL.Query().Get("status") == "live" || r.URL.Query().Get("status") == "" {
			if len(all) > limit {
				all = all[:limit]
				answer["next"] = all[limit-1].cursor()
			}
			items := make([]json.RawMessage, len(all))
			for i, one := range all {
				items[i] = one.item
			}
			answer["sessions"] = items
			sent.Add(int64(len(items)))
		}
		_ = json.NewEncoder(w).Encode(answer)
	})}
	go func() { _ = stub.Serve(ln) }()
	t.Cleanup(func() { _ = stub.Close() })
	return sent
}

func manySession(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func endedSession(n int) string { return fmt.Sprintf("00000000-0000-4000-9000-%012d", n) }

// manyScript is the script that a session ran: with many nodes, a node's all ran the same.
func manyScript(n int) string { return fmt.Sprintf("script-%d.js", n%10) }

// startAmongMany starts a server that is one of many nodes. sent counts the sessions that the
// others send.
func startAmongMany(t *testing.T) (a *testServer, sent *atomic.Int64) {
	t.Helper()
	nats := storetest.NATS(t, server.Options{JetStream: true})
	heart, err := store.Open(t.Context(), store.Options{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = heart.Close() })
	a = startServer(t, func(o *session.Options, c *Config) {
		joined, err := cluster.Join(t.Context(), cluster.Options{
			Store: heart, Self: cluster.Node{ID: "a", Name: "a", URL: o.PublicURL(), Version: "test"}, Beat: time.Minute, Logger: o.Logger, Load: func() cluster.Load { return cluster.Load{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(joined.Close)
		o.Directory, c.Cluster = joined, joined
	})
	sent = joinMany(t, nats)
	browsertest.Until(t, "a knows all nodes", func() bool { return len(a.cfg.Cluster.Nodes()) == *manyNodes+2 })
	return a, sent
}

// TestListOfManyNodes reads a list of sessions on many nodes, of which no page must cost the
// sessions of all.
func TestListOfManyNodes(t *testing.T) {
	a, sent := startAmongMany(t)
	many := *manyNodes
	var page struct {
		Sessions []struct{ ID string }
		Next     *string
		Missing  []string
	}
	var took []time.Duration
	for round := range 6 {
		cursor, number := "", many*eachHas+newest
		for n := range 6 {
			start, before := time.Now(), sent.Load()
			a.call("GET", fmt.Sprintf("/v1/sessions?limit=100&status=live&cursor=%s", cursor), nil, 200, &page)
			if round+n > 0 { // the first one connects
				took = append(took, time.Since(start))
			}
			if len(page.Sessions) != 100 || page.Next == nil || len(page.Missing) > 0 {
				t.Fatalf("page %d has %d sessions, next %v, and lacks %v", n, len(page.Sessions), page.Next, page.Missing)
			}
			for _, one := range page.Sessions {
				if number--; one.ID != manySession(number) {
					t.Fatalf("page %d has %s, want %s", n, one.ID, manySession(number))
				}
			}
			if most := int64(2*many + 10*100); sent.Load()-before > most {
				t.Errorf("for page %d, the nodes send %d sessions, more than %d", n, sent.Load()-before, most)
			}
			cursor = *page.Next
		}
	}
	slices.Sort(took)
	t.Logf("a page takes %v at the median, %v at most", took[len(took)/2], took[len(took)-1])
}

// TestPageOfManyNodes opens the page of sessions, which shows the newest of many nodes, and
// finds others by its filter. It must not cost the sessions of all.
func TestPageOfManyNodes(t *testing.T) {
	a, sent := startAmongMany(t)
	many := *manyNodes
	live, ended := many*eachHas+newest, eachEnded*(many+1)
	for _, c := range []struct {
		name, query string
		shows       func(number int) bool
		ended       int
	}{
		{"first", "", func(int) bool { return true }, endedShown}, // which connects
		{"all", "", func(int) bool { return true }, endedShown},
		{"those of a script", "?script=" + manyScript(3), func(n int) bool { return n%10 == 3 }, 0},
		{"the oldest one", "?q=" + manySession(0), func(n int) bool { return n == 0 }, 0},
		{"what ended", "?state=ended", func(int) bool { return false }, endedShown},
		{"what a query does not choose", "?after=1.2&live=7&ended=7&state=live", func(int) bool { return true }, 0},
	} {
		var want []string
		for n := live - 1; n >= 0 && len(want) < liveShown; n-- {
			if c.shows(n) {
				want = append(want, manySession(n))
			}
		}
		for n := range c.ended {
			want = append(want, endedSession(ended-1-n))
		}
		start, before := time.Now(), sent.Load()
		page := string(a.do(request{method: "GET", path: "/" + c.query, header: map[string]string{"Accept": "text/html"}}).body)
		t.Logf("%s: %v, %d sessions sent", c.name, time.Since(start), sent.Load()-before)
		if most := int64(3*many + 20*liveShown); sent.Load()-before > most {
			t.Errorf("%s: the nodes send %d sessions, more than %d", c.name, sent.Load()-before, most)
		}
		var got []string
		for _, row := range regexp.MustCompile(`<li class="row[^"]*" data-key="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			got = append(got, row[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the page shows %d sessions, want %d, or others", c.name, len(got), len(want))
		}
		for _, want := range []string{
			fmt.Sprintf(`data-live="%d"`, live), fmt.Sprintf(`data-total="%d"`, ended), fmt.Sprintf("%s (%d)<", manyScript(3), live/10),
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s", c.name, want)
			}
		}
	}
}
