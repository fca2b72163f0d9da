package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"takeover/cluster"
	"takeover/store"
)

const (
	// manySessions and manyNodes are the size of the cluster that benchCluster simulates.
	manySessions = 100_000
	manyNodes    = 1_000
	// askers is how many look up sessions at the same time.
	askers = 16
)

// benchCluster measures what it costs that the node which was asked passes calls on to the
// one that has the session, and how long a large directory takes. The directory is measured
// inside, because nobody has a thousand nodes.
func benchCluster(ctx context.Context, e *env) ([]row, error) {
	ns, url, err := startNATS()
	if err != nil {
		return nil, err
	}
	defer ns.stop()
	rows, err := e.forwarding(ctx, url)
	if err != nil {
		return rows, err
	}
	more, err := e.directory(ctx, url)
	return append(rows, more...), err
}

// ownNATS is a NATS server in this process.
type ownNATS struct {
	*natsserver.Server
	dir string
}

func startNATS() (*ownNATS, string, error) {
	dir, err := os.MkdirTemp("", "takeover-bench-nats-")
	if err != nil {
		return nil, "", err
	}
	ns, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, JetStreamMaxStore: 16 << 30, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	ns.Start()
	own := &ownNATS{ns, dir}
	if !ns.ReadyForConnections(startTimeout) {
		own.stop()
		return nil, "", errors.New("NATS did not start")
	}
	return own, ns.ClientURL(), nil
}

func (n *ownNATS) stop() {
	n.Shutdown()
	n.WaitForShutdown()
	_ = os.RemoveAll(n.dir)
}

// forwarding compares a session's own node with the other one of two nodes.
func (e *env) forwarding(ctx context.Context, nats string) (rows []row, err error) {
	nodes := map[string]*server{}
	key := rand.Text()
	for _, name := range []string{"a", "b"} {
		addr, err := freeAddress(ctx)
		if err != nil {
			return nil, err
		}
		if nodes[name], err = startServerAt(ctx, e.binary, addr, key, "--node-url", "http://"+addr, "--node-name", name, "--nats-url", nats, "--events-bytes", "1000000000"); err != nil {
			return nil, err
		}
		defer nodes[name].close()
	}
	at := map[string][]string{} // sessions by their node
	own := ""
	for own == "" {
		var s struct{ ID, Node string }
		if err := nodes["a"].call(ctx, "POST", "/v1/sessions", map[string]any{"url": e.page, "timeout": 600_000}, &s); err != nil {
			return nil, err
		}
		if at[s.Node] = append(at[s.Node], s.ID); len(at[s.Node]) == 2 {
			own = s.Node
		}
	}
	sides, sessions := []*server{nodes["a"], nodes["b"]}, at[own]
	if own == "b" {
		sides[0], sides[1] = sides[1], sides[0]
	}
	clicks, err := e.clicksAt(ctx, sides, sessions)
	if err != nil {
		return nil, fmt.Errorf("click: %w", err)
	}
	evaluate, err := e.evaluations(ctx, sides, sessions[0]) // last, because it leaves the page
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return []row{
		added("evaluate over CDP, through another node: p50 later by", evaluate),
		added("click → changed picture, through another node: p50 later by", clicks),
	}, nil
}

// added is the row of what the second of two sides takes longer than the first, in ms.
func added(what string, sides [2][]float64) row {
	return row{
		what: what, ours: median(sides[1]) - median(sides[0]), unit: "ms", target: atMost(1),
		note: fmt.Sprintf("%s ms at the session's own node, %s ms through the other one", number(median(sides[0])), number(median(sides[1]))),
	}
}

// evaluations returns the times of evaluating in one session, by each of the sides.
func (e *env) evaluations(ctx context.Context, sides []*server, session string) (times [2][]float64, err error) {
	var clients [2]*playwright
	for i, side := range sides {
		if clients[i], err = startNode(ctx, cdpCode, map[string]any{"endpoint": fmt.Sprintf("%s/v1/sessions/%s?apiKey=%s", side.address, session, side.key), "code": operationsCode}); err != nil {
			return times, err
		}
		defer clients[i].close()
	}
	args := map[string]any{"op": "evaluate", "n": e.times(200), "url": e.page, "form": e.page + formPath}
	for range e.times(cdpRounds) {
		for i, client := range clients {
			took, err := client.run(args)
			if err != nil {
				return times, err
			}
			times[i] = append(times[i], took...)
		}
	}
	return times, nil
}

// clicksAt returns the times from clicks to changed pictures, each side in a session of its
// own.
func (e *env) clicksAt(ctx context.Context, sides []*server, sessions []string) (times [2][]float64, err error) {
	var clickers [2]*clicker
	for i, side := range sides {
		v, err := side.watch(ctx, sessions[i], viewOptions{})
		if err != nil {
			return times, err
		}
		defer v.close()
		clickers[i] = newClicker(v.press)
		v.onPicture(clickers[i].show)
		if err := v.mouse("move", "none", 0, 0); err != nil {
			return times, err
		}
	}
	if err := pause(ctx, startTime); err != nil {
		return times, err
	}
	const warmUp = 5
	for n := range e.times(150) + warmUp {
		for i, clicker := range clickers {
			if err := pause(ctx, between(60*time.Millisecond, 260*time.Millisecond)); err != nil {
				return times, err
			}
			d, err := clicker.click(ctx)
			if err != nil {
				return times, err
			}
			if n >= warmUp {
				times[i] = append(times[i], d.Seconds()*1000)
			}
		}
	}
	return times, nil
}

// directory measures a cluster of many nodes that say every 2 s that they are there, and of
// many sessions.
func (e *env) directory(ctx context.Context, nats string) (rows []row, err error) {
	kept, err := store.Open(ctx, store.Options{URL: nats})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	self := cluster.Node{ID: "self", Name: "self", URL: "http://127.0.0.1:1", Version: "bench"}
	c, err := cluster.Join(ctx, cluster.Options{Store: kept, Self: self, Load: func() cluster.Load { return cluster.Load{MaxSessions: 100} }})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	nodes, err := kept.Bucket(ctx, "nodes", store.BucketOptions{Bytes: 8 << 20, Age: 24 * time.Hour}) // as package cluster makes it
	if err != nil {
		return nil, err
	}
	beats, end := context.WithCancel(ctx)
	var beating sync.WaitGroup
	defer func() { end(); beating.Wait() }()
	beating.Go(func() { beatAll(beats, kept, nodes, e.times(manyNodes)) })
	sessions := e.times(manySessions)
	if err := concurrently(sessions, func(i int) error { _, err := c.Claim(ctx, sessionName(i)); return err }); err != nil {
		return nil, err
	}
	for len(c.Nodes()) <= e.times(manyNodes) {
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
	lookups, places := make([]time.Duration, e.times(20_000)), make([]time.Duration, e.times(20_000))
	if err := concurrently(len(lookups), func(i int) error {
		start := time.Now()
		_, err := c.Owner(ctx, sessionName(mathrand.IntN(sessions))) //nolint:gosec // no secret
		lookups[i] = time.Since(start)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range places {
		start := time.Now()
		c.Place()
		places[i] = time.Since(start)
	}
	size := fmt.Sprintf("%d sessions, %d nodes that beat every 2 s, %d lookups at a time", sessions, e.times(manyNodes), askers)
	return []row{
		{what: "directory: node of a session, p99", ours: percentile(lookups, 0.99), unit: "ms", target: atMost(20), note: size},
		{what: "directory: place of a new session, p99", ours: percentile(places, 0.99), unit: "ms", target: atMost(20)},
	}, nil
}

// beatAll lets nodes say that they are there, until ctx ends.
func beatAll(ctx context.Context, kept *store.Store, bucket *store.Bucket, n int) {
	tick := time.NewTicker(cluster.DefaultBeat)
	defer tick.Stop()
	for {
		for i := range n {
			name := "node-" + strconv.Itoa(i)
			load := cluster.Load{Sessions: mathrand.IntN(100), MaxSessions: 100}                                                //nolint:gosec // no secret
			raw, _ := json.Marshal(cluster.Node{ID: name, Name: name, URL: "http://127.0.0.1:1", Version: "bench", Load: load}) // it is plain
			if errors.Join(kept.Announce("beats", raw), bucket.Set(ctx, name, raw)) != nil && ctx.Err() != nil {                // as package cluster does
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func sessionName(i int) string { return fmt.Sprintf("%08d-bench", i) }

// concurrently calls work for each of n numbers, on several goroutines, and returns the first
// error.
func concurrently(n int, work func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, askers)
	var all sync.WaitGroup
	for a := range askers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[a] == nil; i = int(next.Add(1)) - 1 {
				errs[a] = work(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// freeAddress returns an address of loopback on which nobody listens.
func freeAddress(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}
