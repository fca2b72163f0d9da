package steel

import (
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"takeover/files"
	"takeover/invalid"
	"takeover/session"
	"takeover/storagestate"
)

// Session has the fields of Steel's session that a session of this server lacks.
type Session struct {
	CreditsUsed       int            `json:"creditsUsed" doc:"Only for Steel's client: 0, because nothing is charged here."`
	OptimizeBandwidth map[string]any `json:"optimizeBandwidth" doc:"Only for Steel's client: an empty object."`
	ProxyBytesUsed    int64          `json:"proxyBytesUsed" doc:"Only for Steel's client: bytes sent and received."`
	ProxySource       *string        `json:"proxySource" doc:"Only for Steel's client: external for a proxyUrl, or null."`
	Headless          bool           `json:"headless" doc:"Only for Steel's client."`
	IsSelenium        bool           `json:"isSelenium" doc:"Only for Steel's client: false."`
	SolveCaptcha      bool           `json:"solveCaptcha" doc:"Only for Steel's client: false."`
	PersistProfile    bool           `json:"persistProfile" doc:"Only for Steel's client: whether the state is saved to the profile."`
	ProfileID         string         `json:"profileId,omitempty" doc:"Only for Steel's client: the profile's id."`
}

// SessionOf returns those fields of a session.
func SessionOf(s *session.Session) *Session {
	info := s.Info()
	v := &Session{OptimizeBandwidth: map[string]any{}, ProxyBytesUsed: info.ProxyTxBytes + info.ProxyRxBytes, Headless: true}
	choices := session.ChoicesOf(s)
	if choices.OwnProxy {
		v.ProxySource = new("external")
	}
	v.PersistProfile, v.ProfileID = choices.Persist, choices.ProfileID
	return v
}

// Status returns a status in Steel's words: live, released or failed.
func Status(status session.Status) string {
	switch status {
	case session.StatusStarting, session.StatusCrashed:
		return string(session.StatusLive)
	default:
		return string(status)
	}
}

// Bandwidth is Steel's field optimizeBandwidth.
type Bandwidth struct {
	BlockHosts       []string `json:"blockHosts,omitempty"`
	BlockImages      bool     `json:"blockImages,omitempty"`
	BlockMedia       bool     `json:"blockMedia,omitempty"`
	BlockStylesheets bool     `json:"blockStylesheets,omitempty"`
	BlockURLPatterns []string `json:"blockUrlPatterns,omitempty"`
}

// Create has the fields of Steel's create that this server's create lacks. What has
// no counterpart here is refused with the reason, if the session would not do what
// the caller relies on.
type Create struct {
	OptimizeBandwidth json.RawMessage `json:"optimizeBandwidth,omitempty" doc:"Only {blockHosts}: hosts that the session does not reach."`
	InactivityTimeout *int64          `json:"inactivityTimeout,omitempty" doc:"The same as idleTimeout, in Steel's client." min:"0" max:"86400000"`
	PersistProfile    bool            `json:"persistProfile,omitempty" doc:"The same as persist, in Steel's client."`
	ProfileID         string          `json:"profileId,omitempty" doc:"The same as profile, in Steel's client."`
	SessionID         string          `json:"sessionId,omitempty" doc:"A UUID that becomes the session's id."`
	UseProxy          json.RawMessage `json:"useProxy,omitempty" doc:"Only {server}: the same as proxyUrl."`
	ExtensionIDs      json.RawMessage `json:"extensionIds,omitempty" doc:"Refused: this server installs no extensions."`
	IsSelenium        json.RawMessage `json:"isSelenium,omitempty" doc:"Refused: this server speaks the DevTools protocol."`
	Credentials       json.RawMessage `json:"credentials,omitempty" doc:"Refused: start with a profile that is signed in, or ask a person."`
}

// Apply sets options from the fields.
func (c *Create) Apply(o *session.CreateOptions) (bad []invalid.FieldError) {
	refuse := func(field, why string) { bad = append(bad, invalid.FieldError{Field: field, Error: why}) }
	for _, f := range []struct {
		name  string
		value json.RawMessage
		why   string
	}{
		{"extensionIds", c.ExtensionIDs, "this server installs no extensions"},
		{"isSelenium", c.IsSelenium, "this server speaks the DevTools protocol, not Selenium's"},
		{"credentials", c.Credentials, "this server injects no credentials; start with a profile that is signed in, or ask a person with a takeover"},
	} {
		if Asks(f.value) {
			refuse(f.name, f.why)
		}
	}
	if c.InactivityTimeout != nil {
		o.IdleTimeout = time.Duration(*c.InactivityTimeout) * time.Millisecond
	}
	if o.Profile == "" {
		o.Profile = c.ProfileID
	}
	o.Persist = o.Persist || c.PersistProfile
	o.ID = c.SessionID
	if Asks(c.OptimizeBandwidth) {
		var b Bandwidth
		if json.Unmarshal(c.OptimizeBandwidth, &b) != nil || b.BlockImages || b.BlockMedia || b.BlockStylesheets || len(b.BlockURLPatterns) > 0 {
			refuse("optimizeBandwidth", "this server blocks hosts only: give {blockHosts}")
		}
		o.Hosts.Denied = append(slices.Clone(o.Hosts.Denied), b.BlockHosts...)
	}
	if Asks(c.UseProxy) {
		var p struct{ Server string }
		if json.Unmarshal(c.UseProxy, &p) != nil || p.Server == "" {
			refuse("useProxy", "this server has no proxies of its own; give proxyUrl, or {server}")
		} else if o.ProxyURL == "" {
			o.ProxyURL = p.Server
		}
	}
	return bad
}

// siteStorage is a storage state in Steel's form, besides its cookies.
type siteStorage struct {
	LocalStorage   map[string]map[string]string `json:"localStorage"`
	SessionStorage map[string]map[string]string `json:"sessionStorage"`
	IndexedDB      json.RawMessage              `json:"indexedDB"`
}

// ReadContext returns a session context in Playwright's form, if it is in Steel's.
// The error is an *invalid.Error.
func ReadContext(raw json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	var given siteStorage
	if json.Unmarshal(raw, &members) != nil || members["origins"] != nil || members["localStorage"] == nil && members["sessionStorage"] == nil && members["indexedDB"] == nil {
		return raw, nil //nolint:nilerr // the parser of states says what is wrong
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, invalid.Field("", "localStorage and sessionStorage must map sites to {name: value}")
	}
	if Asks(given.IndexedDB) {
		return nil, invalid.Field("indexedDB", "lacks the keys and indexes of databases; give origins[].indexedDB, as GET /v1/sessions/:id/context returns it")
	}
	origins := map[string]storagestate.Origin{}
	for kind, sites := range map[string]map[string]map[string]string{"localStorage": given.LocalStorage, "sessionStorage": given.SessionStorage} {
		for site, items := range sites {
			for _, name := range originsOf(site) {
				if origins[name] == nil {
					origins[name] = storagestate.Origin{"localStorage": json.RawMessage("[]")}
					origins[name].SetName(name)
				}
				list := []storagestate.Item{}
				for key, value := range items {
					list = append(list, storagestate.Item{Name: key, Value: value})
				}
				origins[name][kind], _ = json.Marshal(list) // texts always encode
			}
		}
	}
	list := make([]storagestate.Origin, 0, len(origins))
	for _, o := range origins {
		list = append(list, o)
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"localStorage", "sessionStorage", "indexedDB"} {
		delete(members, name)
	}
	members["origins"] = encoded
	return json.Marshal(members)
}

// originsOf returns the origins of a site that Steel's form names by its host: with
// https, and for this machine with http.
func originsOf(site string) []string {
	if strings.Contains(site, "://") {
		return []string{strings.TrimSuffix(site, "/")}
	}
	host, _, err := net.SplitHostPort(site)
	if err != nil {
		host = site
	}
	if net.ParseIP(host) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return []string{"http://" + site}
	}
	return []string{"https://" + site}
}

// AddContext adds the members of Steel's form to a state in Playwright's: storage
// by host, and partition keys as objects.
func AddContext(state *storagestate.State) (map[string]any, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	cookies, _ := out["cookies"].([]any) // always a list
	for i := range cookies {
		cookie, ok := cookies[i].(map[string]any)
		if key := state.Cookies[i].PartitionKey; ok && key != "" {
			across := state.Cookies[i].CrossSiteAncestor
			cookie["partitionKey"] = map[string]any{"topLevelSite": key, "hasCrossSiteAncestor": across == nil || *across}
			delete(cookie, "_crHasCrossSiteAncestor")
		}
	}
	for _, kind := range []string{"localStorage", "sessionStorage"} {
		sites := map[string]map[string]string{}
		for _, o := range state.Origins {
			u, err := url.Parse(o.Name())
			if err != nil {
				continue
			}
			for _, item := range o.Items(kind) {
				if sites[u.Host] == nil {
					sites[u.Host] = map[string]string{}
				}
				sites[u.Host][item.Name] = item.Value
			}
		}
		out[kind] = sites
	}
	return out, nil
}

// File has the fields of Steel's file that a file of this server lacks.
type File struct {
	Path         string    `json:"path"`
	LastModified time.Time `json:"lastModified"`
}

// FileOf returns those fields of a file.
func FileOf(f files.File) File { return File{Path: f.Name, LastModified: f.ModifiedAt} }

// AddList adds the members of Steel's form to one page of a list.
func AddList(answer map[string]any, name string, next *string, total int) {
	answer["nextCursor"], answer["totalCount"] = next, total
	switch name {
	case "files":
		answer["data"] = answer[name]
	case "profiles":
		answer["count"] = total
	}
}
