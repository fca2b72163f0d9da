package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/door/mcp"
	"takeover/session"
	"takeover/text"
	"takeover/web/apidoc"
)

// newMCP returns the door for clients of the Model Context Protocol.
func (s *Server) newMCP() *mcp.Door {
	return mcp.New(mcp.Options{Manager: s.manager, Create: s.createForMCP, CreateSchema: createSchema(), Analyst: s.cfg.Analyst, Framed: len(s.cfg.EmbedOrigins) > 0, Version: s.cfg.Version, Logger: s.log})
}

// serveMCP handles all methods of /mcp.
func (s *Server) serveMCP(c echo.Context) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	body, err := readBody(c, mcp.MaxBody)
	if err != nil {
		return err
	}
	req := c.Request()
	to, isCall := toolCall(body)
	node, err := s.nodeOfTool(c, to)
	if err != nil {
		return err
	}
	if node != nil {
		req.Header.Del(mcp.ClientHeader) // the other node does not know this client
		return s.forward(c, node, body)
	}
	by := mcp.Caller{
		Key: caller(c).key, Address: limitedAs(req.RemoteAddr), BaseURL: s.baseURL(req), Session: c.QueryParam("session"),
		Single:  isCall && fromNode(req) && req.Header.Get(mcp.ClientHeader) == "",
		Foreign: s.sessionsOfOthers(req.Clone(context.WithoutCancel(req.Context()))),
	}
	req = req.WithContext(mcp.As(req.Context(), by))
	req.Body = io.NopCloser(bytes.NewReader(body))
	c.Response().Header().Set("X-Accel-Buffering", "no") // a proxy must not buffer streams
	w := &doorResponse{steadyWriter: s.steadyWriter(c)}
	s.mcp.ServeHTTP(w, req)
	return w.failure()
}

// toolArgs are the arguments of a tool that say to which node a call goes.
type toolArgs struct{ Session, Takeover string }

// toolCall reads a message of a client, and reports whether it calls a tool.
func toolCall(body []byte) (to toolArgs, ok bool) {
	var m struct {
		Method string
		Params struct{ Arguments json.RawMessage }
	}
	if json.Unmarshal(body, &m) != nil || m.Method != "tools/call" {
		return to, false
	}
	_ = json.Unmarshal(m.Params.Arguments, &to) // the tool refuses arguments of other types
	return to, true
}

// nodeOfTool returns the other node that has the session or the takeover that a tool is
// called for, or nil.
func (s *Server) nodeOfTool(c echo.Context, to toolArgs) (*cluster.Node, error) {
	if s.cfg.Cluster == nil || fromNode(c.Request()) {
		return nil, nil //nolint:nilnil // this node
	}
	return s.nodeOf(c.Request().Context(), caller(c), cmp.Or(to.Session, to.Takeover), to.Session == "")
}

// sessionsOfOthers returns what mcp.Caller.Foreign is for the client that sent r. A client
// may outlive its first request, whose echo.Context is used again by then.
func (s *Server) sessionsOfOthers(r *http.Request) func(ctx context.Context, ended bool) (list []session.Info, missing []string) {
	return func(ctx context.Context, ended bool) (list []session.Info, missing []string) {
		path := "/v1/sessions?limit=" + strconv.Itoa(mcpListed)
		if !ended {
			path += "&status=" + string(session.StatusLive)
		}
		parts, missing := askNodes[struct{ Sessions []session.Info }](ctx, s, r, http.MethodGet, path, listTime)
		for _, part := range parts {
			list = append(list, part.Sessions...)
		}
		return list, missing
	}
}

// mcpListed is how many sessions of each other node session_list looks at.
const mcpListed = 200

// createForMCP starts a session as POST /v1/sessions does.
func (s *Server) createForMCP(ctx context.Context, by mcp.Caller, body []byte) (*session.Session, []string, error) {
	var req createRequest
	if err := decodeObject(body, &req); err != nil {
		return nil, nil, err
	}
	req.quiet = mcp.DefaultTimeout
	made, err := s.create(ctx, creator{by.Key, by.Address}, &req)
	return made, req.warnings(), err
}

// createdByModels are the fields of a session that models are told of. They may give all
// others, too.
var createdByModels = []string{
	"url", "timeout", "profile", "persist", "sessionContext", "dimensions", "isMobile", "locale", "timezone", "proxyUrl", "allowedHosts",
}

// createSchema describes the request to create a session for models.
func createSchema() object {
	g := apidoc.NewSchemas()
	properties := object{}
	for _, f := range apidoc.Fields(reflect.TypeFor[createRequest]()) {
		if !slices.Contains(createdByModels, f.Name) {
			continue
		}
		if f.Kind.Kind() == reflect.Pointer { // models leave a field out in place of null
			f.Kind = f.Kind.Elem()
		}
		does := f.Does
		if f.Name == "timeout" {
			does = fmt.Sprintf("How long the session lives, in milliseconds. Default: %d after its last use.", mcp.DefaultTimeout.Milliseconds())
		}
		f.Does, f.Bounds = "", nil // bounds cost a model more than they tell it; the request is checked
		property := g.Property(f)
		switch {
		case property["$ref"] != nil:
			property = object{"type": "object", "properties": object{"width": object{"type": "integer"}, "height": object{"type": "integer"}}}
		case property["type"] == nil: // a JSON value that the field's own parser reads
			property["type"] = "object"
		}
		property["description"] = does
		properties[f.Name] = property
	}
	return object{"type": "object", "properties": properties}
}

// doorResponse is the response to a caller who may wait long but must read what
// comes. Errors in plain text become failures, so that they look like all others.
type doorResponse struct {
	steadyWriter
	refused int // status of an error in plain text
	why     []byte
}

// WriteHeader implements http.ResponseWriter.
func (w *doorResponse) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get(echo.HeaderContentType), echo.MIMETextPlain) {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *doorResponse) Write(p []byte) (int, error) {
	if w.refused != 0 {
		w.why = append(w.why, p...)
		return len(p), nil
	}
	return w.steadyWriter.Write(p)
}

// failure returns the error that was written in plain text, or nil.
func (w *doorResponse) failure() error {
	if w.refused == 0 {
		return nil
	}
	f := &failure{kind: kindBadInput, detail: text.Sentence(strings.TrimSpace(string(w.why))), allow: w.Header().Get("Allow")}
	if at := slices.IndexFunc(kinds, func(k kind) bool { return k.status == w.refused }); at >= 0 {
		f.kind = kinds[at]
	}
	f.kind.status = w.refused
	if f.kind.status == http.StatusServiceUnavailable {
		f.retryAfter = time.Minute
	}
	return f
}
