package session

import (
	"errors"

	"takeover/egress"
	"takeover/invalid"
	"takeover/limits"
	"takeover/links"
)

// Role says what a viewer may do. A share link gives its visitors a role.
type Role = links.Role

// The roles: view may watch; takeover may answer a takeover, and control the page
// meanwhile; control may take control at any time.
const (
	RoleView     = links.RoleView
	RoleTakeover = links.RoleTakeover
	RoleControl  = links.RoleControl
)

// CreateLink creates a share link, and returns it with its secret.
func (s *Session) CreateLink(o links.Options) (links.Info, string, error) {
	if err := s.life.alive(); err != nil {
		return links.Info{}, "", err
	}
	if bad := wrongHosts("allowedHosts", egress.Hosts{Allowed: o.AllowedHosts, Denied: o.DeniedHosts}); bad != nil {
		return links.Info{}, "", &invalid.Error{Fields: bad}
	}
	info, secret, err := s.services.links.Create(s.id, o)
	if errors.Is(err, links.ErrTooMany) {
		s.hit(limits.Links)
	}
	return info, secret, err
}

// Links returns the session's share links, oldest first, and marks visitors who
// are connected.
func (s *Session) Links() []links.Info {
	list := s.services.links.List(s.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	here := map[string]bool{}
	for v := range s.viewers {
		here[v.id] = true
	}
	for _, l := range list {
		for i := range l.Visits {
			l.Visits[i].Here = here[l.Visits[i].Viewer]
		}
	}
	return list
}

// RevokeLink makes a share link invalid at once, also for people who used it.
func (s *Session) RevokeLink(id string) error {
	if err := s.services.links.Revoke(s.id, id); err != nil {
		return err
	}
	s.note("link_revoked", map[string]any{"link": id})
	return nil
}
