package policy

import (
	"strings"
	"sync"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
)

// Chromium reaches the web by a proxy of the server's, so all it knows of a request that
// failed there is that it failed. A program is told the error that a Chromium without a
// proxy has.

// maxSites bounds the requests of a session whose addresses a Scope remembers. Of a
// request that was forgotten, a program is told Chromium's own error.
const maxSites = 1000

// requests are the addresses of a session's latest requests.
type requests struct {
	mu    sync.Mutex        // guards what follows
	site  map[string]string // scheme, host and port, by the request's id
	order []string          // ids, oldest first
}

func (r *requests) add(id, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.site == nil {
		r.site = map[string]string{}
	}
	if _, known := r.site[id]; !known {
		if len(r.order) == maxSites {
			delete(r.site, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, id)
	}
	r.site[id] = siteOf(address)
}

func (r *requests) of(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.site[id]
}

// siteOf returns an address without its path. It is empty for one that has no host.
func siteOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Clone(scheme + "://" + rest)
}

// Told returns an event's parameters as the program gets them: a request that failed has
// its right error. It must be given all events.
func (s *Scope) Told(method string, params []byte) []byte {
	switch method {
	case network.RequestWillBeSent.Method:
		var e struct {
			ID      string `json:"requestId"`
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		if decode(params, &e) {
			s.requests.add(e.ID, e.Request.URL)
		}
	case network.LoadingFailed.Method:
		var e struct {
			ID string `json:"requestId"`
		}
		if decode(params, &e) {
			return s.withoutProxy(s.requests.of(e.ID), params)
		}
	}
	return params
}

// Result returns Chromium's result of a command that has passed Check as a program gets
// it, with the right error of a navigation.
func (s *Scope) Result(cmd Command, result []byte) []byte {
	if cmd.Method.Name != page.Navigate.Method {
		return result
	}
	var p struct {
		URL string `json:"url"`
	}
	if !decode(cmd.Params, &p) {
		return result
	}
	return s.withoutProxy(siteOf(p.URL), result)
}

// withoutProxy corrects the error in what Chromium says about a request.
func (s *Scope) withoutProxy(site string, raw []byte) []byte {
	var e struct {
		Error string `json:"errorText"`
	}
	if site == "" || !decode(raw, &e) || e.Error == "" {
		return raw
	}
	right := s.host.Failure(site, e.Error)
	if right == e.Error {
		return raw
	}
	o, err := ReadObject(raw)
	if err == nil {
		err = o.Put("errorText", right)
	}
	if err == nil {
		if out, err := o.Encode(); err == nil {
			return out
		}
	}
	return raw // Chromium's own JSON is valid
}
