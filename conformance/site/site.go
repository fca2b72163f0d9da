// Package site is the web site that the conformance cases visit: minimal pages,
// and routes that return what the server received.
package site

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxBody bounds the body of a request.
	maxBody = 1 << 20
	// maxDelay bounds the delay of /slow.
	maxDelay = 10 * time.Second
)

// The credentials of /basic.
const (
	User     = "ada"
	Password = "engine"
)

// pages are the static pages.
var pages = map[string]string{
	"/empty":     ``,
	"/one":       `<title>One</title><h1>One</h1><a href="/two">to two</a>`,
	"/two":       `<title>Two</title><h1>Two</h1><a href="/one">to one</a>`,
	"/inner":     `<title>Inner</title><p id="text">inside</p><button onclick="document.querySelector('#text').textContent = 'pressed'">Press</button><input aria-label="Field">`,
	"/framed":    `<title>Framed</title><iframe name="inner" src="/inner" title="Inner frame"></iframe>`,
	"/nested":    `<title>Nested</title><iframe name="outer" src="/framed"></iframe>`,
	"/popup":     `<title>Popup</title><p>popup</p>`,
	"/assets":    `<title>Assets</title><link rel="stylesheet" href="/style.css"><script src="/script.js"></script><img src="/pixel.png" alt="Pixel">`,
	"/style.css": `body { background: rgb(1, 2, 3) }`,
	"/script.js": `window.scriptRan = true`,
	"/worker.js": `self.greeting = 'hello from worker'; self.onmessage = e => self.postMessage('echo ' + e.data); console.log('worker started')`,
	"/service": `<title>Service</title><script>
		window.registered = navigator.serviceWorker.register('/service.js');
		window.controlled = new Promise(done => { navigator.serviceWorker.oncontrollerchange = done; });
	</script>`,
	"/service.js": `self.greeting = 'hello from service worker';
		self.oninstall = () => { console.log('installed'); self.skipWaiting(); };
		self.onactivate = e => e.waitUntil(clients.claim());
		self.onfetch = e => {
			const { pathname } = new URL(e.request.url);
			if (pathname === '/from-worker') e.respondWith(new Response('made by the worker'));
			if (pathname === '/through-worker') e.respondWith(fetch('/data.json?through'));
		};`,
	"/cross": `<title>Cross</title><script>addEventListener('message', e => document.body.append(e.data))</script><body>`,
}

var types = map[string]string{".css": "text/css", ".js": "text/javascript", ".png": "image/png"}

// Handler serves the site.
func Handler() http.Handler {
	mux := http.NewServeMux()
	for path, body := range pages {
		contentType, known := types[filepath.Ext(path)]
		if !known {
			contentType, body = "text/html; charset=utf-8", "<!doctype html>"+body
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { write(w, contentType, body) })
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/html; charset=utf-8", "<!doctype html><title>Home</title><h1>Home</h1>")
	})
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/upload", upload)
	mux.HandleFunc("/status/{code}", status)
	mux.HandleFunc("/redirect", redirect)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/data.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "application/json", `{"name":"Ada","tags":["x","y"]}`)
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, strings.Repeat("squeezed ", 100))
		_ = zip.Close()
	})
	mux.HandleFunc("/download", download)
	mux.HandleFunc("/cookie", cookie)
	mux.HandleFunc("/basic", basic)
	mux.HandleFunc("/socket", socket)
	mux.HandleFunc("/policy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'self'")
		write(w, "text/html; charset=utf-8", "<!doctype html><title>Strict</title>")
	})
	mux.HandleFunc("/pixel.png", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "image/png", pixel)
	})
	mux.HandleFunc("/drop", func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // closes the connection without a response
	})
	return http.MaxBytesHandler(mux, maxBody)
}

// pixel is a PNG of one pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"

func write(w http.ResponseWriter, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	_, _ = io.WriteString(w, body)
}

// echo returns what arrived: method, path with query, headers, body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Seen", r.Method)
	w.Header().Add("X-Twice", "first")
	w.Header().Add("X-Twice", "second")
	_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "url": r.URL.RequestURI(), "headers": headers, "body": string(body)})
}

// upload returns the fields and files of a form.
func upload(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(maxBody); err != nil { //nolint:gosec // the body is bounded by MaxBytesHandler
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type file struct{ Field, Name, Type, Text string }
	files := []file{}
	for field, headers := range r.MultipartForm.File {
		for _, h := range headers {
			f, err := h.Open()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			text, _ := io.ReadAll(f)
			_ = f.Close()
			files = append(files, file{field, h.Filename, h.Header.Get("Content-Type"), string(text)})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"fields": r.MultipartForm.Value, "files": files})
}

func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		code = http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, "status %d", code)
}

// redirect redirects to a path of this site, through several redirects if asked
// to.
func redirect(w http.ResponseWriter, r *http.Request) {
	to := "/" + strings.TrimLeft(r.FormValue("to"), `/\`)
	if times, _ := strconv.Atoi(r.FormValue("times")); times > 1 {
		q := r.URL.Query()
		q.Set("times", strconv.Itoa(times-1))
		to = "/redirect?" + q.Encode()
	}
	http.Redirect(w, r, to, http.StatusFound) //nolint:gosec // a path of this site
}

// slow answers after ms milliseconds.
func slow(w http.ResponseWriter, r *http.Request) {
	ms, _ := strconv.Atoi(r.FormValue("ms"))
	if wait(r, ms) {
		write(w, "text/html; charset=utf-8", "<!doctype html><title>Slow</title>slow")
	}
}

// wait waits some milliseconds and reports whether the client is still connected.
func wait(r *http.Request, ms int) bool {
	select {
	case <-time.After(min(time.Duration(ms)*time.Millisecond, maxDelay)):
		return true
	case <-r.Context().Done():
		return false
	}
}

func download(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
	w.Header().Set("X-Content-Type-Options", "nosniff") // otherwise Chromium waits for more
	write(w, "text/plain", "the report")
	if ms, _ := strconv.Atoi(r.FormValue("ms")); ms > 0 { // the end of the body comes late
		_ = http.NewResponseController(w).Flush()
		wait(r, ms)
	}
}

// cookie sets the requested cookie and shows the received ones.
func cookie(w http.ResponseWriter, r *http.Request) {
	if name := r.FormValue("name"); name != "" {
		http.SetCookie(w, &http.Cookie{Name: name, Value: r.FormValue("value"), Path: "/", HttpOnly: r.FormValue("httpOnly") != ""})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>Cookies</title><p id=cookies>%s</p>", html.EscapeString(r.Header.Get("Cookie")))
}

func basic(w http.ResponseWriter, r *http.Request) {
	user, password, ok := r.BasicAuth()
	if !ok || user != User || password != Password {
		w.Header().Set("WWW-Authenticate", `Basic realm="Conformance"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	write(w, "text/html; charset=utf-8", "<!doctype html><title>Known</title>hello "+User)
}

// socket answers each message with the same text after "echo ". The message "close"
// makes it close the connection.
func socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is left to do
	for {
		kind, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if string(data) == "close" {
			_ = conn.Close(websocket.StatusNormalClosure, "asked to")
			return
		}
		if err := conn.Write(r.Context(), kind, append([]byte("echo "), data...)); err != nil {
			return
		}
	}
}
