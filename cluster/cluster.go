// Package cluster joins servers that share one NATS: it knows which other nodes there are,
// and which node has which session.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"takeover/store"
)

const (
	// DefaultBeat is how often a node says that it is there.
	DefaultBeat = 2 * time.Second
	// lostBeats is for how many beats a node may be silent before it counts as lost. Each
	// node measures that by its own clock.
	lostBeats = 4
	// deafBeats is for how many beats nobody counts as lost after this node could hear
	// nobody.
	deafBeats = 2
	// looks is how often in a beat a node looks who is lost.
	looks = 8
	// remembered is how long the directory keeps an entry that nobody removes: longer than
	// a session lives and is kept.
	remembered = 60 * 24 * time.Hour
	// kept is how long a node that is lost is listed, and the store keeps its last word.
	kept = 24 * time.Hour
	// timeout bounds one call of the store.
	timeout = 5 * time.Second

	// beatTopic is where nodes announce that they are there. The bucket of nodes is for those
	// that start later: while a NATS cluster chooses a leader, nobody can write there.
	beatTopic = "beats"

	nodesBucket     = "nodes"
	directoryBucket = "directory"
	clusterBucket   = "cluster"
	nodesBytes      = 8 << 20
	directoryBytes  = 256 << 20
	clusterBytes    = 1 << 20

	maxName = 100 // bytes of a node's name
)

// Errors of a Cluster.
var (
	// ErrNode is returned by Join for a node that is described badly.
	ErrNode = errors.New("the node cannot join")
	// ErrUnknown is returned for a session that no node has.
	ErrUnknown = errors.New("no node has this session")
	// ErrLost is returned for a node that is silent. A *LostError wraps it.
	ErrLost = errors.New("the node does not answer")
)

// LostError names the node that is silent. It wraps ErrLost.
type LostError struct{ ID, Node string } // its id, and its name if that is known

// Error returns which node is silent.
func (e *LostError) Error() string { return fmt.Sprintf("%s: %s", ErrLost, e.Node) }

// Is reports whether target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// Node is a server of the cluster, as it described itself last.
type Node struct {
	ID       string `json:"id" doc:"The node's id, which stays the same when it starts again."`
	Name     string `json:"name" doc:"The node's name."`
	URL      string `json:"url" doc:"Where other nodes reach it."`
	Version  string `json:"version" doc:"The version of its program."`
	Load     Load   `json:"load" doc:"How much it does."`
	Draining bool   `json:"draining,omitempty" doc:"It takes no new sessions, and will end."`
}

// Load is how much a node does.
type Load struct {
	Sessions    int `json:"sessions" doc:"Live sessions."`
	MaxSessions int `json:"maxSessions" doc:"How many may be live."`
	Waiting     int `json:"waiting" doc:"Requests for a session that wait for a place."`

	Changes uint64 `json:"changes,omitempty" doc:"Grows when something changes in a session, so that the other nodes know when to look again."`
}

// Options configures a Cluster. Fields without a default are required.
type Options struct {
	Store *store.Store  // an external NATS, which the other nodes use, too
	Self  Node          // without Load
	Load  func() Load   // called with each beat
	Beat  time.Duration // default DefaultBeat
	// Keys returns how many sessions each API key has here and waits for, by the key's id. It
	// is called several times with each beat. Default: none.
	Keys    func() map[string]int
	Logger  *slog.Logger // default: discard
	Changed func()       // called when a node comes, goes or changes; must not block; default: nothing
}

// Cluster is one node's knowledge of the cluster. Its methods may be called from any
// goroutine. End it with Close.
type Cluster struct {
	o         Options
	nodes     *store.Bucket
	directory *store.Bucket
	shared    *store.Bucket
	secret    []byte          // known to all nodes
	life      context.Context // ends with Close
	stop      context.CancelFunc
	work      sync.WaitGroup

	mu       sync.Mutex // guards what follows
	self     Node
	others   map[string]*member
	deaf     time.Time // when this node could hear nobody the last time
	looked   time.Time // when it looked the last time who is lost
	draining bool
}

// member is another node.
type member struct {
	Node
	heard  time.Time      // by this node's clock
	keys   map[string]int // its sessions by API key
	beats  bool           // it announces its beats, so that its entry in the bucket may be old
	gone   chan struct{}  // closed when it is lost or has left
	left   bool           // gone is closed
	lost   bool           // it has been silent for too long
	placed int            // sessions that it got since
}

// Join makes the server a node of the cluster, and returns when it knows the others.
func Join(ctx context.Context, o Options) (*Cluster, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Keys == nil {
		o.Keys = func() map[string]int { return nil }
	}
	o.Beat = cmp.Or(o.Beat, DefaultBeat)
	if err := o.Self.check(); err != nil {
		return nil, err
	}
	c := &Cluster{o: o, self: o.Self, others: map[string]*member{}}
	ctx, cancel := context.WithTimeout(ctx, store.OpenTimeout)
	defer cancel()
	var err error
	if c.nodes, err = o.Store.Bucket(ctx, nodesBucket, store.BucketOptions{Bytes: nodesBytes, Age: kept}); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if c.directory, err = o.Store.Bucket(ctx, directoryBucket, store.BucketOptions{Bytes: directoryBytes, Age: remembered}); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if c.shared, err = o.Store.Bucket(ctx, sharedBucket, store.BucketOptions{Bytes: sharedBytes, Age: sharedAge}); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if c.secret, err = sharedSecret(ctx, o.Store); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if err := c.tell(ctx); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	c.life, c.stop = context.WithCancel(context.Background())
	current := make(chan struct{})
	c.work.Go(func() { c.follow(c.life, c.nodes, ">", c.hear, sync.OnceFunc(func() { close(current) })) })
	c.work.Go(func() { c.listen(c.life) })
	c.work.Go(func() { c.beat(c.life) })
	c.work.Go(func() { c.watch(c.life) })
	select {
	case <-current:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("join the cluster: %w", context.Cause(ctx))
	}
}

// check checks what an operator gave a node.
func (n Node) check() error {
	u, err := url.Parse(n.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("%w: its address must look like http://host:port, not %.100q", ErrNode, n.URL)
	}
	if n.Name == "" || len(n.Name) > maxName {
		return fmt.Errorf("%w: its name must have 1 to %d bytes", ErrNode, maxName)
	}
	return nil
}

// beat writes down that this node is there, until ctx ends.
func (c *Cluster) beat(ctx context.Context) {
	tick := time.NewTicker(c.o.Beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := c.write(ctx); err != nil && ctx.Err() == nil {
			c.o.Logger.Warn("tell the cluster of this node", "error", err)
		}
	}
}

// watch announces this node's beats, and between them that its keys have other sessions, and
// notices nodes that have fallen silent, until ctx ends. It waits for nobody.
func (c *Cluster) watch(ctx context.Context) {
	tick := time.NewTicker(c.o.Beat / looks)
	defer tick.Stop()
	var told map[string]int
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c.watchLost()
		if keys := c.o.Keys(); n%looks == 0 || !maps.Equal(keys, told) {
			_ = c.announce() // beat tells of errors
			told = keys
		}
	}
}

// announce tells this node's state to the nodes that listen.
func (c *Cluster) announce() error {
	state, err := json.Marshal(announced{c.Self(), c.o.Keys()})
	if err != nil {
		return err
	}
	return c.o.Store.Announce(beatTopic, state)
}

// write writes this node's state down.
func (c *Cluster) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	state, err := json.Marshal(c.Self())
	if err != nil {
		return err
	}
	return c.nodes.Set(ctx, c.o.Self.ID, state)
}

// tell does both.
func (c *Cluster) tell(ctx context.Context) error { return errors.Join(c.announce(), c.write(ctx)) }

// listen hears the beats of the others until ctx ends.
func (c *Cluster) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.o.Store.Listen(ctx, beatTopic, c.hearBeat)
		if ctx.Err() != nil {
			return
		}
		c.o.Logger.Warn("hear the beats of the other nodes", "error", err)
		select {
		case <-time.After(c.o.Beat):
		case <-ctx.Done():
		}
	}
}

// hearBeat takes in the beat of a node that the bucket has told of.
func (c *Cluster) hearBeat(state []byte) {
	var said announced
	if json.Unmarshal(state, &said) != nil || said.ID == c.o.Self.ID || said.check() != nil {
		return
	}
	n := said.Node
	c.mu.Lock()
	old := c.others[n.ID]
	if old == nil { // it comes, or has left
		c.mu.Unlock()
		return
	}
	next := old.next(n, true)
	next.keys = said.Keys
	c.others[n.ID] = next
	c.mu.Unlock()
	c.changed(old, n)
}

// next returns the member with what it said now.
func (m *member) next(n Node, beats bool) *member {
	next := &member{Node: n, heard: time.Now(), beats: beats, gone: m.gone}
	if m.left {
		next.gone = make(chan struct{})
	}
	return next
}

// changed tells of what a node that was known says.
func (c *Cluster) changed(old *member, n Node) {
	switch {
	case old.lost:
		c.o.Logger.Info("a node is back", "node", n.Name)
	case old.Node == n:
		return
	}
	c.o.Changed()
}

// follow watches a bucket until ctx ends, and begins again when the watch fails.
func (c *Cluster) follow(ctx context.Context, bucket *store.Bucket, pattern string, changed func(store.Entry), current func()) {
	for ctx.Err() == nil {
		err := bucket.Watch(ctx, pattern, changed, current)
		if ctx.Err() != nil {
			return
		}
		c.o.Logger.Warn("hear of the other nodes of the cluster", "error", err)
		select {
		case <-time.After(c.o.Beat):
		case <-ctx.Done():
		}
	}
}

// hear takes in what a node wrote down.
func (c *Cluster) hear(e store.Entry) {
	if e.Key == c.o.Self.ID {
		return
	}
	var n Node
	if len(e.Value) > 0 && (json.Unmarshal(e.Value, &n) != nil || n.ID != e.Key || n.check() != nil) {
		c.o.Logger.Warn("a node describes itself in a form that this version does not know", "node", e.Key)
		return
	}
	c.mu.Lock()
	old := c.others[e.Key]
	told := old != nil && (!old.beats || old.Version != n.Version)
	switch {
	case len(e.Value) == 0:
		delete(c.others, e.Key)
		old.leave()
	case old == nil:
		c.others[e.Key] = &member{Node: n, heard: time.Now(), gone: make(chan struct{})}
	case told: // by a node of a version that only writes
		c.others[e.Key] = old.next(n, false)
	}
	c.mu.Unlock()
	switch {
	case len(e.Value) == 0 && old == nil:
	case len(e.Value) == 0:
		c.o.Logger.Info("a node has left the cluster", "node", old.Name)
		c.o.Changed()
	case old == nil:
		c.o.Logger.Info("a node has joined the cluster", "node", n.Name, "url", n.URL)
		c.o.Changed()
	case told:
		c.changed(old, n)
	}
}

// watchLost notices nodes that have fallen silent, and at last forgets them.
func (c *Cluster) watchLost() {
	away, _ := c.o.Store.Away()
	now, changed := time.Now(), false
	c.mu.Lock()
	if away || now.Sub(c.looked) > c.o.Beat { // NATS is away, or this process stood still
		c.deaf = now
	}
	c.looked = now
	for id, m := range c.others {
		if lost := now.Sub(m.heard) > lostBeats*c.o.Beat && now.Sub(c.deaf) > deafBeats*c.o.Beat; lost != m.lost {
			m.lost, changed = lost, true
			if lost {
				m.leave()
				c.o.Logger.Warn("a node is silent", "node", m.Name, "since", m.heard)
			}
		}
		if m.lost && now.Sub(m.heard) > kept {
			delete(c.others, id)
			changed = true
		}
	}
	c.mu.Unlock()
	if changed {
		c.o.Changed()
	}
}

// leave ends what waits for a node, which may be nil.
func (m *member) leave() {
	if m != nil && !m.left {
		m.left = true
		close(m.gone)
	}
}

// Gone returns a channel that is closed when another node is lost or leaves.
func (c *Cluster) Gone(id string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.others[id]; m != nil && !m.left {
		return m.gone
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Name returns this node's name.
func (c *Cluster) Name() string { return c.o.Self.Name }

// Self returns this node, as it is now.
func (c *Cluster) Self() Node {
	load := c.o.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.self
	n.Load, n.Draining = load, c.draining
	return n
}

// Drain tells the others that this node takes no new sessions.
func (c *Cluster) Drain(ctx context.Context) error {
	c.mu.Lock()
	c.draining = true
	c.mu.Unlock()
	return c.tell(ctx)
}

// NodeInfo is a node as another one sees it.
type NodeInfo struct {
	Node
	Self   bool      `json:"self,omitempty" doc:"The node that answers."`
	Lost   bool      `json:"lost,omitempty" doc:"It is silent."`
	SeenAt time.Time `json:"seenAt" doc:"When it last said that it is there, by the clock of the node that answers."`
}

// Nodes returns all nodes, this one too, by their names.
func (c *Cluster) Nodes() []NodeInfo {
	list := []NodeInfo{{Node: c.Self(), Self: true, SeenAt: time.Now().UTC()}}
	c.mu.Lock()
	for m := range maps.Values(c.others) {
		list = append(list, NodeInfo{Node: m.Node, Lost: m.lost, SeenAt: m.heard.UTC()})
	}
	c.mu.Unlock()
	slices.SortFunc(list, func(a, b NodeInfo) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Node returns the node of an id, or a *LostError.
func (c *Cluster) Node(id string) (Node, error) {
	if id == c.o.Self.ID {
		return c.Self(), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.others[id]
	switch {
	case m == nil:
		return Node{}, &LostError{id, id}
	case m.lost:
		return Node{}, &LostError{id, m.Name}
	}
	return m.Node, nil
}

// Close leaves the cluster. The others learn of it, if the store can be reached.
func (c *Cluster) Close() {
	c.stop()
	c.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if away, _ := c.o.Store.Away(); away {
		return
	}
	if err := c.nodes.Delete(ctx, c.o.Self.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		c.o.Logger.Warn("leave the cluster", "error", err)
	}
}
