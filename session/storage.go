package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"takeover/browser"
)

// StorageState is a session's cookies and storage, in the form of Playwright's
// storageState. SessionStorage is an addition of ours.
type StorageState struct {
	Cookies []StateCookie `json:"cookies"`
	Origins []StateOrigin `json:"origins"`
}

// StateCookie is one cookie. Expires is in seconds since the epoch, -1 for one
// that ends with the browser.
type StateCookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"` // Strict, Lax or None
}

// StateOrigin is the storage of one origin.
type StateOrigin struct {
	Origin         string      `json:"origin"`
	LocalStorage   []StateItem `json:"localStorage"`
	SessionStorage []StateItem `json:"sessionStorage"`
}

// StateItem is one entry of a storage.
type StateItem struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// readStorage is run in the page.
const readStorage = `() => {
	const items = storage => Object.keys(storage).map(name => ({ name, value: storage.getItem(name) }));
	return { origin: location.origin, localStorage: items(localStorage), sessionStorage: items(sessionStorage) };
}`

// StorageState reads the cookies of the session and the storage of the origins
// that its tabs show.
func (s *Session) StorageState(ctx context.Context) (StorageState, error) {
	eng, err := s.ready()
	if err != nil {
		return StorageState{}, err
	}
	state := StorageState{Cookies: []StateCookie{}, Origins: []StateOrigin{}}
	cookies, err := s.cookies()
	if err != nil {
		return StorageState{}, err
	}
	for _, c := range cookies {
		sameSite := string(c.SameSite)
		if sameSite == "" {
			sameSite = "Lax" // what Chromium takes a cookie without the attribute for
		}
		expires := c.Expires
		if c.Session {
			expires = -1
		}
		state.Cookies = append(state.Cookies, StateCookie{
			Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: expires,
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: sameSite,
		})
	}
	for _, p := range eng.model.Pages() {
		for _, f := range p.Frames() {
			if origin, ok := readOrigin(ctx, f); ok && !slices.ContainsFunc(state.Origins, func(o StateOrigin) bool { return o.Origin == origin.Origin }) {
				state.Origins = append(state.Origins, origin)
			}
		}
	}
	return state, nil
}

// readOrigin reads a frame's storage; false for a frame that has none, such as
// about:blank or a sandboxed one.
func readOrigin(ctx context.Context, f *browser.Frame) (StateOrigin, bool) {
	if !strings.HasPrefix(f.URL(), "http") {
		return StateOrigin{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	world, err := f.World(ctx, browser.WorldUtility)
	if err != nil {
		return StateOrigin{}, false
	}
	res, err := world.Call(ctx, browser.CallOptions{Function: readStorage, ByValue: true})
	if err != nil {
		return StateOrigin{}, false
	}
	var origin StateOrigin
	if json.Unmarshal(res.Value, &origin) != nil || len(origin.LocalStorage)+len(origin.SessionStorage) == 0 {
		return StateOrigin{}, false
	}
	return origin, true
}
