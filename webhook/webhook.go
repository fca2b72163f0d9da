package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"takeover/store"
)

// Limits.
const (
	MaxEndpoints = 20
	MaxPending   = 1_000   // deliveries that wait, of one endpoint; further ones are refused
	MaxDead      = 1_000   // deliveries kept that failed for good, of all endpoints; the oldest go first
	MaxBody      = 256_000 // bytes of a request; data is left out of a larger one
	MaxError     = 500     // bytes kept of what an endpoint answered

	// StoreBytes is the room that deliveries have in the store. What finds none is
	// sent as well, but does not outlive the process.
	StoreBytes = 256 << 20

	requestTimeout = 10 * time.Second
	storeTimeout   = 10 * time.Second
)

// bucketName is where deliveries are kept.
const bucketName = "webhooks"

// Backoff is how long after each failed try the next one comes. After the last
// a delivery is dead. It is about what the specification recommends.
var Backoff = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// ErrNotFound is the error of a delivery that there is not.
var ErrNotFound = errors.New("no such delivery")

// ErrFull is the error of a retry for which an endpoint has no room.
var ErrFull = errors.New("too many deliveries wait")

// Endpoint is an address that is told.
type Endpoint struct {
	ID    string // from its address; it says nothing of it
	URL   string
	Slack bool // bodies are {"text": …}, as Slack's incoming webhooks take them
}

// slackPrefix before an address asks for Slack's bodies.
const slackPrefix = "slack+"

// ParseEndpoint reads an http or https address, or one with "slack+" before it.
func ParseEndpoint(s string) (Endpoint, error) {
	address, slack := strings.CutPrefix(s, slackPrefix)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// The address may hold a secret: it is not repeated.
		return Endpoint{}, errors.New("must be http://… or https://…, or that with slack+ before it")
	}
	sum := sha256.Sum256([]byte(s))
	return Endpoint{ID: hex.EncodeToString(sum[:6]), URL: address, Slack: slack}, nil
}

// Name is the endpoint's address without what may be secret in it.
func (e Endpoint) Name() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	name := u.Scheme + "://" + u.Host
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		name += "/…"
	}
	return name
}

// Event is what is told.
type Event struct {
	Type string // such as takeover.requested
	Time time.Time
	Data any    // becomes JSON
	Text string // the same for a person to read, in a line
	Link string // where the person goes; may be empty
}

// State is where a delivery stands.
type State string

// The states of a delivery. One that arrived is forgotten.
const (
	Pending State = "pending"
	Dead    State = "dead" // every try failed
)

// Delivery is an event on its way to one endpoint.
type Delivery struct {
	ID        string    `json:"id"` // of the delivery
	Message   string    `json:"messageId"`
	Endpoint  string    `json:"endpointId"`
	Type      string    `json:"type"`
	State     State     `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
	Attempts  int       `json:"attempts"`  // so far
	NextAt    time.Time `json:"nextAt"`    // of the next try; of the last one when dead
	LastError string    `json:"lastError"` // of the last try
}

// Status is how an endpoint does.
type Status struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"` // the address without its path
	Format      string     `json:"format"`
	Pending     int        `json:"pending"`
	Dead        int        `json:"dead"`
	DeliveredAt *time.Time `json:"deliveredAt"` // since the server started
	LastError   string     `json:"lastError"`   // of the newest try, empty when it arrived
}

// Options configures a Sender.
type Options struct {
	Endpoints []Endpoint
	Secret    string          // see NewSecret
	Store     *store.Store    // required
	Server    string          // required: what this server keeps its deliveries under; several may share a store
	Backoff   []time.Duration // default Backoff
	UserAgent string
	Logger    *slog.Logger // default: discard
}

// Sender delivers events to endpoints. Its methods may be called from any
// goroutine. End it with Close.
type Sender struct {
	bucket    *store.Bucket
	server    string
	signer    *standardwebhooks.Webhook
	client    *http.Client
	backoff   []time.Duration
	userAgent string
	log       *slog.Logger
	queues    []*queue
	work      sync.WaitGroup
	wakeSaver chan struct{}      // one slot
	stopping  chan struct{}      // closed by Close
	closing   sync.Once          // closes stopping
	cut       context.CancelFunc // ends the requests that are being made

	mu      sync.Mutex
	unsaved []*record // taken, not yet in the store, in their order
	dead    []*record // oldest first
}

// NewSecret makes a secret for signing, in the form that the specification's
// libraries take.
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// New opens what was left undelivered and goes on with it. The error is of the
// secret or the store.
func New(ctx context.Context, o Options) (*Sender, error) {
	if len(o.Endpoints) > MaxEndpoints {
		return nil, fmt.Errorf("webhooks: %d addresses, the most are %d", len(o.Endpoints), MaxEndpoints)
	}
	signer, err := standardwebhooks.NewWebhook(o.Secret)
	if err != nil {
		return nil, errors.New("webhooks: the secret must be base64 after whsec_")
	}
	bucket, err := o.Store.Bucket(ctx, bucketName, store.BucketOptions{Bytes: StoreBytes})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	s := &Sender{
		wakeSaver: make(chan struct{}, 1), stopping: make(chan struct{}),
		bucket: bucket, server: o.Server, signer: signer, backoff: o.Backoff, userAgent: cmp.Or(o.UserAgent, "takeover"), log: o.Logger,
		client: &http.Client{
			Timeout: requestTimeout,
			// Where it leads was not configured by anybody.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if s.backoff == nil {
		s.backoff = Backoff
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, e := range o.Endpoints {
		s.queues = append(s.queues, newQueue(e))
	}
	if err := s.restore(ctx); err != nil {
		return nil, err
	}
	run, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.cut = cut
	for _, q := range s.queues {
		s.work.Go(func() { s.deliver(run, q) })
	}
	s.work.Go(s.save)
	return s, nil
}

// restore reads what an earlier process left. What was for an endpoint that is no
// longer configured is forgotten.
func (s *Sender) restore(ctx context.Context) error {
	entries, err := s.bucket.Match(ctx, s.server+".>")
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	slices.SortFunc(entries, func(a, b store.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, e := range entries {
		r, err := parseRecord(e)
		q := s.queue(r.Endpoint)
		switch {
		case err != nil || q == nil:
			s.log.Warn("a webhook delivery is forgotten: nobody is to get it", "delivery", e.Key, "error", err)
			if err := s.bucket.Delete(ctx, e.Key); err != nil {
				return fmt.Errorf("webhooks: %w", err)
			}
		case r.State == Dead:
			s.dead = append(s.dead, r)
		default:
			q.add(r)
		}
	}
	return nil
}

func (s *Sender) queue(endpoint string) *queue {
	for _, q := range s.queues {
		if q.endpoint.ID == endpoint {
			return q
		}
	}
	return nil
}

// Send hands an event over for every endpoint and does not wait; not after Close. It is logged
// when an endpoint's queue is full and does not get it.
func (s *Sender) Send(e Event) {
	message := "msg_" + rand.Text()
	for _, q := range s.queues {
		r := &record{
			Delivery: Delivery{
				ID: message + "." + q.endpoint.ID, Message: message, Endpoint: q.endpoint.ID,
				Type: e.Type, State: Pending, CreatedAt: e.Time, NextAt: e.Time,
			},
			Body: body(e, q.endpoint.Slack),
		}
		if !s.accept(q, r) {
			s.log.Error("a webhook is lost: too many wait for the endpoint", "endpoint", q.endpoint.Name(), "type", e.Type)
		}
	}
}

// accept takes a delivery that the store does not have yet as it is.
func (s *Sender) accept(q *queue, r *record) bool {
	if !q.add(r) {
		return false
	}
	s.mu.Lock()
	s.unsaved = append(s.unsaved, r)
	s.mu.Unlock()
	select {
	case s.wakeSaver <- struct{}{}:
	default:
	}
	return true
}

// Statuses are how the endpoints do, in the order of their configuration.
func (s *Sender) Statuses() []Status {
	s.mu.Lock()
	dead := map[string]int{}
	for _, r := range s.dead {
		dead[r.Endpoint]++
	}
	s.mu.Unlock()
	list := make([]Status, 0, len(s.queues))
	for _, q := range s.queues {
		st := q.status()
		st.Dead = dead[st.ID]
		list = append(list, st)
	}
	return list
}

// Deliveries are those that wait or failed for good, oldest first.
func (s *Sender) Deliveries() []Delivery {
	list := []Delivery{}
	s.mu.Lock()
	for _, r := range s.dead {
		list = append(list, r.Delivery)
	}
	s.mu.Unlock()
	for _, q := range s.queues {
		list = append(list, q.deliveries()...)
	}
	slices.SortStableFunc(list, func(a, b Delivery) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// Retry sends a dead delivery again, with all its tries, and a waiting one at
// once. The error is ErrNotFound for one that is not there or is on its way now.
func (s *Sender) Retry(id string) (Delivery, error) {
	s.mu.Lock()
	var r *record
	if i := slices.IndexFunc(s.dead, func(r *record) bool { return r.ID == id }); i >= 0 {
		r = s.dead[i]
		s.dead = slices.Delete(s.dead, i, i+1)
	}
	s.mu.Unlock()
	if r != nil {
		q := s.queue(r.Endpoint)
		again := &record{Delivery: r.Delivery, Body: r.Body, revision: r.revision}
		again.State, again.Attempts, again.NextAt = Pending, 0, time.Now().UTC()
		if !s.accept(q, again) {
			s.mu.Lock()
			s.dead = append(s.dead, r)
			s.mu.Unlock()
			return Delivery{}, fmt.Errorf("%w for %s", ErrFull, q.endpoint.Name())
		}
		return again.Delivery, nil
	}
	for _, q := range s.queues {
		if d, ok := q.hurry(id); ok {
			return d, nil
		}
	}
	return Delivery{}, ErrNotFound
}

// Close ends the deliveries: what is being sent has until ctx ends to arrive. What
// has not is delivered after the next start. It may be called twice.
func (s *Sender) Close(ctx context.Context) {
	s.closing.Do(func() { close(s.stopping) })
	defer context.AfterFunc(ctx, s.cut)()
	s.work.Wait()
	s.cut()
}
