package web

import (
	"context"
	"errors"
	"strings"
	"testing"

	takeover "takeover/clients/go"

	"takeover/browser/browsertest"
)

// TestGoClient starts a session, asks for a person and releases the session with the
// generated client.
func TestGoClient(t *testing.T) {
	s := startServer(t, nil)
	ctx := browsertest.Context(t, "the client")
	client, err := takeover.New(s.base, testKey)
	if err != nil {
		t.Fatal(err)
	}

	created, err := client.CreateSessionWithResponse(ctx, takeover.CreateRequest{
		Url: new(s.base + "/demo/login"), Timeout: new(600_000), Metadata: &map[string]any{"order": "7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := takeover.Answer(created.JSON201, created.ApplicationproblemJSONDefault)
	if err != nil {
		t.Fatal(err)
	}
	if session.Status != "live" || session.Timeout != 600_000 || session.Metadata["order"] != "7" || session.EndedAt != nil {
		t.Errorf("the session: %+v", session)
	}

	asked, err := client.RequestTakeoverWithResponse(ctx, session.Id, takeover.TakeoverRequest{Reason: "Sign in"})
	if err != nil {
		t.Fatal(err)
	}
	if asked.JSON201 == nil || asked.JSON201.State != "pending" || asked.JSON201.SessionId != session.Id || asked.JSON201.Url == "" {
		t.Fatalf("the takeover: %s", asked.Body)
	}

	// The cursor of one page leads to the next one.
	second := s.create(nil)
	var found []string
	params := &takeover.ListSessionsParams{Limit: new(1), Status: new(takeover.ListSessionsParamsStatusLive)}
	for {
		page, err := client.ListSessionsWithResponse(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		if page.JSON200 == nil || len(page.JSON200.Sessions) > 1 {
			t.Fatalf("the list: %s", page.Body)
		}
		for _, one := range page.JSON200.Sessions {
			found = append(found, one.Id)
			if one.Id == session.Id && (one.Takeover == nil || one.Takeover.Id != asked.JSON201.Id) {
				t.Errorf("the listed session lacks its takeover: %+v", one)
			}
		}
		if page.JSON200.Next == nil {
			break
		}
		params.Cursor = page.JSON200.Next
	}
	if len(found) != 2 || found[0] != second.ID() || found[1] != session.Id {
		t.Errorf("listed %q", found)
	}

	released, err := client.ReleaseSessionWithResponse(ctx, session.Id, takeover.ReleaseSessionJSONRequestBody{})
	if err != nil {
		t.Fatal(err)
	}
	if released.JSON200 == nil || released.JSON200.Status == "live" {
		t.Errorf("released: %s", released.Body)
	}
	problemOf(ctx, t, client, session.Id, 410)

	if _, err := takeover.New(strings.TrimPrefix(s.base, "http://"), testKey); err == nil || !strings.Contains(err.Error(), "is no address") {
		t.Errorf("an address without a scheme: %v", err)
	}
	stranger, err := takeover.New(s.base, "a-key-that-is-wrong")
	if err != nil {
		t.Fatal(err)
	}
	problemOf(ctx, t, stranger, session.Id, 401)
}

// problemOf asks for a takeover and gets a problem.
func problemOf(ctx context.Context, t *testing.T, client *takeover.ClientWithResponses, id string, status int) {
	t.Helper()
	asked, err := client.RequestTakeoverWithResponse(ctx, id, takeover.TakeoverRequest{Reason: "Sign in"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = takeover.Answer(asked.JSON201, asked.ApplicationproblemJSONDefault)
	var problem *takeover.Problem
	if !errors.As(err, &problem) || problem.Status != status || problem.Detail == "" {
		t.Errorf("problem %v, want status %d", err, status)
	}
}
