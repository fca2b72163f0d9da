package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"
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
	keptLinkUses    = 50 // uses remembered of one link
)

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
	CreatedAt time.Time   `json:"createdAt"`
	CreatedBy string      `json:"createdBy,omitempty"`
	ExpiresAt time.Time   `json:"expiresAt"`
	MaxUses   int         `json:"maxUses"`
	Uses      int         `json:"uses"`
	UsedAt    []time.Time `json:"usedAt"`
}

// LinkGrant is what a redeemed link gives.
type LinkGrant struct {
	SessionID string    `json:"sessionId"`
	LinkID    string    `json:"linkId"`
	Takeover  string    `json:"takeover,omitempty"`
	Role      Role      `json:"role"`
	Expires   time.Time `json:"expires"`
}

// links is a registry's share links, found by the hash of their secret.
type links struct {
	mu     sync.Mutex // guards byHash
	byHash map[[sha256.Size]byte]*LinkInfo
}

func newLinks() *links { return &links{byHash: map[[sha256.Size]byte]*LinkInfo{}} }

// create makes a link and its secret: 256 random bits, base64url.
func (l *links) create(session string, o LinkOptions) (LinkInfo, string, error) {
	if o.ExpiresIn == 0 {
		o.ExpiresIn = defaultLinkLife
	}
	var bad []FieldError
	if !slices.Contains([]Role{RoleView, RoleTakeover, RoleControl}, o.Role) {
		bad = append(bad, FieldError{"role", "must be view, control or takeover"})
	}
	if o.ExpiresIn < time.Second || o.ExpiresIn > maxLinkLife {
		bad = append(bad, FieldError{"expiresIn", "must be between 1000 and 2592000000 ms"})
	}
	if o.MaxUses < 0 || o.MaxUses > maxLinkUses {
		bad = append(bad, FieldError{"maxUses", "must be between 0 and 1000"})
	}
	if len(bad) > 0 {
		return LinkInfo{}, "", &InputError{Fields: bad}
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // crypto/rand never fails
	secret := base64.RawURLEncoding.EncodeToString(raw)
	now := time.Now().UTC()
	info := &LinkInfo{
		ID: newID("ln"), SessionID: session, Takeover: o.Takeover, Role: o.Role, CreatedAt: now, CreatedBy: o.CreatedBy,
		ExpiresAt: now.Add(o.ExpiresIn), MaxUses: o.MaxUses, UsedAt: []time.Time{},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for hash, old := range l.byHash {
		if now.After(old.ExpiresAt) {
			delete(l.byHash, hash)
		}
	}
	if len(l.ofLocked(session)) >= maxLinks {
		return LinkInfo{}, "", ErrTooMany
	}
	l.byHash[sha256.Sum256([]byte(secret))] = info
	return *info, secret, nil
}

// redeem trades a secret. Looking up by hash takes the same time for any secret
// that is not there.
func (l *links) redeem(secret string) (LinkGrant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info := l.byHash[sha256.Sum256([]byte(secret))]
	now := time.Now().UTC()
	if info == nil || now.After(info.ExpiresAt) || info.MaxUses > 0 && info.Uses >= info.MaxUses {
		return LinkGrant{}, ErrLink
	}
	info.Uses++
	if info.UsedAt = append(info.UsedAt, now); len(info.UsedAt) > keptLinkUses {
		info.UsedAt = slices.Delete(info.UsedAt, 0, 1)
	}
	return LinkGrant{SessionID: info.SessionID, LinkID: info.ID, Takeover: info.Takeover, Role: info.Role, Expires: info.ExpiresAt}, nil
}

// check says whether what was once redeemed still holds.
func (l *links) check(g LinkGrant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, info := range l.byHash {
		if info.ID == g.LinkID && info.SessionID == g.SessionID && info.Role == g.Role && time.Now().Before(info.ExpiresAt) {
			return nil
		}
	}
	return ErrLink
}

// list is a session's links, oldest first.
func (l *links) list(session string) []LinkInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.ofLocked(session)
	slices.SortFunc(list, func(a, b LinkInfo) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

func (l *links) ofLocked(session string) []LinkInfo {
	list := []LinkInfo{}
	for _, info := range l.byHash {
		if info.SessionID == session {
			c := *info
			c.UsedAt = slices.Clone(info.UsedAt)
			list = append(list, c)
		}
	}
	return list
}

// revoke drops one link of a session, or all of them when id is empty.
func (l *links) revoke(session, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for hash, info := range l.byHash {
		if info.SessionID == session && (id == "" || info.ID == id) {
			delete(l.byHash, hash)
			found = true
		}
	}
	if !found && id != "" {
		return ErrNotFound
	}
	return nil
}

// settledLinkLife is how long the link of a takeover outlives the takeover, so
// that the person's page can still say that it is done.
const settledLinkLife = 2 * time.Minute

// settle lets the links of a takeover that has ended run out.
func (l *links) settle(takeover string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := deadlineIn(settledLinkLife)
	for _, info := range l.byHash {
		if info.Takeover == takeover && info.ExpiresAt.After(end) {
			info.ExpiresAt = end
		}
	}
}
