// Package storagestate is the stored state of a browser: cookies, the storage of
// sites, and passkeys. Its form is that of Playwright's storageState, so that
// scripts, sessions, profiles and other tools exchange it.
package storagestate

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"takeover/fetch"
	"takeover/invalid"
)

const (
	// MaxOrigins bounds the origins of a state.
	MaxOrigins = 1000
	// maxCookies bounds the cookies of a state. Chromium keeps 3,300 by itself.
	maxCookies = 10_000
	// maxPasskeys bounds the passkeys of a state.
	maxPasskeys = 1000
	// maxReported bounds how many errors a refused state has.
	maxReported = 20

	// lastExpiry is the latest expiry time of a cookie: the last second of the year
	// 9999.
	lastExpiry = 253402300799
)

// State is what a browser has stored. Playwright's form has cookies and origins;
// the session storage in an origin is an addition of ours.
type State struct {
	Cookies     []fetch.Cookie `json:"cookies"`
	Origins     []Origin       `json:"origins"`
	Credentials []Passkey      `json:"credentials,omitempty"`
}

// Origin is the storage of one origin: its name as "origin", and its contents as
// Playwright's storage script encodes them, in "localStorage", "indexedDB" and
// "opfs". In "sessionStorage", it has a list like that in "localStorage".
type Origin map[string]json.RawMessage

// Name returns the name of the origin, such as "https://example.com".
func (o Origin) Name() string {
	var origin string
	_ = json.Unmarshal(o["origin"], &origin) // null is not an origin
	return origin
}

// SetName sets the name of the origin.
func (o Origin) SetName(name string) {
	o["origin"], _ = json.Marshal(name) // encoding a string cannot fail
}

// Empty reports whether nothing is stored that outlives the tab.
func (o Origin) Empty() bool {
	for _, name := range []string{"localStorage", "indexedDB", "opfs"} {
		if raw := string(o[name]); raw != "" && raw != "[]" && raw != "null" {
			return false
		}
	}
	return true
}

// Item is one entry of local or session storage.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Items returns the entries of "localStorage" or "sessionStorage".
func (o Origin) Items(kind string) []Item {
	var items []Item
	_ = json.Unmarshal(o[kind], &items) // Check has refused other types
	return items
}

// Passkey is a WebAuthn credential of a virtual authenticator. Binary values are
// in base64url without padding, as in Playwright's form. The names of the user and
// the large blob are additions of ours.
type Passkey struct {
	ID              string `json:"id"`
	RPID            string `json:"rpId"` // the relying party: a site's domain
	UserHandle      string `json:"userHandle"`
	PrivateKey      string `json:"privateKey"` // PKCS #8
	PublicKey       string `json:"publicKey"`  // SubjectPublicKeyInfo; derived from the private key
	SignCount       int64  `json:"signCount"`
	UserName        string `json:"userName,omitempty"`
	UserDisplayName string `json:"userDisplayName,omitempty"`
	LargeBlob       string `json:"largeBlob,omitempty"`
	NotDiscoverable bool   `json:"notDiscoverable,omitempty"` // a site must name it to use it
}

// given is a state as callers send it. A cookie may have a URL in place of domain
// and path.
type given struct {
	Cookies     []givenCookie `json:"cookies"`
	Origins     []Origin      `json:"origins"`
	Credentials []Passkey     `json:"credentials"`
}

type givenCookie struct {
	fetch.Cookie
	URL          string         `json:"url"`
	Expires      *float64       `json:"expires"`
	PartitionKey givenPartition `json:"partitionKey"`
}

// givenPartition is a partition key: a site, or an object as Chromium has it.
type givenPartition struct {
	site   string
	across *bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *givenPartition) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &p.site) == nil {
		return nil
	}
	var key struct {
		TopLevelSite         string `json:"topLevelSite"`
		HasCrossSiteAncestor *bool  `json:"hasCrossSiteAncestor"`
	}
	err := json.Unmarshal(raw, &key)
	p.site, p.across = key.TopLevelSite, key.HasCrossSiteAncestor
	return err
}

// isState reports whether JSON has at least one member of a state, or none at all. Whoever
// sends only others has misspelt them.
func isState(raw []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && (len(members) == 0 || members["cookies"] != nil || members["origins"] != nil || members["credentials"] != nil)
}

func notState() *invalid.Error {
	return invalid.Field("", "must be a JSON object with cookies, origins or credentials")
}

// Parse reads a state from JSON and checks it. Further members of cookies and of
// the state are ignored, because other tools add some. The error is an
// *invalid.Error with the names of the fields.
func Parse(raw []byte) (*State, error) {
	var g given
	if err := json.Unmarshal(raw, &g); err != nil {
		wrong, ok := err.(*json.UnmarshalTypeError) //nolint:errorlint // Unmarshal does not wrap it
		switch {
		case !ok:
			return nil, invalid.Field("", "must be JSON: %v", err)
		case wrong.Field == "":
			return nil, notState()
		}
		got, _, _ := strings.Cut(wrong.Value, " ")                                                                 // for a number, it also contains the number
		return nil, invalid.Field(strings.Replace(wrong.Field, ".Cookie.", ".", 1), "must not be of type %s", got) // without the name of an embedded struct
	}
	if g.Cookies == nil && g.Origins == nil && g.Credentials == nil && !isState(raw) {
		return nil, notState()
	}
	s := &State{Cookies: []fetch.Cookie{}, Origins: g.Origins, Credentials: g.Credentials}
	if s.Origins == nil {
		s.Origins = []Origin{}
	}
	var bad []invalid.FieldError
	for i, c := range g.Cookies {
		cookie, err := c.read()
		if err != nil {
			bad = append(bad, invalid.FieldError{Field: fmt.Sprintf("cookies[%d]", i), Error: err.Error()})
			continue
		}
		s.Cookies = append(s.Cookies, cookie)
	}
	bad = append(bad, s.wrong()...)
	if len(bad) > 0 {
		return nil, &invalid.Error{Fields: bad[:min(len(bad), maxReported)]}
	}
	return s, nil
}

// read returns the cookie with domain and path.
func (g givenCookie) read() (fetch.Cookie, error) {
	c := g.Cookie
	c.Expires = -1
	if c.PartitionKey = g.PartitionKey.site; g.PartitionKey.across != nil {
		c.CrossSiteAncestor = g.PartitionKey.across
	}
	if g.Expires != nil {
		c.Expires = *g.Expires
	}
	if g.URL != "" {
		u, err := url.Parse(g.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return c, fmt.Errorf("%.64q is not the URL of a site", g.URL)
		}
		if c.Domain == "" {
			c.Domain, c.Secure = u.Hostname(), c.Secure || u.Scheme == "https"
		}
	}
	if c.Path == "" {
		c.Path = "/"
	}
	if c.SameSite == "" {
		c.SameSite = "Lax" // as browsers take it; Playwright refuses a state without
	}
	switch {
	case c.Domain == "":
		return c, fmt.Errorf("the cookie %.64q has no domain", c.Name)
	case c.Expires < 0 && c.Expires != -1 || c.Expires > lastExpiry:
		return c, fmt.Errorf("expires of %.64q must be -1, or a time in seconds", c.Name)
	case !slices.Contains([]string{"Strict", "Lax", "None"}, c.SameSite):
		return c, fmt.Errorf("sameSite of %.64q must be Strict, Lax or None", c.Name)
	}
	return c, nil
}

// wrong returns what is wrong with a state, except for its cookies.
func (s *State) wrong() (bad []invalid.FieldError) {
	add := func(field, format string, args ...any) {
		bad = append(bad, invalid.FieldError{Field: field, Error: fmt.Sprintf(format, args...)})
	}
	for _, list := range []struct {
		name      string
		have, max int
	}{{"cookies", len(s.Cookies), maxCookies}, {"origins", len(s.Origins), MaxOrigins}, {"credentials", len(s.Credentials), maxPasskeys}} {
		if list.have > list.max {
			add(list.name, "must have at most %d entries", list.max)
		}
	}
	if len(bad) > 0 {
		return bad
	}
	for i, o := range s.Origins {
		if !IsOrigin(o.Name()) {
			add(fmt.Sprintf("origins[%d].origin", i), "%.64q is not an origin, such as https://example.com", o.Name())
		}
		for _, kind := range []string{"localStorage", "sessionStorage"} {
			var items []Item
			if raw := o[kind]; raw != nil && json.Unmarshal(raw, &items) != nil {
				add(fmt.Sprintf("origins[%d].%s", i, kind), "must be a list of {name, value}")
			}
		}
	}
	for i := range s.Credentials {
		if err := s.Credentials[i].complete(); err != nil {
			add(fmt.Sprintf("credentials[%d]", i), "%v", err)
		}
	}
	return bad
}

// IsOrigin reports whether a text is the origin of a web site.
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// OriginNames returns the names of the state's origins.
func (s *State) OriginNames() []string {
	names := make([]string, len(s.Origins))
	for i, o := range s.Origins {
		names[i] = o.Name()
	}
	return names
}
