package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// reloadPath is the path that pages listen on for the next build.
const reloadPath = "/dev/reload"

// reloadScript reloads the page as soon as there is a newer build than the
// page's.
const reloadScript = `<script nonce="%s">new EventSource('` + reloadPath + `?build=%s').onmessage = () => location.reload();</script>`

// proxy forwards requests to the present server.
type proxy struct {
	mu     sync.Mutex
	target *url.URL
	ready  chan struct{} // closed while there is a server to forward to
	build  string        // id of the newest build
	next   chan struct{} // closed at the next reload
}

func newProxy() *proxy {
	return &proxy{ready: make(chan struct{}), build: newBuild(), next: make(chan struct{})}
}

// newBuild returns a new id for a build. It differs from the ids of earlier runs
// of dev.
func newBuild() string { return strconv.FormatInt(time.Now().UnixNano(), 36) }

// hold makes requests wait for forward.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.target != nil {
		p.target, p.ready = nil, make(chan struct{})
	}
}

// forward makes requests go to a server, starting with those that wait.
func (p *proxy) forward(address string) {
	target, err := url.Parse(address)
	if err != nil {
		log.Printf("the server listens on %q: %v", address, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	close(p.ready)
}

// reload makes all open pages reload themselves.
func (p *proxy) reload() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.next)
	p.build = newBuild()
	p.next = make(chan struct{})
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	ready, build, next := p.ready, p.build, p.next
	p.mu.Unlock()
	if r.URL.Path == reloadPath {
		tellReload(w, r, r.URL.Query().Get("build") != build, next)
		return
	}
	select {
	case <-ready:
	case <-r.Context().Done():
		return
	}
	p.mu.Lock()
	target, build := p.target, p.build
	p.mu.Unlock()
	if target == nil {
		http.Error(w, "The server is starting again. Reload the page.", http.StatusServiceUnavailable)
		return
	}
	(&httputil.ReverseProxy{
		Rewrite: func(out *httputil.ProxyRequest) {
			out.SetURL(target)
			out.Out.Host = out.In.Host // because the server compares it with origins
			if strings.Contains(out.In.Header.Get("Accept"), "text/html") {
				out.Out.Header.Del("Accept-Encoding") // so that the script can be added
			}
		},
		ModifyResponse: func(res *http.Response) error { return addScript(res, build) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway) // the server has stopped in between
		},
	}).ServeHTTP(w, r)
}

// tellReload sends one event: at once to a page of an older build, and otherwise
// when the next build is done.
func tellReload(w http.ResponseWriter, r *http.Request, old bool, next <-chan struct{}) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	if !old {
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
	_, _ = io.WriteString(w, "data: reload\n\n")
}

var nonce = regexp.MustCompile(`'nonce-([^']+)'`)

// addScript adds reloadScript to Takeover's pages, whose content security policy
// has a nonce.
func addScript(res *http.Response, build string) error {
	allowed := nonce.FindStringSubmatch(res.Header.Get("Content-Security-Policy"))
	if allowed == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") || res.Header.Get("Content-Encoding") != "" {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return err
	}
	body = bytes.Replace(body, []byte("</body>"), fmt.Appendf(nil, reloadScript+"</body>", allowed[1], build), 1)
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.ContentLength = int64(len(body))
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}
