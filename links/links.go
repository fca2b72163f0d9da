// Package links creates, checks and ends the share links of sessions.
package links

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"time"

	"takeover/archive"
	"takeover/id"
	"takeover/invalid"

	"golang.org/x/time/rate"
)

// Role says what visitors with a link may do.
type Role string

// The roles: view may watch; takeover may answer a takeover, and control the
// session meanwhile; control may take control at any time.
const (
	RoleView     Role = "view"
	RoleTakeover Role = "takeover"
	RoleControl  Role = "control"
)

// Rank orders the roles: each includes those with a lower rank. It is 0 for what is no role.
func (r Role) Rank() int { return slices.Index([]Role{RoleView, RoleTakeover, RoleControl}, r) + 1 }

var (
	// ErrInvalid is returned for a link that is unknown, expired, used up or
	// revoked. An Error says which.
	ErrInvalid = errors.New("this link is not valid any more")
	// ErrNotFound is returned for an id that names no link of the session, or
	// one that has expired or ended.
	ErrNotFound = errors.New("not found")
	// ErrTooMany is returned when a session already has as many links as it may
	// have.
	ErrTooMany = errors.New("too many")
	// ErrBusy is returned for a link that is used too often in a short time.
	ErrBusy = errors.New("this link is opened too often: try again in a few seconds")
)

const (
	defaultLife = time.Hour
	maxLife     = 30 * 24 * time.Hour
	maxUses     = 1000
	maxOpen     = 100 // links of one session that have not expired or ended
	keptVisits  = 50  // number of uses remembered of one link
	firstVisits = 10  // of these, the first ones
	keptDead    = 50  // number of ended links remembered of one session
	maxAtOnce   = 60  // uses of one link at once; then one in a second
)

// State says whether a share link still opens the session, and if not, why.
type State string

// The states of a link. A used-up link admits nobody else; visitors who used it
// may stay until it expires.
const (
	Open    State = "open"
	UsedUp  State = "used up"
	Expired State = "expired"
	Revoked State = "revoked"
	Ended   State = "ended" // ended with its session
)

// Error says why a link no longer opens the session. It wraps ErrInvalid.
type Error struct{ State State }

// Error returns a message for the person who followed the link.
func (e *Error) Error() string {
	switch e.State {
	case UsedUp:
		return "this link has been used as often as it allows"
	case Expired:
		return "this link has expired"
	case Revoked:
		return "this link was revoked"
	case Ended:
		return "the session of this link has ended"
	default:
		return ErrInvalid.Error()
	}
}

// Unwrap returns ErrInvalid.
func (e *Error) Unwrap() error { return ErrInvalid }

// Options says what a share link allows.
type Options struct {
	Role      Role
	ExpiresIn time.Duration // default one hour
	MaxUses   int           // how often the link may be used; 0 for no limit
	Takeover  string        // the takeover that it leads to, or empty for the session
	CreatedBy string

	// AllowedHosts and DeniedHosts narrow what the session reaches while a person
	// with the link is in control. The caller has checked them.
	AllowedHosts, DeniedHosts []string
}

// Info is a share link as the API lists it. Its secret is not kept.
type Info struct {
	ID        string     `json:"id" doc:"The link's id."`
	SessionID string     `json:"sessionId" doc:"The session that it opens."`
	Takeover  string     `json:"takeover,omitempty" doc:"The takeover that it opens, if it is for one."`
	Role      Role       `json:"role" doc:"What people with it may do."`
	State     State      `json:"state" doc:"Whether it still opens the session, and why not."`
	CreatedAt time.Time  `json:"createdAt" doc:"When it was made."`
	CreatedBy string     `json:"createdBy,omitempty" doc:"Who made it."`
	ExpiresAt time.Time  `json:"expiresAt" doc:"When it stops working."`
	EndedAt   *time.Time `json:"endedAt,omitempty" doc:"When it was revoked, or its session ended."`
	MaxUses   int        `json:"maxUses" doc:"How many browsers may open it; 0 for any number."`
	Uses      int        `json:"uses" doc:"How many browsers have opened it."`
	Visits    []Visit    `json:"visits" doc:"The first 10 uses and the last 40, oldest first."`

	AllowedHosts []string `json:"allowedHosts,omitempty" doc:"The only hosts that the session reaches while a person with the link is in control."`
	DeniedHosts  []string `json:"deniedHosts,omitempty" doc:"Hosts that the session does not reach while a person with the link is in control."`
}

// Visit is one use of a link. The visitor may have become a viewer.
type Visit struct {
	Number int       `json:"number" doc:"From 1."`
	At     time.Time `json:"at" doc:"When."`
	From   string    `json:"from" doc:"The network that it came from, not the address."`
	Viewer string    `json:"viewer,omitempty" doc:"The last viewer of this visit."`
	Here   bool      `json:"here" doc:"Whether that viewer is in the session now."`
}

// Grant is what a visitor gets for a link's secret.
type Grant struct {
	SessionID string    `json:"sessionId" doc:"The session that the link opens."`
	LinkID    string    `json:"linkId" doc:"The link."`
	Visit     int       `json:"visit" doc:"The number of the visit."`
	Takeover  string    `json:"takeover,omitempty" doc:"The takeover that the link opens, if it is for one."`
	Role      Role      `json:"role" doc:"What the visitor may do."`
	Expires   time.Time `json:"expires" doc:"When the link stops working."`
}

// link is a share link with the hash of its secret.
type link struct {
	Info
	hash [sha256.Size]byte
	over chan struct{} // closed when it is revoked or its session ends
	rate *rate.Limiter // of its uses
}

// newLink returns a link with the hash of its secret.
func newLink(info Info, hash [sha256.Size]byte) *link {
	return &link{Info: info, hash: hash, over: make(chan struct{}), rate: rate.NewLimiter(1, maxAtOnce)}
}

// stateAt returns the link's state at a time.
func (l *link) stateAt(now time.Time) State {
	switch {
	case l.EndedAt != nil:
		return l.State
	case now.After(l.ExpiresAt):
		return Expired
	case l.MaxUses > 0 && l.Uses >= l.MaxUses:
		return UsedUp
	}
	return Open
}

// dead reports whether the link has expired or ended, so that nobody may enter or
// stay with it.
func (l *link) dead(now time.Time) bool { return l.EndedAt != nil || now.After(l.ExpiresAt) }

// Registry holds the share links of all sessions. It finds a link by its id or by
// the hash of its secret, and remembers ended links for a while. All methods may
// be called from any goroutine.
type Registry struct {
	archive *archive.Archive // nil if links are not archived

	mu     sync.Mutex // guards what follows
	byHash map[[sha256.Size]byte]*link
	byID   map[string]*link
}

// New returns an empty registry. It writes its links to the archive, unless that
// is nil.
func New(a *archive.Archive) *Registry {
	return &Registry{archive: a, byHash: map[[sha256.Size]byte]*link{}, byID: map[string]*link{}}
}

// Create creates a link to a session and returns it with its secret: 256 random
// bits as base64url. The error is an *invalid.Error or ErrTooMany.
func (r *Registry) Create(session string, o Options) (Info, string, error) {
	if o.ExpiresIn == 0 {
		o.ExpiresIn = defaultLife
	}
	var bad []invalid.FieldError
	if o.Role.Rank() == 0 {
		bad = append(bad, invalid.FieldError{Field: "role", Error: "must be view, control or takeover"})
	}
	if o.ExpiresIn < time.Second || o.ExpiresIn > maxLife {
		bad = append(bad, invalid.FieldError{Field: "expiresIn", Error: "must be between 1000 and 2592000000 ms"})
	}
	if o.MaxUses < 0 || o.MaxUses > maxUses {
		bad = append(bad, invalid.FieldError{Field: "maxUses", Error: "must be between 0 and 1000"})
	}
	if len(bad) > 0 {
		return Info{}, "", &invalid.Error{Fields: bad}
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // crypto/rand never fails
	secret := base64.RawURLEncoding.EncodeToString(raw)
	now := time.Now().UTC()
	one := newLink(Info{
		ID: id.New("ln"), SessionID: session, Takeover: o.Takeover, Role: o.Role, State: Open, CreatedAt: now, CreatedBy: o.CreatedBy,
		ExpiresAt: now.Add(o.ExpiresIn), MaxUses: o.MaxUses, Visits: []Visit{},
		AllowedHosts: slices.Clone(o.AllowedHosts), DeniedHosts: slices.Clone(o.DeniedHosts),
	}, sha256.Sum256([]byte(secret)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.makeRoomLocked(session, now) {
		return Info{}, "", ErrTooMany
	}
	r.byHash[one.hash], r.byID[one.ID] = one, one
	r.archiveLocked(one)
	return one.at(now), secret, nil
}

// makeRoomLocked forgets a session's oldest dead links beyond those that are
// kept. It reports whether the session may have one more link.
func (r *Registry) makeRoomLocked(session string, now time.Time) bool {
	all := r.ofLocked(session)
	dead := 0
	for _, one := range slices.Backward(all) {
		if !one.dead(now) {
			continue
		}
		if dead++; dead > keptDead {
			r.dropLocked(one)
		}
	}
	return len(all)-dead < maxOpen
}

func (r *Registry) dropLocked(one *link) {
	delete(r.byHash, one.hash)
	delete(r.byID, one.ID)
	r.archive.Drop(key(one))
}

// Redeem exchanges a secret for a grant. from is the network of the caller, for
// the list of visits. The error is ErrInvalid for an unknown secret, an
// *Error for one that was valid once, or ErrBusy. All unknown secrets take the same time.
func (r *Registry) Redeem(secret, from string) (Grant, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.byHash[sha256.Sum256([]byte(secret))]
	if one == nil {
		return Grant{}, ErrInvalid
	}
	now := time.Now().UTC()
	if state := one.stateAt(now); state != Open {
		return Grant{}, &Error{state}
	}
	if !one.rate.AllowN(now, 1) {
		return Grant{}, ErrBusy
	}
	one.Uses++
	one.Visits = append(one.Visits, Visit{Number: one.Uses, At: now, From: from})
	if len(one.Visits) > keptVisits { // many uses must not hide the first ones
		one.Visits = slices.Delete(one.Visits, firstVisits, firstVisits+1)
	}
	r.archiveLocked(one)
	return Grant{SessionID: one.SessionID, LinkID: one.ID, Visit: one.Uses, Takeover: one.Takeover, Role: one.Role, Expires: one.ExpiresAt}, nil
}

// Check returns nil while a grant is valid, and otherwise ErrInvalid or an
// *Error.
func (r *Registry) Check(g Grant) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.byID[g.LinkID]
	if one == nil || one.SessionID != g.SessionID || one.Role != g.Role {
		return ErrInvalid
	}
	if now := time.Now(); one.dead(now) {
		return &Error{one.stateAt(now)}
	}
	return nil
}

// Over returns a channel that is closed when the grant's link is revoked or its
// session ends. It is not closed when the link expires: use Check for that.
func (r *Registry) Over(g Grant) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.byID[g.LinkID]; one != nil {
		return one.over
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Hosts returns the lists of hosts of a link.
func (r *Registry) Hosts(id string) (allowed, denied []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.byID[id]; one != nil {
		return one.AllowedHosts, one.DeniedHosts
	}
	return nil, nil
}

// Joined records which viewer used a grant.
func (r *Registry) Joined(g Grant, viewer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.byID[g.LinkID]
	if one == nil {
		return
	}
	for i := range one.Visits {
		if one.Visits[i].Number == g.Visit {
			one.Visits[i].Viewer = viewer
		}
	}
	r.archiveLocked(one)
}

// List returns a session's links, oldest first. The caller sets Visit.Here.
func (r *Registry) List(session string) []Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	list := []Info{}
	for _, one := range r.ofLocked(session) {
		list = append(list, one.at(now))
	}
	return list
}

// at returns a copy of the link with its state at a time.
func (l *link) at(now time.Time) Info {
	c := l.Info
	c.State = l.stateAt(now)
	c.Visits = slices.Clone(l.Visits)
	return c
}

// ofLocked returns a session's links, oldest first.
func (r *Registry) ofLocked(session string) []*link {
	var list []*link
	for _, one := range r.byID {
		if one.SessionID == session {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b *link) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// Revoke ends one link of a session, or returns ErrNotFound.
func (r *Registry) Revoke(session, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.byID[id]
	now := time.Now()
	if one == nil || one.SessionID != session || one.dead(now) {
		return ErrNotFound
	}
	one.endLocked(Revoked, now)
	r.archiveLocked(one)
	return nil
}

// End ends all links of a session that has ended.
func (r *Registry) End(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, one := range r.ofLocked(session) {
		if !one.dead(now) {
			one.endLocked(Ended, now)
			r.archiveLocked(one)
		}
	}
}

// endLocked ends the link; the registry is locked.
func (l *link) endLocked(state State, now time.Time) {
	at := now.UTC()
	l.State, l.EndedAt = state, &at
	close(l.over)
}

// Forget drops all links of a session.
func (r *Registry) Forget(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.ofLocked(session) {
		r.dropLocked(one)
	}
}

// resolvedLife is how long the links of a takeover outlive the takeover, so that the
// person's page can still say that it is done.
const resolvedLife = 2 * time.Minute

// Expire makes the links of an ended takeover expire soon.
func (r *Registry) Expire(takeover string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := time.Now().UTC().Add(resolvedLife)
	for _, info := range r.byID {
		if info.Takeover == takeover && info.ExpiresAt.After(end) {
			info.ExpiresAt = end
			r.archiveLocked(info)
		}
	}
}

// record is a link in the archive, with the hash of its secret.
type record struct {
	Info
	Hash []byte `json:"hash"`
}

func key(l *link) archive.Key {
	return archive.Key{Kind: archive.Links, Session: l.SessionID, ID: l.ID}
}

// archiveLocked writes the link's present state soon.
func (r *Registry) archiveLocked(l *link) {
	r.archive.Later(key(l), func(ctx context.Context) (int, error) {
		r.mu.Lock()
		rec := record{Info: l.Info, Hash: slices.Clone(l.hash[:])}
		rec.Visits = append([]Visit{}, l.Visits...)
		r.mu.Unlock()
		return r.archive.Set(ctx, key(l), rec)
	})
}

// Restore reads the archived links of those sessions that known accepts. Call it
// before the archive starts.
func (r *Registry) Restore(ctx context.Context, known func(session string) bool) error {
	return archive.Read(ctx, r.archive, archive.Links, func(k archive.Key, rec record) (int, error) {
		if known(k.Session) {
			l := rec.link()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.byHash[l.hash], r.byID[l.ID] = l, l
		}
		return 0, nil
	})
}

func (r record) link() *link {
	var hash [sha256.Size]byte
	if len(r.Hash) == sha256.Size {
		copy(hash[:], r.Hash)
	}
	l := newLink(r.Info, hash)
	if l.EndedAt != nil {
		close(l.over)
	}
	return l
}
