// Package takeover is a client of Takeover's API, generated from its OpenAPI document.
package takeover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// New returns a client of the server at an address, such as https://takeover.example.com,
// that sends a key with each request. Leave the key empty if the server has none.
func New(server, key string, options ...ClientOption) (*ClientWithResponses, error) {
	if u, err := url.Parse(server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address such as https://takeover.example.com", server)
	}
	if key != "" {
		options = append(options, WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
			req.Header.Set("Authorization", "Bearer "+key)
			return nil
		}))
	}
	return NewClientWithResponses(server, options...)
}

// Error returns what went wrong. The problem's Errors name the fields that the server refused.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s (%d): %s", p.Title, p.Status, p.Detail)
}

// errNoAnswer means that something else than a Takeover server has answered.
var errNoAnswer = errors.New("neither the answer that the call has nor a problem")

// Answer returns the answer of a call, or the problem as an error:
//
//	created, err := client.CreateSessionWithResponse(ctx, takeover.CreateRequest{})
//	if err != nil {
//		return err
//	}
//	session, err := takeover.Answer(created.JSON201, created.ApplicationproblemJSONDefault)
func Answer[T any](answer *T, problem *Problem) (*T, error) {
	switch {
	case answer != nil:
		return answer, nil
	case problem != nil:
		return nil, problem
	}
	return nil, errNoAnswer
}
