package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"takeover/limits"
	"takeover/text"
)

// save writes accepted deliveries to the store in order, until Close was called
// and all are written.
func (s *Sender) save() {
	for {
		s.saveTaken()
		select {
		case <-s.wakeSaver:
		case <-s.stopping:
			s.saveTaken()
			return
		}
	}
}

func (s *Sender) saveTaken() {
	s.mu.Lock()
	list := s.unsaved
	s.unsaved = nil
	s.mu.Unlock()
	for _, r := range list {
		q := s.queue(r.Endpoint)
		q.stored(r, s.put(q.read(r)))
	}
}

// put writes a delivery and returns its revision. If the store is away, it keeps
// the old revision, and the delivery is sent anyway.
func (s *Sender) put(r record) uint64 {
	value, err := json.Marshal(r)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		var revision uint64
		if revision, err = s.bucket.Put(ctx, s.key(&r), value, r.revision); err == nil {
			return revision
		}
	}
	s.log.Error("a webhook delivery could not be kept", "delivery", r.ID, "error", err)
	return r.revision
}

// key returns the key of a delivery in the store.
func (s *Sender) key(r *record) string { return s.server + "." + r.ID }

func (s *Sender) remove(r *record) {
	if r.revision == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := s.bucket.Delete(ctx, s.key(r)); err != nil {
		s.log.Error("a webhook delivery could not be removed", "delivery", r.ID, "error", err)
	}
}

// deliver sends the due deliveries of one endpoint, one request at a time, until
// Close. When ctx ends, the running request ends.
func (s *Sender) deliver(ctx context.Context, q *queue) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !s.closed() {
		r, wait := q.next(time.Now())
		if r == nil {
			if wait >= 0 {
				timer.Reset(wait)
			} else {
				timer.Stop()
			}
			select {
			case <-q.wake:
			case <-timer.C:
			case <-s.stopping:
			}
			continue
		}
		err := s.post(ctx, q.endpoint, r)
		now := time.Now().UTC()
		switch {
		case err == nil:
			q.arrived(r, now)
			s.remove(r)
		case ctx.Err() != nil:
			q.givenUp()
		default:
			s.failed(q, r, now, err)
		}
	}
}

func (s *Sender) closed() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// failed stores the result of a failed try, and then logs it.
func (s *Sender) failed(q *queue, r *record, at time.Time, err error) {
	why := text.Clip(err.Error(), MaxError)
	now := q.failed(r, at, why, s.backoff)
	now.revision = s.put(now)
	if now.State == Dead {
		s.bury(&now)
	} else {
		q.stored(r, now.revision)
	}
	s.log.Warn("a webhook did not arrive", "endpoint", q.endpoint.Name(), "type", now.Type, "attempts", now.Attempts, "state", now.State, "error", why)
}

// bury keeps a dead delivery.
func (s *Sender) bury(r *record) {
	s.mu.Lock()
	s.dead = append(s.dead, r)
	var oldest *record
	if len(s.dead) > MaxDead {
		oldest, s.dead = s.dead[0], s.dead[1:]
	}
	s.mu.Unlock()
	if oldest != nil {
		s.limits.Add(limits.WebhookDead, 1)
		s.log.Error("a dead webhook delivery is forgotten: too many are kept", "delivery", oldest.ID, "type", oldest.Type)
		s.remove(oldest)
	}
}

// post sends a delivery once. Any status outside 200 to 299 is an error.
func (s *Sender) post(ctx context.Context, e Endpoint, r *record) error {
	now := time.Now()
	signature, err := s.signer.Sign(r.Message, now, r.Body)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(r.Body))
	if err != nil {
		return withoutAddress(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", s.userAgent)
	req.Header.Set(standardwebhooks.HeaderWebhookID, r.Message)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := s.client.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer func() { _ = res.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(res.Body, MaxError)) // only the status matters
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return errors.New(strings.TrimSpace(res.Status + " " + string(said)))
	}
	return nil
}

// withoutAddress removes the endpoint's address from an error of package http,
// because the address may be secret.
func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// body returns the JSON that an endpoint gets for an event.
func (s *Sender) body(e Event, slack bool) json.RawMessage {
	if slack {
		line := escapeSlack(e.Text)
		if e.Link != "" {
			line += " <" + escapeSlack(e.Link) + "|Open>"
		}
		return encode(map[string]string{"text": line})
	}
	envelope := struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
		Truncated bool      `json:"truncated,omitempty"`
	}{Type: e.Type, Timestamp: e.Time, Data: e.Data}
	whole := encode(envelope)
	if len(whole) <= MaxBody {
		return whole
	}
	envelope.Data, envelope.Truncated = nil, true
	s.limits.Add(limits.WebhookBody, 1)
	return encode(envelope)
}

// encode returns JSON, or null for a value that cannot be JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// escapeSlack escapes the three characters that make links and mentions in Slack,
// because the text may come from a page or a script.
func escapeSlack(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
