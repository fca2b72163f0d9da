package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Limits of one request, from S2's documentation of "append records".
const (
	s2MaxRecords = 1000
	s2MaxBytes   = 1 << 20 // see metered

	s2Timeout   = 10 * time.Second // for one response
	s2MaxAnswer = 64 << 10         // bytes read of a response
)

// ErrRefused is returned for records that S2 will never accept.
var ErrRefused = errors.New("S2 refuses the records")

// S2Options names a stream at s2.dev. Token, Basin and Stream are required.
type S2Options struct {
	Token    string // an access token that may append
	Basin    string
	Stream   string // must exist, unless the basin creates streams at the first append
	Endpoint string // default: the basin's endpoint at S2; any other endpoint gets the basin in a header
}

// S2 appends events to a stream at s2.dev, over REST. Its methods may be called from
// any goroutine. End it with Close.
type S2 struct {
	token, basin string // basin is empty if the endpoint's address contains it
	url          string
	client       *http.Client
}

var basinName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,47}$`)

// NewS2 checks the options. It does not connect.
func NewS2(o S2Options) (*S2, error) {
	for _, field := range []struct{ name, value string }{{"S2_ACCESS_TOKEN", o.Token}, {"S2_BASIN", o.Basin}, {"S2_STREAM_NAME", o.Stream}} {
		if field.value == "" {
			return nil, fmt.Errorf("S2: %s is required beside the others", field.name)
		}
	}
	if !basinName.MatchString(o.Basin) {
		return nil, errors.New("S2: S2_BASIN must be lower case letters, digits and hyphens")
	}
	if len(o.Stream) > 512 {
		return nil, errors.New("S2: S2_STREAM_NAME must be at most 512 bytes")
	}
	s := &S2{token: o.Token, client: &http.Client{
		Timeout: s2Timeout, Transport: http.DefaultTransport.(*http.Transport).Clone(), //nolint:forcetypeassert // DefaultTransport is one
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // no other server may get the token
	}}
	base := "https://" + o.Basin + ".b.aws.s2.dev"
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("S2: S2_BASIN_ENDPOINT must be an address that begins with https://")
		}
		base, s.basin = strings.TrimSuffix(o.Endpoint, "/"), o.Basin
	}
	s.url = base + "/v1/streams/" + url.PathEscape(o.Stream) + "/records"
	return s, nil
}

// Close closes idle connections.
func (s *S2) Close() { s.client.CloseIdleConnections() }

// s2Record is a record as JSON. In the base64 format, the body and the names and
// values of headers are bytes.
type s2Record struct {
	Timestamp int64       `json:"timestamp,omitempty"`
	Headers   [][2][]byte `json:"headers"`
	Body      []byte      `json:"body"`
}

type s2Input struct {
	Records []s2Record `json:"records"`
}

type s2Ack struct {
	Start, End struct {
		SeqNum uint64 `json:"seq_num"`
	}
}

// metered returns the size of a record as S2 counts it, in bytes.
func (r s2Record) metered() int {
	n := 8 + 2*len(r.Headers) + len(r.Body)
	for _, h := range r.Headers {
		n += len(h[0]) + len(h[1])
	}
	return n
}

// Append adds events of one session, in order, and returns the number of events
// that S2 confirmed. When a response is lost, S2 may have stored more of them,
// and a retry stores them twice. The error is ErrRefused when a retry would not
// help.
func (s *S2) Append(ctx context.Context, session string, records []Record) (kept int, err error) {
	var input s2Input
	bytes := 0
	for i, r := range records {
		one := s2Record{Timestamp: r.TS, Body: r.JSON, Headers: [][2][]byte{
			{[]byte("session_id"), []byte(session)}, {[]byte("category"), []byte(r.Category)},
		}}
		if n := len(input.Records); n == s2MaxRecords || n > 0 && bytes+one.metered() > s2MaxBytes {
			if err := s.post(ctx, input); err != nil {
				return kept, err
			}
			kept, bytes, input.Records = i, 0, nil
		}
		input.Records = append(input.Records, one)
		bytes += one.metered()
	}
	if len(input.Records) > 0 {
		if err := s.post(ctx, input); err != nil {
			return kept, err
		}
	}
	return len(records), nil
}

// Last always returns 0, because S2 cannot report the events of one session.
func (s *S2) Last(context.Context, string) (uint64, error) { return 0, nil }

// Away always returns false, because only a request shows whether S2 responds.
func (s *S2) Away() (bool, <-chan struct{}) { return false, nil }

// post appends one batch. S2 accepts a batch as a whole or not at all.
func (s *S2) post(ctx context.Context, input s2Input) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("append to S2: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("append to S2: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("S2-Format", "base64")
	if s.basin != "" {
		req.Header.Set("S2-Basin", s.basin)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("append to S2: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, s2MaxAnswer))
	if err != nil {
		return fmt.Errorf("append to S2: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return s.refusal(resp.StatusCode, answer)
	}
	var ack s2Ack
	if err := json.Unmarshal(answer, &ack); err != nil || ack.End.SeqNum-ack.Start.SeqNum != uint64(len(input.Records)) {
		return fmt.Errorf("append to S2: the answer does not acknowledge %d records", len(input.Records))
	}
	return nil
}

// refusal returns the error for a response, with the token removed from it.
func (s *S2) refusal(status int, answer []byte) error {
	var problem struct{ Code, Message string }
	_ = json.Unmarshal(answer, &problem) // stays empty if the response is unreadable
	text := strings.ReplaceAll(fmt.Sprintf("%d %s %.200s", status, problem.Code, problem.Message), s.token, "[REDACTED]")
	if status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity {
		return fmt.Errorf("append to S2: %w: %s", ErrRefused, text)
	}
	return fmt.Errorf("append to S2: %s", text)
}
