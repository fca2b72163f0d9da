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
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"takeover/limits"
	"takeover/store"
)

// Limits.
const (
	MaxEndpoints = 20
	MaxPending   = 1_000   // waiting deliveries of one endpoint; more are refused
	MaxDead      = 1_000   // stored deliveries of all endpoints that failed for good; the oldest are dropped first
	MaxBody      = 256_000 // bytes of a request; a larger one is sent without data
	MaxError     = 500     // bytes that are kept of an endpoint's error response

	// StoreBytes bounds the deliveries in the store. Deliveries beyond that are
	// sent as well, but do not survive the process.
	StoreBytes = 256 << 20

	requestTimeout = 10 * time.Second
	storeTimeout   = 10 * time.Second
)

// Table is the name of the table for deliveries in the store.
const Table = "webhooks"

// Backoff lists the pauses after failed tries. After the last one, the delivery
// is dead. The values follow the specification's recommendation.
var Backoff = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// ErrNotFound is returned for an unknown delivery.
var ErrNotFound = errors.New("no such delivery")

// ErrFull is returned by a retry when the queue of its endpoint is full.
var ErrFull = errors.New("too many deliveries wait")

// Endpoint is an address that gets webhooks.
type Endpoint struct {
	ID    string // derived from the address, but does not reveal it
	URL   string
	Slack bool // bodies are {"text": …}, as Slack's incoming webhooks expect
}

// slackPrefix in front of an address requests bodies in Slack's form.
const slackPrefix = "slack+"

// ParseEndpoint parses an http or https address, with or without "slack+" in
// front.
func ParseEndpoint(s string) (Endpoint, error) {
	address, slack := strings.CutPrefix(s, slackPrefix)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// The error does not repeat the address, which may contain a secret.
		return Endpoint{}, errors.New("must be http://… or https://…, or that with slack+ before it")
	}
	sum := sha256.Sum256([]byte(s))
	return Endpoint{ID: hex.EncodeToString(sum[:6]), URL: address, Slack: slack}, nil
}

// Name returns the endpoint's address without the parts that may be secret.
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

// Event is what a webhook reports.
type Event struct {
	Type string // such as takeover.requested
	Time time.Time
	Data any    // encoded as JSON
	Text string // one line for a person
	Link string // a link for that person; may be empty
}

// State is the state of a delivery.
type State string

// The states of a delivery. Arrived deliveries are not kept.
const (
	Pending State = "pending"
	Dead    State = "dead" // every try failed
)

// Delivery is an event on its way to one endpoint.
type Delivery struct {
	ID        string    `json:"id" doc:"The delivery's id."`
	Message   string    `json:"messageId" doc:"The message's id, which its header webhook-id has."`
	Endpoint  string    `json:"endpointId" doc:"The address that it goes to."`
	Type      string    `json:"type" doc:"The kind of message, such as takeover.requested."`
	State     State     `json:"state" doc:"pending, or dead after the last try."`
	CreatedAt time.Time `json:"createdAt" doc:"When the message was made."`
	Attempts  int       `json:"attempts" doc:"Number of tries so far."`
	NextAt    time.Time `json:"nextAt" doc:"When it is tried again, or was tried last."`
	LastError string    `json:"lastError" doc:"Why the last try failed."`
}

// Status describes the state of an endpoint.
type Status struct {
	ID          string     `json:"id" doc:"The address's id."`
	Name        string     `json:"name" doc:"The address without its path."`
	Format      string     `json:"format" doc:"The form of the messages."`
	Pending     int        `json:"pending" doc:"Messages that are not delivered yet."`
	Dead        int        `json:"dead" doc:"Messages that are given up."`
	DeliveredAt *time.Time `json:"deliveredAt" doc:"The last success since the server started."`
	LastError   string     `json:"lastError" doc:"Why the newest try failed; empty if it did not."`
}

// Options configures a Sender.
type Options struct {
	Endpoints []Endpoint
	Secret    string          // see NewSecret
	Store     *store.Store    // required
	Server    string          // required: the name under which this server keeps its deliveries; several servers may share a store
	Backoff   []time.Duration // default Backoff
	UserAgent string
	Logger    *slog.Logger // default: discard
	Limits    *limits.Hits // counts what is refused, forgotten or cut; default: nothing

	// Dial connects to endpoints, and may refuse addresses. Default: a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
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
	limits    *limits.Hits
	queues    []*queue
	work      sync.WaitGroup
	wakeSaver chan struct{}      // one token
	stopping  chan struct{}      // closed by Close
	closing   sync.Once          // closes stopping
	cut       context.CancelFunc // cancels running requests

	mu      sync.Mutex
	unsaved []*record // accepted deliveries that are not stored yet, in order
	dead    []*record // oldest first
}

// NewSecret returns a new signing secret in the form that the specification's
// libraries accept.
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// New loads undelivered webhooks and starts delivering. It fails if the secret is
// invalid or the store fails.
func New(ctx context.Context, o Options) (*Sender, error) {
	if len(o.Endpoints) > MaxEndpoints {
		return nil, fmt.Errorf("webhooks: %d addresses, but at most %d are possible", len(o.Endpoints), MaxEndpoints)
	}
	signer, err := standardwebhooks.NewWebhook(o.Secret)
	if err != nil {
		return nil, errors.New("webhooks: the secret must be base64 after whsec_")
	}
	bucket, err := o.Store.Bucket(ctx, Table, store.BucketOptions{Bytes: StoreBytes})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	s := &Sender{
		wakeSaver: make(chan struct{}, 1), stopping: make(chan struct{}),
		bucket: bucket, server: o.Server, signer: signer, backoff: o.Backoff, userAgent: cmp.Or(o.UserAgent, "takeover"), log: o.Logger, limits: o.Limits,
		client: &http.Client{
			Timeout: requestTimeout, Transport: transport(o.Dial),
			// The operator did not configure the target of a redirect.
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

// transport returns the connections to endpoints.
func transport(dial func(ctx context.Context, network, address string) (net.Conn, error)) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok || dial == nil {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.DialContext = dial
	return t
}

// restore loads the deliveries of an earlier process and drops the deliveries for
// endpoints that are no longer configured.
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

// Send queues an event for every endpoint and returns at once. If an endpoint's
// queue is full, Send drops the event and logs an error. Do not call it after
// Close.
func (s *Sender) Send(e Event) {
	message := "msg_" + rand.Text()
	for _, q := range s.queues {
		r := &record{
			Delivery: Delivery{
				ID: message + "." + q.endpoint.ID, Message: message, Endpoint: q.endpoint.ID,
				Type: e.Type, State: Pending, CreatedAt: e.Time, NextAt: e.Time,
			},
			Body: s.body(e, q.endpoint.Slack),
		}
		if !s.accept(q, r) {
			s.log.Error("a webhook is lost: too many wait for the endpoint", "endpoint", q.endpoint.Name(), "type", e.Type)
		}
	}
}

// accept queues a delivery that is not in the store yet.
func (s *Sender) accept(q *queue, r *record) bool {
	if !q.add(r) {
		s.limits.Add(limits.WebhookQueue, 1)
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

// Statuses returns the state of each endpoint, in the configured order.
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

// Deliveries returns waiting and dead deliveries, oldest first.
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

// Retry sends a dead delivery again, with as many tries as a new one, and a
// waiting one at once. The error is ErrNotFound for a delivery that does not
// exist or is being sent, or ErrFull.
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

// Close stops delivering. Running requests may finish until ctx ends. All other
// deliveries stay in the store for the next start. Close may be called twice.
func (s *Sender) Close(ctx context.Context) {
	s.closing.Do(func() { close(s.stopping) })
	defer context.AfterFunc(ctx, s.cut)()
	s.work.Wait()
	s.cut()
}
