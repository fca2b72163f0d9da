// Package links makes, checks and ends the share links of sessions.
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
)

// Role says what the visitors by a link may do.
type Role string

// The roles: view sees, takeover answers a takeover and controls meanwhile,
// control may take control at any time.
const (
	RoleView     Role = "view"
	RoleTakeover Role = "takeover"
	RoleControl  Role = "control"
)

var (
	// ErrInvalid is the error of a link that is unknown, expired, used up or revoked.
	// An Error says which.
	ErrInvalid = errors.New("this link is not valid any more")
	// ErrNotFound is the error of an id that names no open link of the session.
	ErrNotFound = errors.New("not found")
	// ErrTooMany is the error of one link more than a session may have.
	ErrTooMany = errors.New("too many")
)

const (
	defaultLife = time.Hour
	maxLife     = 30 * 24 * time.Hour
	maxUses     = 1000
	maxOpen     = 100 // links of one session
	keptVisits  = 50  // uses remembered of one link
	keptDead    = 50  // links of one session remembered after they ended
)

// State says whether a share link opens anything, and why not.
type State string

// The states of a link. A used-up link opens nothing more; the people who came by
// it may stay until it expires.
const (
	Open    State = "open"
	UsedUp  State = "used up"
	Expired State = "expired"
	Revoked State = "revoked"
	Ended   State = "ended" // with its session
)

// Error says why a link opens nothing. It is an ErrInvalid.
type Error struct{ State State }

// Error tells the person who followed the link why it opens nothing.
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

// Unwrap makes it an ErrInvalid.
func (e *Error) Unwrap() error { return ErrInvalid }

// Options says what a share link allows.
type Options struct {
	Role      Role
	ExpiresIn time.Duration // default one hour
	MaxUses   int           // times its secret may be traded; 0: as often as wanted
	Takeover  string        // the takeover it leads to, or empty for the session
	CreatedBy string
}

// Info is a share link as the API lists it. Its secret is not kept.
type Info struct {
	ID        string     `json:"id"`
	SessionID string     `json:"sessionId"`
	Takeover  string     `json:"takeover,omitempty"`
	Role      Role       `json:"role"`
	State     State      `json:"state"`
	CreatedAt time.Time  `json:"createdAt"`
	CreatedBy string     `json:"createdBy,omitempty"`
	ExpiresAt time.Time  `json:"expiresAt"`
	EndedAt   *time.Time `json:"endedAt,omitempty"` // when it was revoked, or its session ended
	MaxUses   int        `json:"maxUses"`
	Uses      int        `json:"uses"`
	Visits    []Visit    `json:"visits"` // the last 50 uses, oldest first
}

// Visit is one use of a link: somebody traded its secret, and may have become a
// viewer.
type Visit struct {
	Number int       `json:"number"` // from 1
	At     time.Time `json:"at"`
	From   string    `json:"from"`             // the network it came from, not the address
	Viewer string    `json:"viewer,omitempty"` // the last one
	Here   bool      `json:"here"`             // that viewer looks at the session now
}

// Grant is what a redeemed link gives.
type Grant struct {
	SessionID string    `json:"sessionId"`
	LinkID    string    `json:"linkId"`
	Visit     int       `json:"visit"` // the number of the use it came of
	Takeover  string    `json:"takeover,omitempty"`
	Role      Role      `json:"role"`
	Expires   time.Time `json:"expires"`
}

// link is a share link with the hash of its secret.
type link struct {
	Info
	hash [sha256.Size]byte
	over chan struct{} // closed when it is revoked or its session ends
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

// dead reports whether the link has expired or ended: nobody may come or stay by it.
func (l *link) dead(now time.Time) bool { return l.EndedAt != nil || now.After(l.ExpiresAt) }

// Registry holds the share links of all sessions. It finds them by their id and by
// the hash of their secret, and remembers ended ones for a while. All methods may
// be called from any goroutine.
type Registry struct {
	archive *archive.Archive // nil for none

	mu     sync.Mutex // guards what follows
	byHash map[[sha256.Size]byte]*link
	byID   map[string]*link
}

// New returns an empty registry. It writes its links to an archive, unless that is
// nil.
func New(a *archive.Archive) *Registry {
	return &Registry{archive: a, byHash: map[[sha256.Size]byte]*link{}, byID: map[string]*link{}}
}

// Create makes a link of a session and its secret: 256 random bits, base64url. The
// error is an *invalid.Error or ErrTooMany.
func (r *Registry) Create(session string, o Options) (Info, string, error) {
	if o.ExpiresIn == 0 {
		o.ExpiresIn = defaultLife
	}
	var bad []invalid.FieldError
	if !slices.Contains([]Role{RoleView, RoleTakeover, RoleControl}, o.Role) {
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
	one := &link{hash: sha256.Sum256([]byte(secret)), over: make(chan struct{}), Info: Info{
		ID: id.New("ln"), SessionID: session, Takeover: o.Takeover, Role: o.Role, State: Open, CreatedAt: now, CreatedBy: o.CreatedBy,
		ExpiresAt: now.Add(o.ExpiresIn), MaxUses: o.MaxUses, Visits: []Visit{},
	}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.makeRoomLocked(session, now) {
		return Info{}, "", ErrTooMany
	}
	r.byHash[one.hash], r.byID[one.ID] = one, one
	r.archiveLocked(one)
	return one.at(now), secret, nil
}

// makeRoomLocked forgets the oldest dead links of a session beyond those kept,
// and reports whether it may have one more.
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

// Redeem trades a secret for a grant. from is the network of the caller, for the
// list of visits. The error is ErrInvalid for an unknown secret, which takes the
// same time for all of them, and an *Error for one that was right once.
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
	one.Uses++
	one.Visits = append(one.Visits, Visit{Number: one.Uses, At: now, From: from})
	if len(one.Visits) > keptVisits {
		one.Visits = slices.Delete(one.Visits, 0, 1)
	}
	r.archiveLocked(one)
	return Grant{SessionID: one.SessionID, LinkID: one.ID, Visit: one.Uses, Takeover: one.Takeover, Role: one.Role, Expires: one.ExpiresAt}, nil
}

// Check returns nil while a grant holds, else ErrInvalid or an *Error.
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
// session ends. It tells nothing of the link's expiry: ask Check.
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

// Joined notes which viewer came by a grant.
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

// List returns a session's links, oldest first. Visit.Here is for the caller to set.
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

// at returns a copy of the link, with its state at a time.
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

// settledLife is how long the links of a takeover outlive the takeover, so that the
// person's page can still say that it is done.
const settledLife = 2 * time.Minute

// Settle lets the links of an ended takeover expire soon.
func (r *Registry) Settle(takeover string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := time.Now().UTC().Add(settledLife)
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

// Restore reads the archived links of the sessions that known names. Call it before
// the archive starts.
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
	l := &link{Info: r.Info, over: make(chan struct{})}
	if len(r.Hash) == sha256.Size {
		copy(l.hash[:], r.Hash)
	}
	if l.EndedAt != nil {
		close(l.over)
	}
	return l
}
