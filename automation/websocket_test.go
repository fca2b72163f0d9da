package automation_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/automation"
)

// echoes returns a site with a document and a web socket that echoes messages.
func echoes(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/socket" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>t</title>"))
			return
		}
		conn, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, text, err := conn.Read(context.Background())
			if err != nil || conn.Write(context.Background(), kind, append([]byte("real "), text...)) != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestMockedWebSocketsEndWithClient checks that a document that stays open after
// a run has real sockets again. Sockets that the run mocked are closed, and
// sockets that it passed through continue.
func TestMockedWebSocketsEndWithClient(t *testing.T) {
	s := echoes(t)
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	mock := func() {
		t.Helper()
		var b struct{ Binding string }
		r.do("expose", params{"page": r.page, "name": "__pwWebSocketBinding"}, &b)
		r.do("mockWebSockets", params{"page": r.page}, nil)
	}
	// open makes a socket with a name and records its messages in the page.
	open := func(name, orders string) {
		t.Helper()
		r.do("frame.evaluate", params{"isFunction": false, "expression": `(() => {
			const ws = window.` + name + ` = new WebSocket('` + strings.Replace(s.URL, "http", "ws", 1) + `/socket');
			ws.told = [];
			ws.onopen = () => ws.told.push('open');
			ws.onmessage = e => ws.told.push(e.data);
			ws.onclose = e => ws.told.push('closed ' + e.code);
			for (const type of ` + orders + `) __pwWebSocketDispatch({id: ws._id, type});
		})()`}, nil)
	}
	until := func(what string) {
		t.Helper()
		r.do("frame.waitForFunction", params{"expression": what, "timeout": 5000}, nil)
	}
	mock()
	r.do("frame.evaluate", params{"expression": "window.Saved = WebSocket, 0", "isFunction": false}, nil)
	open("answered", "['ensureOpened']")
	open("waiting", "[]")
	open("between", "['connect']")
	open("passed", "['passthrough']")
	until("answered.told[0] == 'open' && between.told[0] == 'open' && passed.told[0] == 'open'")

	r.client.Close()
	r.client = r.automation.NewClient(automation.ClientOptions{Context: r.context, Emit: r.emit})
	t.Cleanup(r.client.Close)
	r.rename()
	equal(t, "answered", r.eval("[answered.told, answered.readyState]"), []any{[]any{"open", "closed 1001"}, 3})
	equal(t, "waiting", r.eval("[waiting.told, waiting.readyState]"), []any{[]any{"closed 1001"}, 3})
	equal(t, "between", r.eval("[between.told, between.readyState]"), []any{[]any{"open", "closed 1001"}, 3})
	r.do("frame.evaluate", params{"expression": "passed.send('on'), 0", "isFunction": false}, nil)
	until("passed.told[1] == 'real on'")
	equal(t, "native", r.eval("[String(WebSocket).includes('[native code]'), typeof __pwWebSocketDispatch]"), []any{true, "undefined"})
	open("real", "[]")
	until("real.told[0] == 'open'")
	r.do("frame.evaluate", params{"expression": "real.send('hello'), window.kept = new Saved(real.url), kept.onopen = () => kept.send('kept'), kept.onmessage = e => kept.told = e.data, 0", "isFunction": false}, nil)
	until("real.told[1] == 'real hello' && kept.told == 'real kept'")

	mock() // the next run finds nothing left of the last one
	open("again", "['ensureOpened']")
	until("again.told[0] == 'open' && !String(WebSocket).includes('[native code]')")
}
