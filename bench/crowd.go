package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"
)

// crowdSize is the number of clients beside the one that is measured: with it, twenty
// share a session.
const crowdSize = 19

// crowdAsks is how often the client that reads nothing asks for a megabyte. It stays
// under the bound at which the server cuts it.
const crowdAsks = 48

// benchCrowd measures one CDP client alone and beside nineteen others, one of which
// asks for much and reads nothing, alternating between the two.
func benchCrowd(ctx context.Context, e *env) (rows []row, err error) {
	id, err := e.server.create(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	client, err := startNode(ctx, cdpCode, map[string]any{"endpoint": fmt.Sprintf("%s/v1/sessions/%s?apiKey=%s", e.server.address, id, e.server.key), "code": operationsCode})
	if err != nil {
		return nil, err
	}
	defer client.close()
	args := map[string]any{"op": "evaluate", "n": e.times(200), "url": e.page + manyPath, "form": e.page + formPath}
	var alone, beside []float64
	for range e.times(cdpRounds) {
		took, err := client.run(args)
		if err != nil {
			return nil, err
		}
		alone = append(alone, took...)
		leave, err := e.server.crowd(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("crowd: %w", err)
		}
		took, err = client.run(args)
		leave()
		if err != nil {
			return nil, err
		}
		beside = append(beside, took...)
	}
	return []row{{what: "evaluate beside 19 CDP clients, one stalled", ours: median(beside), reference: median(alone), unit: "ms", target: atMostTimes(1.05), note: "reference: the same client alone"}}, nil
}

// crowd connects clients to the page of a session. All follow what it does; the first
// asks for much and reads nothing more. The result disconnects them.
func (s *server) crowd(ctx context.Context, id string) (leave func(), err error) {
	var list []struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := s.call(ctx, http.MethodGet, "/v1/sessions/"+id+"/json/list", nil, &list); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("the session has no page")
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	leave = func() { cancel(); reading.Wait() }
	defer func() {
		if err != nil {
			leave()
		}
	}()
	for i := range crowdSize {
		conn, _, err := websocket.Dial(ctx, list[0].URL, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.key}}}) //nolint:bodyclose // the library closes it
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.CloseNow() })
		conn.SetReadLimit(64 << 20)
		messages := []string{`{"id":1,"method":"Runtime.enable"}`, `{"id":2,"method":"Page.enable"}`, `{"id":3,"method":"Network.enable"}`}
		if i == 0 {
			messages = append(messages, slices.Repeat([]string{`{"id":4,"method":"Runtime.evaluate","params":{"expression":"'x'.repeat(1<<20)"}}`}, crowdAsks)...)
		}
		for _, m := range messages {
			if err := conn.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			continue
		}
		for answer := (struct{ ID int }{}); answer.ID != len(messages); { // until it follows the page
			_, b, err := conn.Read(ctx)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(b, &answer); err != nil {
				return nil, err
			}
		}
		reading.Go(func() {
			for err := error(nil); err == nil; {
				_, _, err = conn.Read(ctx)
			}
		})
	}
	return leave, nil
}
