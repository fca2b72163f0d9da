package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/links"
	"takeover/session"
)

// defaultLinkTime is the lifetime of a link if the caller gives none.
const defaultLinkTime = time.Hour

// linkRequest is the body of a request for a link.
type linkRequest struct {
	Role      session.Role `json:"role" doc:"What people with the link may do." required:"true"`
	ExpiresIn *int64       `json:"expiresIn,omitempty" doc:"The link's life, in milliseconds." min:"1000" max:"2592000000" default:"3600000"`
	MaxUses   int          `json:"maxUses,omitempty" doc:"How many browsers may open the link; 0 for any number." min:"0" max:"1000" default:"0"`
	Takeover  string       `json:"takeover,omitempty" doc:"The id of an open takeover, whose page the link opens."`

	// They narrow what the session reaches while a person with the link is in control.
	AllowedHosts []string `json:"allowedHosts,omitempty" doc:"The only hosts that the session reaches while a person with the link is in control."`
	DeniedHosts  []string `json:"deniedHosts,omitempty" doc:"Hosts that the session does not reach while a person with the link is in control."`
}

// linkCreated describes a new link. Its secret is in the URL's fragment.
type linkCreated struct {
	links.Info
	URL string `json:"url" doc:"The link, with its secret. It is not shown again."`
}

// redeemRequest is the body of a redemption.
type redeemRequest struct {
	Secret   string `json:"secret" doc:"The part of the link after #." required:"true"`
	Embedded bool   `json:"embedded,omitempty" doc:"The page is in a frame of another site."`
	Path     string `json:"path,omitempty" doc:"The path of the link. In a cluster, it says which server knows the secret." maxBytes:"1024"`
}

// createLink handles POST /v1/sessions/:id/links.
func (s *Server) createLink(c echo.Context) error {
	var req linkRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	v.oneOf("role", string(req.Role), string(session.RoleView), string(session.RoleControl), string(session.RoleTakeover))
	life := defaultLinkTime
	if req.ExpiresIn != nil {
		life = duration(req.ExpiresIn)
	}
	path := "/sessions/" + one.ID()
	if req.Takeover != "" {
		if t, err := one.Takeover(req.Takeover); err != nil {
			v.add("takeover", "is not a takeover of this session")
		} else if state := t.Info().State; !state.Open() {
			v.add("takeover", "has ended: it is %s", state)
		}
		path = "/takeover/" + req.Takeover
	}
	if err := v.err(); err != nil {
		return err
	}
	info, secret, err := one.CreateLink(links.Options{
		Role: req.Role, ExpiresIn: life, MaxUses: req.MaxUses, Takeover: req.Takeover, CreatedBy: caller(c).name,
		AllowedHosts: req.AllowedHosts, DeniedHosts: req.DeniedHosts,
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, linkCreated{Info: info, URL: s.baseURL(c.Request()) + path + "#" + secret})
}

// listLinks handles GET /v1/sessions/:id/links.
func (s *Server) listLinks(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	return list(c, "links", one.Links(), oldestFirst,
		func(l links.Info) position { return position{l.CreatedAt, l.ID} },
		func(l links.Info) links.Info { return l })
}

// revokeLink handles DELETE /v1/sessions/:id/links/:lid.
func (s *Server) revokeLink(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if err := one.RevokeLink(c.Param("lid")); err != nil {
		return &failure{kind: kindNotFound, detail: "No link of this session has this id.", err: err}
	}
	return c.NoContent(http.StatusNoContent)
}

// redeemLink handles POST /v1/links/redeem. Wrong secrets count as wrong keys.
func (s *Server) redeemLink(c echo.Context) error {
	var req redeemRequest
	body, err := readBody(c, bodyLimit)
	if err != nil {
		return err
	}
	if err := decodeObject(body, &req); err != nil {
		return err
	}
	if req.Secret == "" {
		return badField("secret", "is required")
	}
	peer := peerOf(c.Request())
	if wait := s.signIns.empty(limitedAs(c.Request().RemoteAddr)); wait > 0 {
		return s.tooMany(s.signIns, wait)
	}
	grant, err := s.manager.RedeemLink(req.Secret, networkOf(c.Request()))
	if errors.Is(err, links.ErrBusy) {
		return err
	}
	if err != nil {
		node, wrong := s.nodeOfLink(c, req.Path)
		if wrong != nil {
			return wrong
		}
		if node != nil {
			err = s.forward(c, node, body)
			if c.Response().Status == http.StatusForbidden {
				s.signIns.take(limitedAs(c.Request().RemoteAddr))
			}
			return err
		}
		s.signIns.take(limitedAs(c.Request().RemoteAddr))
		s.wrongKey(c.Request(), "link")
		return err
	}
	s.log.Info("link used", "session", grant.SessionID, "link", grant.LinkID, "role", grant.Role, "from", peer)
	for _, l := range caller(c).lost { // so that a browser does not collect the cookies of ended links
		if _, known := errors.AsType[*links.Error](l.err); !known && s.cfg.Cluster != nil {
			continue // a link of another node
		}
		ended := s.grantCookie(c.Request(), l.Grant, req.Embedded)
		ended.Value, ended.MaxAge = "", -1
		c.SetCookie(ended)
	}
	c.SetCookie(s.grantCookie(c.Request(), grant, req.Embedded))
	return c.JSON(http.StatusOK, grant)
}
