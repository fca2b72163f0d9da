package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/session"
	"takeover/trajectory"
)

// This file answers lists for all nodes of a cluster: it asks each the same, on behalf of
// the same caller, and merges what they answer.

const (
	// listTime bounds how long a list waits for the other nodes.
	listTime = 3 * time.Second
	// releaseTime bounds how long they may take to end their sessions.
	releaseTime = 30 * time.Second
	// maxNodeList bounds the answer of one node, in bytes.
	maxNodeList = 64 << 20
)

// ofNodes asks the other nodes for the same as a request, without its body, asks this one,
// and decodes what they answer in time. missing are the names of those that did not answer as
// they should. Without a cluster, and for a request of another node, there are no others.
func ofNodes[T any](s *Server, c echo.Context, within time.Duration) (answers []T, missing []string) {
	return ofNodesAt[T](s, c, c.Request().Method, c.Request().URL.RequestURI(), within)
}

// ofNodesAt asks them for something else on the caller's behalf: a method, and a path with
// its query.
func ofNodesAt[T any](s *Server, c echo.Context, method, path string, within time.Duration) (answers []T, missing []string) {
	return askNodes[T](c.Request().Context(), s, c.Request(), method, path, within)
}

// askNodes does so on behalf of the caller of r, which may have been answered already.
func askNodes[T any](ctx context.Context, s *Server, r *http.Request, method, path string, within time.Duration) (answers []T, missing []string) {
	others := s.otherNodes(r)
	all := make([]question, len(others))
	for i, node := range others {
		all[i] = question{node, path}
	}
	byNode, missing := askAll[T](ctx, s, r, method, all, within)
	for _, answer := range byNode {
		answers = append(answers, answer.answer)
	}
	return answers, missing
}

// otherNodes returns the nodes that have a part of the answer to a request: none without a
// cluster, and for a request of another node.
func (s *Server) otherNodes(r *http.Request) []cluster.NodeInfo {
	if s.cfg.Cluster == nil || fromNode(r) {
		return nil
	}
	return slices.DeleteFunc(s.cfg.Cluster.Nodes(), func(n cluster.NodeInfo) bool { return n.Self })
}

// question is what one node is asked: a path with its query.
type question struct {
	node cluster.NodeInfo
	path string
}

// answered is a question with its answer.
type answered[T any] struct {
	question
	answer T
}

// askAll asks nodes different questions at the same time.
func askAll[T any](ctx context.Context, s *Server, r *http.Request, method string, questions []question, within time.Duration) (answers []answered[T], missing []string) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, q := range questions {
		asked.Go(func() {
			var answer T
			node, err := q.node, cluster.ErrLost
			if !node.Lost {
				err = s.askNode(ctx, r, node.Node, method, q.path, &answer)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if !node.Lost { // the cluster has told of that one
					s.log.Warn("ask a node for its part of a list", "node", node.Name, "error", err)
				}
				missing = append(missing, node.Name)
				return
			}
			answers = append(answers, answered[T]{q, answer})
		})
	}
	asked.Wait()
	slices.Sort(missing)
	return answers, missing
}

// takeoversPart is a page of takeovers.
type takeoversPart struct{ Takeovers []session.TakeoverInfo }

// takeoversOfNodes returns the takeovers of all nodes that are in a state, or all for an empty
// one; of each other node the oldest, as many as limit. missing are the nodes that did not
// answer.
func (s *Server) takeoversOfNodes(c echo.Context, state session.TakeoverState, limit int) (list []session.TakeoverInfo, missing []string) {
	for _, t := range s.manager.Takeovers(string(state)) {
		list = append(list, t.Info())
	}
	parts, missing := ofNodesAt[takeoversPart](s, c, http.MethodGet, fmt.Sprintf("/v1/takeovers?state=%s&limit=%d", state, limit), listTime)
	for _, part := range parts {
		list = append(list, part.Takeovers...)
	}
	return list, missing
}

// trajectoriesPart is a page of trajectories.
type trajectoriesPart struct{ Trajectories []trajectory.BundleInfo }

// trajectoriesOfNodes returns the trajectories of all nodes, newest first; of each other node
// no more than a page has. missing are the nodes that did not answer.
func (s *Server) trajectoriesOfNodes(c echo.Context) (list []trajectory.BundleInfo, missing []string, err error) {
	list, err = s.manager.Trajectories().List()
	if err != nil {
		return nil, nil, err
	}
	parts, missing := ofNodesAt[trajectoriesPart](s, c, http.MethodGet, fmt.Sprintf("/v1/trajectories?limit=%d", listMax), listTime)
	for _, part := range parts {
		list = append(list, part.Trajectories...)
	}
	slices.SortFunc(list, func(a, b trajectory.BundleInfo) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(b.ID, a.ID))
	})
	return list, missing, nil
}

// askNode makes a call without a body at another node, on behalf of the caller of r.
func (s *Server) askNode(ctx context.Context, r *http.Request, to cluster.Node, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, to.URL+path, http.NoBody)
	if err != nil {
		return err
	}
	for _, name := range []string{echo.HeaderAuthorization, keyHeader, "Cookie", echo.HeaderOrigin, "User-Agent"} { // who asks; the last says in which form
		req.Header[name] = r.Header.Values(name)
	}
	s.vouch(req, r, to, askPart)
	resp, err := s.toNodes.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &answerError{resp.StatusCode}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxNodeList+1))
	if err == nil && len(raw) > maxNodeList {
		err = fmt.Errorf("its answer has more than %d bytes", maxNodeList)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// listItem is an item of a list, from any node.
type listItem struct {
	json.RawMessage
	position
}

// listPart is a node's part of a page.
type listPart struct {
	items []listItem
	more  bool // the node has more of them
}

// totalIn returns how many items the whole list of a node has, which it says to Steel's client.
func totalIn(answer map[string]json.RawMessage) (total int) {
	_ = json.Unmarshal(answer["totalCount"], &total) // for others, it is not there
	return total
}

// readPart reads a node's answer to a question for the list of that name.
func readPart(name string, answer map[string]json.RawMessage) (part listPart, err error) {
	var items []json.RawMessage
	if err := json.Unmarshal(answer[name], &items); err != nil {
		return part, fmt.Errorf("read a node's list: %w", err)
	}
	part.more = len(answer["next"]) > 0 && string(answer["next"]) != "null"
	for _, item := range items {
		var at struct {
			ID         string    `json:"id"`
			CreatedAt  time.Time `json:"createdAt"`
			Trajectory string    `json:"trajectory_id"`
			StartedAt  time.Time `json:"started_at"` // of a trajectory
		}
		if err := json.Unmarshal(item, &at); err != nil {
			return part, fmt.Errorf("read a node's list: %w", err)
		}
		part.items = append(part.items, listItem{item, position{cmp.Or(at.CreatedAt, at.StartedAt), cmp.Or(at.ID, at.Trajectory)}})
	}
	return part, nil
}

// mergeLists takes this node's page of a list, asks the other nodes for theirs, and returns
// the page of all. It asks each node for its share of the page, and then those for the rest
// whose share was too small: with many nodes, most have hardly any of a page. total is how
// many items the lists of the others have, for Steel's client.
func mergeLists[V any](s *Server, c echo.Context, name string, q pageQuery, direction order, page []V, next *string) (merged any, more *string, total int, missing []string, err error) {
	r := c.Request()
	others := s.otherNodes(r)
	asks := make([]question, len(others))
	for i, node := range others {
		asks[i] = question{node, pathOfPage(r.URL, shareOf(q.limit, len(others)+1), q.after)}
	}
	answers, missing := askAll[map[string]json.RawMessage](r.Context(), s, r, r.Method, asks, listTime)
	if len(answers) == 0 {
		return page, next, 0, missing, nil
	}
	raw, err := json.Marshal(page)
	if err != nil {
		return nil, nil, 0, nil, err
	}
	mine, err := readPart(name, map[string]json.RawMessage{name: raw})
	if err != nil {
		return nil, nil, 0, nil, err
	}
	all, cut := mine.items, next != nil
	inOrder := func(a, b listItem) int { return int(direction) * a.compare(b.position) }
	parts := make([]listPart, len(answers))
	for i, answer := range answers {
		if parts[i], err = readPart(name, answer.answer); err != nil {
			return nil, nil, 0, nil, err
		}
		all, total = append(all, parts[i].items...), total+totalIn(answer.answer)
	}
	slices.SortFunc(all, inOrder)
	asks = asks[:0]
	for i, part := range parts {
		if !part.more {
			continue
		}
		last := len(part.items) - 1
		if last < 0 || len(all) >= q.limit && inOrder(part.items[last], all[q.limit-1]) >= 0 {
			cut = true
			continue
		}
		asks = append(asks, question{answers[i].node, pathOfPage(r.URL, q.limit, &part.items[last].position)})
	}
	answers, silent := askAll[map[string]json.RawMessage](r.Context(), s, r, r.Method, asks, listTime)
	for _, answer := range answers {
		part, err := readPart(name, answer.answer)
		if err != nil {
			return nil, nil, 0, nil, err
		}
		all, cut = append(all, part.items...), cut || part.more
	}
	slices.SortFunc(all, inOrder)
	if cut = cut || len(all) > q.limit; len(all) > q.limit {
		all = all[:q.limit]
	}
	if cut && len(all) > 0 {
		more = new(all[len(all)-1].cursor())
	}
	items := make([]json.RawMessage, len(all))
	for i, one := range all {
		items[i] = one.RawMessage
	}
	return items, more, total, append(missing, silent...), nil
}

// shareOf returns how many items of a page each of so many nodes is asked for at first: twice
// what it has if all have the same.
func shareOf(limit, nodes int) int { return min(limit, 2*((limit+nodes-1)/nodes)) }

// pathOfPage returns the path of a list for another page: with so many items, after a
// position unless that is nil.
func pathOfPage(list *url.URL, limit int, after *position) string {
	query := list.Query()
	query.Set("limit", strconv.Itoa(limit))
	if after != nil {
		query.Del("cursorId")
		query.Set("cursor", after.cursor())
	}
	return list.EscapedPath() + "?" + query.Encode()
}

// nodeOfTrajectory returns the other node that has a trajectory, or nil if none has it. The
// error is a *cluster.LostError if that is not known, because a node does not answer.
func (s *Server) nodeOfTrajectory(c echo.Context, id string) (*cluster.Node, error) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), listTime)
	defer cancel()
	var mu sync.Mutex
	var found *cluster.Node
	var silent error
	var asking sync.WaitGroup
	for _, node := range s.cfg.Cluster.Nodes() {
		if node.Self {
			continue
		}
		asking.Go(func() {
			err := cluster.ErrLost
			if !node.Lost {
				err = s.askNode(ctx, c.Request(), node.Node, http.MethodGet, "/v1/trajectories/"+url.PathEscape(id), &struct{}{})
			}
			mu.Lock()
			defer mu.Unlock()
			answer, ok := errors.AsType[*answerError](err)
			switch {
			case err == nil:
				found = &node.Node
				cancel()
			case !ok || answer.status != http.StatusNotFound:
				silent = &cluster.LostError{ID: node.ID, Node: node.Name}
			}
		})
	}
	asking.Wait()
	if found != nil {
		return found, nil
	}
	return nil, silent
}

// answerError is the error of a node that answers otherwise than with 200.
type answerError struct{ status int }

func (a *answerError) Error() string { return fmt.Sprintf("it answers %d", a.status) }
