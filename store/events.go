package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Default limits of the stream of events.
const (
	DefaultEventsBytes = 2 << 30
	DefaultEventsAge   = 7 * 24 * time.Hour
)

const (
	eventsStream = "EVENTS"
	eventsPrefix = "ev."

	// readBatch is the number of events that a reader requests at a time.
	readBatch = 256

	// duplicatesFor is how long NATS remembers the ids of events, in memory. It
	// is short because a page that logs without end makes tens of thousands of
	// events a second. It only has to cover events that were on their way when
	// Last was called: after an error, callers call Last before they add events
	// again.
	duplicatesFor = time.Second
)

// EventsOptions limits the stored events. The oldest are removed first. The zero
// value of each field is its default.
type EventsOptions struct {
	Bytes int64         // default DefaultEventsBytes
	Age   time.Duration // default DefaultEventsAge
}

// Record is one event of a session, in the form that the stream keeps.
type Record struct {
	Seq      uint64 // rising within a session
	TS       int64  // Unix milliseconds; not read back
	Capture  string // the capture that it belongs to; together with Seq it identifies the event
	Category string
	JSON     []byte // the event; must not be changed
}

// id identifies the event for NATS, which drops a second event with the same id.
// If an event has no capture, its session's id is used.
func (r Record) id(session string) string {
	return cmp.Or(r.Capture, session) + ":" + strconv.FormatUint(r.Seq, 10)
}

// Events is the durable stream of the events of all sessions. Its methods may be
// called from any goroutine.
type Events struct {
	store  *Store
	js     jetstream.JetStream // of the ordered connection
	stream jetstream.Stream
}

// Events opens the stream, and creates it if it does not exist. Its files are not
// compressed, because NATS writes a plain block and, when the block is full,
// reads all of it again to compress it. In a flood of events, that would take a
// sixth of the time, and memory.
func (s *Store) Events(ctx context.Context, o EventsOptions) (*Events, error) {
	bytes := cmp.Or(o.Bytes, DefaultEventsBytes)
	var stream jetstream.Stream
	err := s.keptBy(func(copies int) (err error) {
		stream, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: eventsStream, Subjects: []string{eventsPrefix + ">"},
			Storage: jetstream.FileStorage, Compression: jetstream.NoCompression,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
			MaxBytes: bytes, MaxAge: cmp.Or(o.Age, DefaultEventsAge),
			Duplicates:  min(duplicatesFor, cmp.Or(o.Age, DefaultEventsAge)),
			AllowDirect: true, Replicas: copies,
		})
		return err
	})
	if err != nil {
		return nil, openError("stream of events", bytes, err)
	}
	ordered, err := jetstream.New(s.ordered)
	if err != nil {
		return nil, fmt.Errorf("open stream of events: %w", err)
	}
	return &Events{s, ordered, stream}, nil
}

// subject returns the NATS subject of a session's events of one category, or of
// all categories for "*".
func subject(session, category string) string { return eventsPrefix + session + "." + category }

// Append adds events of one session, in order. It returns the number of stored
// events when all are stored or one has failed. After an error, more of them may
// have been stored; Last returns the newest. When the connection breaks, the
// error is ErrAway at once. Session and categories consist of letters, digits,
// "-" and "_".
func (e *Events) Append(ctx context.Context, session string, records []Record) (kept int, err error) {
	away, changed := e.store.Away()
	if away {
		return 0, fmt.Errorf("keep events: %w", ErrAway)
	}
	if err := e.store.room(); err != nil {
		return 0, fmt.Errorf("keep events: %w", err)
	}
	acks := make([]jetstream.PubAckFuture, 0, len(records))
	for _, r := range records {
		ack, err := e.js.PublishMsgAsync(&nats.Msg{
			Subject: subject(session, r.Category), Data: r.JSON, Header: nats.Header{jetstream.MsgIDHeader: []string{r.id(session)}},
		})
		if err != nil {
			return 0, fmt.Errorf("keep events: %w", err)
		}
		acks = append(acks, ack)
	}
	for i, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return i, fmt.Errorf("keep events: %w", err)
		case <-changed:
			return i, fmt.Errorf("keep events: %w", ErrAway)
		case <-ctx.Done():
			return i, fmt.Errorf("keep events: %w", context.Cause(ctx))
		}
	}
	return len(records), nil
}

// Away does the same as Store.Away.
func (e *Events) Away() (bool, <-chan struct{}) { return e.store.Away() }

// Last returns the number of a session's newest stored event, or 0.
func (e *Events) Last(ctx context.Context, session string) (uint64, error) {
	m, err := e.stream.GetLastMsgForSubject(ctx, subject(session, "*"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find newest event: %w", err)
	}
	return seqOf(m.Header)
}

// Read calls visit with the session's events after number since, in order, until
// visit returns false or no event is left.
func (e *Events) Read(ctx context.Context, session string, since uint64, visit func(Record) bool) error {
	start, err := e.find(ctx, session, since)
	if err != nil || start == 0 {
		return err
	}
	consumer, err := e.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject(session, "*")}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: start,
	})
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for ctx.Err() == nil {
		batch, err := consumer.FetchNoWait(readBatch)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		got, enough := 0, false
		for m := range batch.Messages() { // to the end, because the fetching goroutine waits for that
			if got++; enough {
				continue
			}
			seq, err := seqOf(m.Headers())
			if err != nil {
				return err
			}
			if seq <= since { // stored twice, because an acknowledgement was lost
				continue
			}
			since = seq
			capture, _, _ := strings.Cut(m.Headers().Get(jetstream.MsgIDHeader), ":")
			category := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
			enough = !visit(Record{Seq: seq, Capture: capture, Category: category, JSON: m.Data()})
		}
		if enough {
			return nil
		}
		if err := batch.Error(); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if got == 0 {
			return nil
		}
	}
	return context.Cause(ctx)
}

// find returns the position in the stream of the session's first event after
// number since, or 0. It uses binary search, because numbers rise with positions.
func (e *Events) find(ctx context.Context, session string, since uint64) (uint64, error) {
	info, err := e.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("find event: %w", err)
	}
	first, last := info.State.FirstSeq, info.State.LastSeq
	if last < first {
		return 0, nil
	}
	var failed error
	n := sort.Search(int(last-first+1), func(i int) bool {
		if failed != nil {
			return true
		}
		m, err := e.stream.GetMsg(ctx, first+uint64(i), jetstream.WithGetMsgSubject(subject(session, "*")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return true // no such event from here on
		}
		var seq uint64
		if err == nil {
			seq, err = seqOf(m.Header)
		}
		failed = err
		return seq > since
	})
	if failed != nil {
		return 0, fmt.Errorf("find event: %w", failed)
	}
	if n == int(last-first+1) {
		return 0, nil
	}
	return first + uint64(n), nil
}

// seqOf parses an event's number from its id.
func seqOf(h nats.Header) (uint64, error) {
	id := h.Get(jetstream.MsgIDHeader)
	seq, err := strconv.ParseUint(id[strings.LastIndexByte(id, ':')+1:], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("stream of events: %q is not an event id", id)
	}
	return seq, nil
}

// Forget removes all events of a session.
func (e *Events) Forget(ctx context.Context, session string) error {
	if err := e.stream.Purge(ctx, jetstream.WithPurgeSubject(subject(session, "*"))); err != nil {
		return fmt.Errorf("remove events: %w", err)
	}
	return nil
}
