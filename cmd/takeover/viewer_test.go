package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
)

// person is a viewer in control of a session.
type person struct {
	*testing.T
	conn  *websocket.Conn
	epoch uint64
	title string // of the first tab
}

// watch opens a viewer for a session that shows clickPage, takes control, and waits for
// the page and a picture.
func (p *serverProcess) watch(t *testing.T, session string) *person {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(p.base, "http")+"/v1/sessions/"+session+"/view", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + testKey}}, Subprotocols: []string{"takeover.v1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(16 << 20)
	v := &person{T: t, conn: conn}
	v.send(`{"type":"hello","width":1280,"height":720,"dpr":1}`)
	v.send(`{"type":"control","action":"take"}`)
	seen := false
	v.until(browsertest.Context(t, "control, the page and a picture"), func(picture bool) bool {
		seen = seen || picture
		return seen && v.epoch > 0 && v.title == "Clicks"
	})
	return v
}

func (v *person) send(message string) {
	v.Helper()
	if err := v.conn.Write(v.Context(), websocket.MessageText, []byte(message)); err != nil {
		v.Fatal(err)
	}
}

// until reads messages until enough returns true, and acknowledges pictures.
func (v *person) until(ctx context.Context, enough func(picture bool) bool) {
	v.Helper()
	for {
		kind, data, err := v.conn.Read(ctx)
		if err != nil {
			v.Fatal("the viewer's connection:", err)
		}
		if kind == websocket.MessageBinary {
			v.send(fmt.Sprintf(`{"type":"ack","seq":%d}`, binary.BigEndian.Uint32(data[4:])))
		} else {
			var m struct {
				Type  string
				Epoch uint64
				Mine  bool
				Tabs  []struct{ Title string }
			}
			if err := json.Unmarshal(data, &m); err != nil {
				v.Fatal(err)
			}
			if m.Type == "control" && m.Mine {
				v.epoch = m.Epoch
			}
			if len(m.Tabs) > 0 {
				v.title = m.Tabs[0].Title
			}
		}
		if enough(kind == websocket.MessageBinary) {
			return
		}
	}
}

// click clicks, and waits until the page has got it and a picture has come after it.
func (v *person) click(ctx context.Context, clicked <-chan struct{}) {
	v.Helper()
	for _, event := range []string{`"down","buttons":1`, `"up","buttons":0`} {
		v.send(fmt.Sprintf(`{"type":"mouse","event":%s,"x":200,"y":200,"button":"left","clickCount":1,"modifiers":0,"deltaX":0,"deltaY":0,"epoch":%d}`, event, v.epoch))
	}
	got := false
	v.until(ctx, func(picture bool) bool {
		select {
		case <-clicked:
			got = true
		default:
		}
		return picture && got
	})
}
