package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/invalid"
)

// refuse makes /readyz and requests to create sessions return 503, so that no new callers
// come, and tells the other nodes.
func (s *Server) refuse() {
	if s.draining.Swap(true) || s.cfg.Cluster == nil {
		return
	}
	if err := s.cfg.Cluster.Drain(context.Background()); err != nil {
		s.log.Warn("tell the other servers that this one takes no new sessions", "error", err)
	}
}

// Drain starts no more sessions, and ends those that there are: each when nobody works in
// it, and the others at until. It returns when all have ended, or with ctx's cause if that
// ends first; the sessions end nevertheless.
func (s *Server) Drain(ctx context.Context, until time.Time) error {
	s.refuse()
	return s.manager.Drain(ctx, until)
}

// drainNode handles POST /v1/nodes/:node/drain.
func (s *Server) drainNode(c echo.Context) error {
	node, err := namedNode(s.nodes(c.Request()), c.Param("node"))
	if err != nil {
		return err
	}
	if !node.Self {
		if node.Lost {
			return nodeFailure(caller(c), &cluster.LostError{ID: node.ID, Node: node.Name})
		}
		return s.forward(c, &node.Node, nil)
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	s.log.Info("an operator drains this server", "timeout", s.cfg.DrainTimeout)
	s.refuse()
	until := time.Now().Add(s.cfg.DrainTimeout)
	go func() {
		defer done()
		if s.manager.Drain(s.ctx, until) == nil {
			s.log.Info("the server is drained: nobody works at it any more")
		}
	}()
	node.Draining = true
	return c.JSON(http.StatusAccepted, node)
}

// namedNode returns the node with an id or a name.
func namedNode(nodes []cluster.NodeInfo, name string) (cluster.NodeInfo, error) {
	nodes = slices.DeleteFunc(nodes, func(n cluster.NodeInfo) bool { return n.ID != name && n.Name != name })
	switch len(nodes) {
	case 0:
		return cluster.NodeInfo{}, &failure{kind: kindNotFound, detail: "No node has this name."}
	case 1:
		return nodes[0], nil
	}
	return cluster.NodeInfo{}, invalid.Field("node", "several nodes have this name: use the id of one")
}
