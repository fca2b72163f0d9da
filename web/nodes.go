package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/session"
	"takeover/text"
)

// This file passes requests for sessions of other nodes on to those. It gives nobody any
// rights: the node of the session checks key, cookie and link by itself. Of the node that
// passes a request on, it believes only what that knows of the client, because a token says
// that it is a node.

// The headers of a request of another node: its token, and the facts for which that vouches.
// They are not those of proxies, which a proxy between nodes would change.
const (
	nodeHeader   = "Takeover-Node"
	clientHeader = "Takeover-Client" // the client's address
	schemeHeader = "Takeover-Scheme" // http or https, as the client came
	hostHeader   = "Takeover-Host"   // as the client named it
	askHeader    = "Takeover-Ask"    // askWhole or askPart
)

// What a node asks another one.
const (
	askWhole = "whole" // the answer to a client's request
	askPart  = "part"  // the other node's part of a list
)

// refusedHeader marks the answer of a node that has done nothing, so that another one may.
const refusedHeader = "Takeover-Refused"

const (
	// dialTime bounds the connection to another node.
	dialTime = 5 * time.Second
	// maxLookups is how many links' nodes are looked for at a time.
	maxLookups = 8
	// idleToNode is how many idle connections to each other node are kept.
	idleToNode = 64
)

// nodesView is the body of the list of nodes.
type nodesView struct {
	Nodes []cluster.NodeInfo `json:"nodes" doc:"All nodes, by name; just this server if it is in no cluster."`
}

// listNodes handles GET /v1/nodes.
func (s *Server) listNodes(c echo.Context) error {
	return c.JSON(http.StatusOK, nodesView{Nodes: s.nodes(c.Request())})
}

// nodes returns all nodes of the cluster, or this server if it is in none.
func (s *Server) nodes(r *http.Request) []cluster.NodeInfo {
	if s.cfg.Cluster != nil {
		return s.cfg.Cluster.Nodes()
	}
	alone := cluster.NodeInfo{Node: cluster.Node{URL: s.baseURL(r), Version: s.cfg.Version, Draining: s.draining.Load()}, Self: true, SeenAt: time.Now().UTC()}
	alone.Name, _ = os.Hostname() // a server may be without a name
	alone.Load.Sessions, alone.Load.MaxSessions, alone.Load.Waiting = s.manager.Load()
	return []cluster.NodeInfo{alone}
}

// fromNodeKey marks requests that another node has passed on.
type fromNodeKey struct{}

func fromNode(r *http.Request) bool { return r.Context().Value(fromNodeKey{}) != nil }

// asksForPart reports whether another node asks for this one's part of a list.
func asksForPart(r *http.Request) bool { return r.Context().Value(fromNodeKey{}) == askPart }

// behindNodes gives requests that another node passes on the address of the client, and the
// host that it asked for. passed serves those, and next all others.
func (s *Server) behindNodes(passed, next http.Handler) http.Handler {
	if s.cfg.Cluster == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(nodeHeader)
		if token == "" {
			next.ServeHTTP(w, r)
			return
		}
		client, scheme, host, ask := r.Header.Get(clientHeader), r.Header.Get(schemeHeader), r.Header.Get(hostHeader), r.Header.Get(askHeader)
		_, err := s.cfg.Cluster.Check(token, client, scheme, host, ask)
		address, bad := netip.ParseAddr(client)
		if err = cmp.Or(err, bad); err != nil {
			s.log.Warn("a request says that a node passes it on, and its token is wrong", "from", peerOf(r), "error", err)
			w.Header().Set(refusedHeader, "token")
			http.Error(w, "The token of the node is not valid. Do the clocks of the nodes agree?", http.StatusServiceUnavailable)
			return
		}
		if conn := connectionOf(r); conn != nil {
			conn.ofNode()
		}
		ctx := context.WithValue(r.Context(), forwardedKey{}, forwarded{scheme, host})
		r = r.WithContext(context.WithValue(ctx, fromNodeKey{}, ask))
		r.Host, r.RemoteAddr = host, netip.AddrPortFrom(address, 0).String()
		for _, name := range []string{nodeHeader, clientHeader, schemeHeader, hostHeader, askHeader} {
			r.Header.Del(name)
		}
		passed.ServeHTTP(w, r)
	})
}

// elsewhere returns the node that has the session which a request names. It returns nil if
// this node answers: because it has the session, because there is no such session, or because
// the caller has neither a key nor the cookie of a link.
func (s *Server) elsewhere(c echo.Context, r route, p *principal) (*cluster.Node, error) {
	if s.cfg.Cluster == nil || fromNode(c.Request()) {
		return nil, nil //nolint:nilnil // this node
	}
	if one := c.Param("trajectory"); one != "" && p.operator() {
		if _, err := s.manager.Trajectories().Get(one); err == nil {
			return nil, nil //nolint:nilnil // this node
		}
		node, err := s.nodeOfTrajectory(c, one)
		if err != nil {
			return nil, nodeFailure(p, err)
		}
		return node, nil
	}
	id, byTakeover := r.sessionNamed(c), r.byTakeover
	if id != "" && !p.operator() && !s.has(id, byTakeover) {
		known := p.elsewhere(id)
		if known == "" && byTakeover && len(p.lost) > 0 { // perhaps a link to its session
			_, of, err := s.manager.PlaceOfTakeover(c.Request().Context(), id)
			if err != nil {
				return nil, nodeFailure(p, err)
			}
			known = p.elsewhere(of)
		}
		id, byTakeover = known, false // without a cookie, this node refuses
	}
	return s.nodeOf(c.Request().Context(), p, id, byTakeover)
}

// has reports whether this node has a session or, byTakeover, a takeover.
func (s *Server) has(id string, byTakeover bool) bool {
	var err error
	if byTakeover {
		_, err = s.manager.FindTakeover(id)
	} else {
		_, err = s.manager.Get(id)
	}
	return err == nil
}

// nodeOf returns the other node that has a session or, byTakeover, a takeover. It returns nil
// if this node has it, no node has it, or the id is empty.
func (s *Server) nodeOf(ctx context.Context, p *principal, id string, byTakeover bool) (*cluster.Node, error) {
	if id == "" || s.has(id, byTakeover) {
		return nil, nil //nolint:nilnil // this node
	}
	find := s.cfg.Cluster.Owner
	if byTakeover {
		find = s.ownerOfTakeover
	}
	owner, err := find(ctx, id)
	switch {
	case errors.Is(err, cluster.ErrUnknown):
		return nil, nil //nolint:nilnil // this node says so
	case err != nil:
		return nil, nodeFailure(p, err)
	case owner.ID == s.cfg.Cluster.Self().ID:
		return nil, nil //nolint:nilnil // it has forgotten the session
	}
	return &owner, nil
}

// ownerOfTakeover returns the node that has a takeover, with the errors of
// cluster.Cluster.Owner.
func (s *Server) ownerOfTakeover(ctx context.Context, id string) (cluster.Node, error) {
	server, _, err := s.manager.PlaceOfTakeover(ctx, id)
	if err != nil {
		return cluster.Node{}, err
	}
	if server == "" {
		return cluster.Node{}, cluster.ErrUnknown
	}
	return s.cfg.Cluster.Node(server)
}

// sessionNamed returns the id in a request's path or, for calls that act on a session that
// the query names, from there.
func (r route) sessionNamed(c echo.Context) string {
	id := c.Param("id")
	if id == "" && (r.name == "cdpRoot" || slices.Contains(r.query, "session")) {
		id = cmp.Or(c.QueryParam("session"), c.QueryParam("sessionId"))
	}
	return id
}

// elsewhere returns the session of a link that this node does not know, for whose session or
// takeover the caller has a cookie; id names either. It returns "" without such a cookie. The
// node of that session judges the link.
func (p *principal) elsewhere(id string) string {
	for _, l := range p.lost {
		if l.SessionID == id || l.Takeover == id {
			return l.SessionID
		}
	}
	return ""
}

// lostKey is where a request keeps the session of a node that is gone, for sessionOf.
const lostKey = "takeover.lost"

// lostSession is a session of a node that is gone.
type lostSession struct {
	*session.Session
	node string // its name
}

func lostOf(c echo.Context) (lostSession, bool) {
	lost, ok := c.Get(lostKey).(lostSession)
	return lost, ok
}

// recall finds what a node that is gone has stored of a request's session, for operators and
// for routes whose answer the store has. failed is why the node cannot be asked, or nil; recall
// returns it if the request cannot be served.
func (s *Server) recall(c echo.Context, r route, p *principal, failed error) error {
	lost, ok := errors.AsType[*cluster.LostError](failed)
	if !ok || r.stored == notStored || !p.operator() {
		return failed
	}
	one, err := s.manager.Lost(c.Request().Context(), session.Lost{Server: lost.ID, Session: c.Param("id"), Takeover: c.Param("tid"), Whole: r.stored == storedWhole})
	if errors.Is(err, context.DeadlineExceeded) {
		return failed
	}
	if err != nil {
		return err
	}
	c.Set(lostKey, lostSession{one, lost.Node})
	return nil
}

// nodeFailure is the answer when another node is needed and cannot be reached. Operators
// learn which.
func nodeFailure(p *principal, err error) *failure {
	f := &failure{kind: kindNotReady, detail: "The server that has this does not answer. Try again in a moment.", retryAfter: fullRetryAfter, err: err}
	if lost, ok := errors.AsType[*cluster.LostError](err); ok && p.operator() {
		f.detail = text.Sentence(lost.Error())
	}
	return f
}

// vouch tells another node where the request behind out came from, and what it is for.
func (s *Server) vouch(out, in *http.Request, to cluster.Node, ask string) {
	client, scheme := peerOf(in), "http"
	if overTLS(in) {
		scheme = "https"
	}
	out.Header.Set(clientHeader, client)
	out.Header.Set(schemeHeader, scheme)
	out.Header.Set(hostHeader, in.Host)
	out.Header.Set(askHeader, ask)
	out.Header.Set(nodeHeader, s.cfg.Cluster.Token(to, client, scheme, in.Host, ask))
}

// errUnbegun is why a request was not passed on: the other node has done nothing.
var errUnbegun = errors.New("the other node cannot do it now")

// served runs a proxy. It reports false if the answer was cut off.
func served(proxy *httputil.ReverseProxy, w http.ResponseWriter, r *http.Request) (whole bool) {
	defer func() {
		if fault := recover(); fault != nil && fault != http.ErrAbortHandler { //nolint:errorlint // httputil panics with this very value
			panic(fault)
		}
	}()
	proxy.ServeHTTP(w, r)
	return true
}

// place passes a request that starts a session on to the node that should have it. It
// reports false if this node should serve it: it is that node, or the other one cannot.
func (s *Server) place(c echo.Context) (passed bool, err error) {
	to := s.cfg.Cluster.Place()
	if to.ID == s.cfg.Cluster.Self().ID {
		return false, nil
	}
	body, err := readBody(c, createBodyLimit)
	if err != nil {
		return true, err
	}
	err = s.forward(c, &to, body)
	if errors.Is(err, errUnbegun) && !c.Response().Committed && c.Request().Context().Err() == nil && !s.draining.Load() {
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		return false, nil
	}
	return true, err
}

// nodeOfLink returns the other node that has the session or the takeover of a link's page,
// or nil. Anybody may ask, so only a few questions at a time reach the store.
func (s *Server) nodeOfLink(c echo.Context, path string) (*cluster.Node, error) {
	if s.cfg.Cluster == nil || fromNode(c.Request()) {
		return nil, nil //nolint:nilnil // this node
	}
	select {
	case s.lookups <- struct{}{}:
		defer func() { <-s.lookups }()
	default:
		return nil, s.tooMany(s.signIns, time.Second)
	}
	ctx := c.Request().Context()
	var owner cluster.Node
	var err error
	if id, ok := strings.CutPrefix(path, "/takeover/"); ok {
		owner, err = s.ownerOfTakeover(ctx, id)
	} else if id, ok := strings.CutPrefix(path, "/sessions/"); ok {
		owner, err = s.cfg.Cluster.Owner(ctx, id)
	}
	if err != nil || owner.ID == "" || owner.ID == s.cfg.Cluster.Self().ID {
		return nil, nil //nolint:nilnil // nobody learns more than that the link is wrong
	}
	return &owner, nil
}

// withNode returns a secret that this server gives out with the node's id, by which the other
// nodes of a cluster find it.
func (s *Server) withNode(secret string) string {
	if s.cfg.Cluster == nil {
		return secret
	}
	return secret + "." + s.cfg.Cluster.Self().ID
}

// nodeOfSecret returns a secret without the id that withNode added, and the other node that
// knows it, or nil if this one judges it. Anybody may ask: the id leads to nodes of the cluster
// only, and the failure does not repeat it.
func (s *Server) nodeOfSecret(r *http.Request, text string) (secret string, node *cluster.Node, err error) {
	at := strings.LastIndexByte(text, '.')
	if s.cfg.Cluster == nil || at < 0 {
		return text, nil, nil
	}
	secret = text[:at]
	if fromNode(r) {
		return secret, nil, nil
	}
	maker, err := s.cfg.Cluster.Node(text[at+1:])
	switch {
	case err != nil:
		return "", nil, nodeFailure(&principal{}, err)
	case maker.ID == s.cfg.Cluster.Self().ID:
		return secret, nil, nil
	}
	return secret, &maker, nil
}

// signOutTopic is where nodes tell each other of sign-outs, by the nonce of the cookie.
const signOutTopic = "sign-outs"

// shareSignOuts makes a sign-out at one node of a cluster end the sign-in at all of them.
func shareSignOuts(nodes *cluster.Cluster, s *signer) error {
	if nodes == nil {
		return nil
	}
	s.tell = func(nonce string, expires time.Time) error {
		err := nodes.Share(context.Background(), signOutTopic, base64.RawURLEncoding.EncodeToString([]byte(nonce)), strconv.AppendInt(nil, expires.Unix(), 10))
		if err != nil {
			return &failure{kind: kindNotReady, detail: "You are signed out here. The other servers of the cluster could not be told: sign out again later.", retryAfter: fullRetryAfter, err: err}
		}
		return nil
	}
	return nodes.Hear(context.Background(), signOutTopic, func(key string, value []byte) {
		nonce, err := base64.RawURLEncoding.DecodeString(key)
		seconds, bad := strconv.ParseInt(string(value), 10, 64)
		if err == nil && bad == nil && len(nonce) == nonceSize {
			s.forget(string(nonce), time.Unix(seconds, 0))
		}
	})
}

// forward passes a request on to another node, and its answer back. body replaces that of
// the request if it is not nil, because it was read. The error is errUnbegun if the other
// node has done nothing, and cannot now.
func (s *Server) forward(c echo.Context, to *cluster.Node, body []byte) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	req := c.Request()
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	gone := s.cfg.Cluster.Gone(to.ID)
	go func() {
		select {
		case <-gone: // a machine that is gone does not close its connections
			cancel()
		case <-ctx.Done():
		}
	}()
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Time{}) // see steadyWriter; not supported by a test's recorder
	if body == nil {
		s.steady(c.Response(), req)
	}
	target, err := url.Parse(to.URL)
	if err != nil {
		return nodeFailure(caller(c), err)
	}
	var failed error
	var socket *relayed
	proxy := httputil.ReverseProxy{
		Transport: s.toNodes, FlushInterval: -1, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if body != nil {
				r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came, for the node to judge
			r.Out.Header.Del("Expect")             // its answer comes before the other node's
			s.vouch(r.Out, r.In, *to, askWhole)
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Header.Get(refusedHeader) != "" {
				return errUnbegun
			}
			for name := range r.Header { // the other node has set its own
				c.Response().Header().Del(name)
			}
			socket = s.relay(r, http.NewResponseController(c.Response().Writer)) // Echo gives the response itself to other requests
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
	}
	s.metrics.forwarded.Inc()
	if !served(&proxy, s.steadyWriter(c), req.WithContext(ctx)) { // the end must not look like that of a whole answer
		_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now()) // fails only if the connection has ended
	}
	if socket != nil {
		socket.clientLeft()
	}
	switch {
	case failed == nil || c.Response().Committed:
		return nil
	case s.ctx.Err() != nil:
		return stoppingFailure()
	case req.Context().Err() != nil:
		return context.Cause(req.Context())
	}
	s.log.Warn("pass a request on", "node", to.Name, "error", failed)
	dial, ok := errors.AsType[*net.OpError](failed)
	unreached := ok && dial.Op == "dial"
	if body == nil && !unreached && errors.Is(failed, os.ErrDeadlineExceeded) {
		return &failure{kind: kindBadInput, detail: "The body ended early.", err: failed}
	}
	f := nodeFailure(caller(c), &cluster.LostError{ID: to.ID, Node: to.Name})
	if unreached || errors.Is(failed, errUnbegun) {
		f.err = errUnbegun
	}
	return f
}
