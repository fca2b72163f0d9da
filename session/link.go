package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"takeover/invalid"
)

// Role is what a visitor may do.
type Role string

// The roles: view sees, takeover answers a takeover and controls meanwhile,
// control may take control at any time.
const (
	RoleView     Role = "view"
	RoleTakeover Role = "takeover"
	RoleControl  Role = "control"
)

const (
	defaultLinkLife = time.Hour
	maxLinkLife     = 30 * 24 * time.Hour
	maxLinkUses     = 1000
	keptLinkVisits  = 50 // uses remembered of one link
	keptDeadLinks   = 50 // links of one session remembered after they ended
)

// LinkState is whether a share link opens anything, and why not.
type LinkState string

// The states of a link. A used-up one opens nothing more, and who came by it
// stays until it expires.
const (
	LinkOpen    LinkState = "open"
	LinkUsedUp  LinkState = "used up"
	LinkExpired LinkState = "expired"
	LinkRevoked LinkState = "revoked"
	LinkEnded   LinkState = "ended" // with its session
)

// LinkError says why a link opens nothing. It is an ErrLink.
type LinkError struct{ State LinkState }

// Error says it to the person who followed the link.
func (e *LinkError) Error() string {
	switch e.State {
	case LinkUsedUp:
		return "this link was used as often as it allows"
	case LinkExpired:
		return "the time of this link is over"
	case LinkRevoked:
		return "this link was withdrawn"
	case LinkEnded:
		return "the session that this link led to has ended"
	}
	return ErrLink.Error()
}

// Unwrap makes it an ErrLink.
func (e *LinkError) Unwrap() error { return ErrLink }

// LinkOptions says what a share link allows.
type LinkOptions struct {
	Role      Role
	ExpiresIn time.Duration // default one hour
	MaxUses   int           // times its secret may be traded; 0: as often as wanted
	Takeover  string        // the takeover it leads to, or empty for the session
	CreatedBy string
}

// LinkInfo is a share link as the API lists it. Its secret is not kept.
type LinkInfo struct {
	ID        string      `json:"id"`
	SessionID string      `json:"sessionId"`
	Takeover  string      `json:"takeover,omitempty"`
	Role      Role        `json:"role"`
	State     LinkState   `json:"state"`
	CreatedAt time.Time   `json:"createdAt"`
	CreatedBy string      `json:"createdBy,omitempty"`
	ExpiresAt time.Time   `json:"expiresAt"`
	EndedAt   *time.Time  `json:"endedAt,omitempty"` // when it was revoked, or its session ended
	MaxUses   int         `json:"maxUses"`
	Uses      int         `json:"uses"`
	Visits    []LinkVisit `json:"visits"` // the last 50 uses, oldest first
}

// LinkVisit is one use of a link: its secret was traded, and a viewer may have
// come of it.
type LinkVisit struct {
	Number int       `json:"number"` // from 1
	At     time.Time `json:"at"`
	From   string    `json:"from"`             // the network it came from, not the address
	Viewer string    `json:"viewer,omitempty"` // the last one
	Here   bool      `json:"here"`             // that viewer looks at the session now
}

// LinkGrant is what a redeemed link gives.
type LinkGrant struct {
	SessionID string    `json:"sessionId"`
	LinkID    string    `json:"linkId"`
	Visit     int       `json:"visit"` // the number of the use it came of
	Takeover  string    `json:"takeover,omitempty"`
	Role      Role      `json:"role"`
	Expires   time.Time `json:"expires"`
}

// link is a share link and what its end is told by.
type link struct {
	LinkInfo
	hash [sha256.Size]byte
	over chan struct{} // closed when it is revoked or its session ends
}

// stateAt is the link's state at a time.
func (l *link) stateAt(now time.Time) LinkState {
	switch {
	case l.EndedAt != nil:
		return l.State
	case now.After(l.ExpiresAt):
		return LinkExpired
	case l.MaxUses > 0 && l.Uses >= l.MaxUses:
		return LinkUsedUp
	}
	return LinkOpen
}

// dead reports whether nobody comes or stays by the link any more.
func (l *link) dead(now time.Time) bool { return l.EndedAt != nil || now.After(l.ExpiresAt) }

// links is a registry's share links, found by their id and by the hash of their
// secret. Those that ended stay for a while, to be told about.
type links struct {
	archive *archive // nil for none

	mu     sync.Mutex // guards what follows
	byHash map[[sha256.Size]byte]*link
	byID   map[string]*link
}

func newLinks() *links {
	return &links{byHash: map[[sha256.Size]byte]*link{}, byID: map[string]*link{}}
}

// create makes a link and its secret: 256 random bits, base64url.
func (l *links) create(session string, o LinkOptions) (LinkInfo, string, error) {
	if o.ExpiresIn == 0 {
		o.ExpiresIn = defaultLinkLife
	}
	var bad []invalid.FieldError
	if !slices.Contains([]Role{RoleView, RoleTakeover, RoleControl}, o.Role) {
		bad = append(bad, invalid.FieldError{Field: "role", Error: "must be view, control or takeover"})
	}
	if o.ExpiresIn < time.Second || o.ExpiresIn > maxLinkLife {
		bad = append(bad, invalid.FieldError{Field: "expiresIn", Error: "must be between 1000 and 2592000000 ms"})
	}
	if o.MaxUses < 0 || o.MaxUses > maxLinkUses {
		bad = append(bad, invalid.FieldError{Field: "maxUses", Error: "must be between 0 and 1000"})
	}
	if len(bad) > 0 {
		return LinkInfo{}, "", &invalid.Error{Fields: bad}
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // crypto/rand never fails
	secret := base64.RawURLEncoding.EncodeToString(raw)
	now := time.Now().UTC()
	one := &link{hash: sha256.Sum256([]byte(secret)), over: make(chan struct{}), LinkInfo: LinkInfo{
		ID: newID("ln"), SessionID: session, Takeover: o.Takeover, Role: o.Role, State: LinkOpen, CreatedAt: now, CreatedBy: o.CreatedBy,
		ExpiresAt: now.Add(o.ExpiresIn), MaxUses: o.MaxUses, Visits: []LinkVisit{},
	}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.makeRoomLocked(session, now) {
		return LinkInfo{}, "", ErrTooMany
	}
	l.byHash[one.hash], l.byID[one.ID] = one, one
	l.archiveLocked(one)
	return one.at(now), secret, nil
}

// makeRoomLocked forgets the oldest dead links of a session beyond those kept,
// and reports whether it may have one more.
func (l *links) makeRoomLocked(session string, now time.Time) bool {
	all := l.ofLocked(session)
	dead := 0
	for _, one := range slices.Backward(all) {
		if !one.dead(now) {
			continue
		}
		if dead++; dead > keptDeadLinks {
			l.dropLocked(one)
		}
	}
	return len(all)-dead < maxLinks
}

func (l *links) dropLocked(one *link) {
	delete(l.byHash, one.hash)
	delete(l.byID, one.ID)
	l.archive.drop(archiveKey{kindLink, one.SessionID, one.ID})
}

// redeem trades a secret, which came from a network. Looking up by hash takes
// the same time for any secret that is not there; why one that was there opens
// nothing is said to whoever knows it.
func (l *links) redeem(secret, from string) (LinkGrant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byHash[sha256.Sum256([]byte(secret))]
	if one == nil {
		return LinkGrant{}, ErrLink
	}
	now := time.Now().UTC()
	if state := one.stateAt(now); state != LinkOpen {
		return LinkGrant{}, &LinkError{state}
	}
	one.Uses++
	one.Visits = append(one.Visits, LinkVisit{Number: one.Uses, At: now, From: from})
	if len(one.Visits) > keptLinkVisits {
		one.Visits = slices.Delete(one.Visits, 0, 1)
	}
	l.archiveLocked(one)
	return LinkGrant{SessionID: one.SessionID, LinkID: one.ID, Visit: one.Uses, Takeover: one.Takeover, Role: one.Role, Expires: one.ExpiresAt}, nil
}

// check says whether what was once redeemed still holds.
func (l *links) check(g LinkGrant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byID[g.LinkID]
	if one == nil || one.SessionID != g.SessionID || one.Role != g.Role {
		return ErrLink
	}
	if now := time.Now(); one.dead(now) {
		return &LinkError{one.stateAt(now)}
	}
	return nil
}

// over is closed when a grant's link is revoked or its session ends.
func (l *links) over(g LinkGrant) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.byID[g.LinkID]; one != nil {
		return one.over
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// joined keeps which viewer came of a use.
func (l *links) joined(g LinkGrant, viewer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byID[g.LinkID]
	if one == nil {
		return
	}
	for i := range one.Visits {
		if one.Visits[i].Number == g.Visit {
			one.Visits[i].Viewer = viewer
		}
	}
	l.archiveLocked(one)
}

// list is a session's links, oldest first.
func (l *links) list(session string) []LinkInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	list := []LinkInfo{}
	for _, one := range l.ofLocked(session) {
		list = append(list, one.at(now))
	}
	return list
}

// at is a copy of the link as it stands at a time.
func (l *link) at(now time.Time) LinkInfo {
	c := l.LinkInfo
	c.State = l.stateAt(now)
	c.Visits = slices.Clone(l.Visits)
	return c
}

// ofLocked is a session's links, oldest first.
func (l *links) ofLocked(session string) []*link {
	var list []*link
	for _, one := range l.byID {
		if one.SessionID == session {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *link) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// revoke ends one link of a session.
func (l *links) revoke(session, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byID[id]
	now := time.Now()
	if one == nil || one.SessionID != session || one.dead(now) {
		return ErrNotFound
	}
	one.endLocked(LinkRevoked, now)
	l.archiveLocked(one)
	return nil
}

// end ends all links of a session that has ended.
func (l *links) end(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, one := range l.ofLocked(session) {
		if !one.dead(now) {
			one.endLocked(LinkEnded, now)
			l.archiveLocked(one)
		}
	}
}

// endLocked ends the link; links.mu is held.
func (l *link) endLocked(state LinkState, now time.Time) {
	at := now.UTC()
	l.State, l.EndedAt = state, &at
	close(l.over)
}

// forget drops all links of a session that is remembered no longer.
func (l *links) forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.ofLocked(session) {
		l.dropLocked(one)
	}
}

// settledLinkLife is how long the link of a takeover outlives the takeover, so
// that the person's page can still say that it is done.
const settledLinkLife = 2 * time.Minute

// settle lets the links of a takeover that has ended run out.
func (l *links) settle(takeover string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := deadlineIn(settledLinkLife)
	for _, info := range l.byID {
		if info.Takeover == takeover && info.ExpiresAt.After(end) {
			info.ExpiresAt = end
			l.archiveLocked(info)
		}
	}
}
