package viewer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/invalid"
	"takeover/links"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// roleSamples has one message of each type that would take effect if the sender
// may send it. %d is the epoch of the lease.
var roleSamples = map[string]string{
	"hello":    `{"type":"hello","width":800,"height":600,"dpr":1}`,
	"ack":      `{"type":"ack","seq":0}`,
	"ping":     `{"type":"ping","t":1}`,
	"resize":   `{"type":"resize","width":800,"height":600,"dpr":1}`,
	"mouse":    `{"type":"mouse","event":"down","x":5,"y":5,"button":"left","buttons":1,"clickCount":1,"epoch":%d}`,
	"key":      `{"type":"key","event":"down","key":"a","code":"KeyA","text":"a","epoch":%d}`,
	"text":     `{"type":"text","text":"a","epoch":%d}`,
	"compose":  `{"type":"compose","text":"a","start":1,"end":1,"epoch":%d}`,
	"touch":    `{"type":"touch","event":"start","points":[{"id":1,"x":5,"y":5}],"epoch":%d}`,
	"navigate": `{"type":"navigate","action":"stop"}`,
	"tab":      `{"type":"tab","action":"activate","tab":1}`,
	"control":  `{"type":"control","action":"keep"}`,
	"hold":     `{"type":"hold","action":"pass"}`,
	"takeover": `{"type":"takeover","action":"extend","id":"ID"}`,

	"drop":      `{"type":"drop","x":5,"y":5,"files":["dropped.txt"],"epoch":%d}`,
	"clipboard": `{"type":"clipboard","action":"copy","epoch":%d}`,

	"select":     `{"type":"select","id":"none","values":["a"]}`,
	"dialog":     `{"type":"dialog","id":"none","accept":true}`,
	"chooser":    `{"type":"chooser","id":"none","files":["dropped.txt"]}`,
	"auth":       `{"type":"auth","id":"none","accept":true,"username":"ann","password":"x"}`,
	"permission": `{"type":"permission","id":"none","allow":true}`,
	"download":   `{"type":"download","id":"none","action":"cancel"}`,
}

// answers are the messages that answer a question of a page or a server. There is
// no question here. So a viewer who may answer gets the error that there is no
// such question, and everybody else the error that they may not answer. While
// nobody is in control, whoever may act may answer all of them except select,
// which is offered only to the person in control.
var answers = map[string]bool{"select": true, "dialog": true, "chooser": true, "auth": true, "permission": true, "download": true}

// TestWhoMaySendWhat sends each type of message in each role while each kind of
// holder has control.
func TestWhoMaySendWhat(t *testing.T) {
	one := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": "<p>hello</p>"})})
	folder, err := one.Files()
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := folder.Add("dropped.txt", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	one.ShareFile(dropped)
	looking := map[string]bool{"hello": true, "ack": true, "ping": true, "resize": true}
	answering := map[string]bool{"control": true, "takeover": true, "hold": true} // these do not act on the page
	join := func(role session.Role, takeover string) *session.Viewer {
		o := session.ViewerOptions{Role: role}
		if takeover != "" {
			o.Link = &links.Grant{Takeover: takeover, Role: role}
		}
		v, err := one.Join(o)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, holder := range []string{"mine", "other", "script", "nobody"} {
		for _, role := range []session.Role{session.RoleView, session.RoleTakeover, session.RoleControl} {
			if role == session.RoleView && holder == "mine" {
				continue // this combination is impossible
			}
			to, err := one.RequestTakeover(session.TakeoverOptions{Reason: "look", RequestedBy: "test"})
			if err != nil {
				t.Fatal(err)
			}
			link := ""
			if role == session.RoleTakeover {
				link = to.ID()
			}
			other := join(session.RoleControl, "")
			var run *session.Run
			switch holder {
			case "other":
				err = other.Control("take")
			case "script":
				run, err = one.StartRun(session.RunOptions{Code: `await page.waitForTimeout(600_000)`})
			}
			v := join(role, link)
			if holder == "mine" {
				err = v.Control("take")
			}
			if err != nil {
				t.Fatal(err)
			}
			epoch := epochOf(t, v, func(m session.ControlMessage) bool { return m.Mine == (holder == "mine") })
			for kind := range Received {
				sample, known := roleSamples[kind]
				switch {
				case !known:
					t.Fatalf("no sample of %s", kind)
				case kind == "takeover":
					sample = fmt.Sprintf(`{"type":"takeover","action":"extend","id":%q}`, to.ID())
				case sample[len(sample)-3:] == "%d}":
					sample = fmt.Sprintf(sample, epoch)
				}
				where := fmt.Sprintf("%s as %s while control is %s", kind, role, holder)
				m, err := parse([]byte(sample), role)
				if err == nil {
					err = m.message.act(t.Context(), v)
				}
				switch {
				case role == session.RoleView && !looking[kind]:
					if !errors.Is(err, session.ErrRole) {
						t.Errorf("%s: %v, want that the role does not allow it", where, err)
					}
				case kind == "hold" && role != session.RoleControl:
					if !errors.Is(err, session.ErrRole) {
						t.Errorf("%s: %v, want that the role does not allow it", where, err)
					}
				case looking[kind] || answering[kind]:
					if err != nil {
						t.Errorf("%s: %v", where, err)
					}
				case answers[kind] && (holder == "mine" || holder == "nobody" && kind != "select"):
					if bad, ok := errors.AsType[*invalid.Error](err); !ok || bad.Fields[0].Field != "id" {
						t.Errorf("%s: %v, want that there is no such question", where, err)
					}
				case holder != "mine":
					if !errors.Is(err, session.ErrNotController) {
						t.Errorf("%s: %v, want that it is refused without control", where, err)
					}
				case err != nil:
					t.Errorf("%s: %v", where, err)
				}
			}
			v.Leave()
			other.Leave()
			if run != nil {
				run.Cancel()
				<-run.Done()
			}
			if err := to.Cancel("test"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// epochOf returns the epoch of the control message that match accepts.
func epochOf(t *testing.T, v *session.Viewer, match func(session.ControlMessage) bool) uint64 {
	t.Helper()
	ctx := browsertest.Context(t, "control")
	for {
		m, err := v.NextMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := m.(session.ControlMessage); ok && match(c) {
			return c.Epoch
		}
	}
}

func FuzzParse(f *testing.F) {
	for kind := range Received {
		f.Add([]byte(`{"type":"` + kind + `"}`))
	}
	f.Add([]byte(`{"type":"mouse","event":"move","x":1.5,"y":2,"button":"none","buttons":0,"clickCount":0,"modifiers":0,"deltaX":0,"deltaY":0,"epoch":3}`))
	f.Add([]byte(`{"type":"touch","event":"start","points":[{"id":1,"x":1,"y":2,"radiusX":1,"radiusY":1,"force":1}],"modifiers":8,"epoch":1}`))
	f.Add([]byte(`{"type":"chooser","id":"a","files":null}`))
	f.Add([]byte(`{"type":"ping","t":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, role := range []session.Role{session.RoleView, session.RoleTakeover, session.RoleControl, "none"} {
			m, err := parse(raw, role)
			if err != nil {
				if len(err.Error()) > 500 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
				continue
			}
			if m.message == nil || role.Rank() < Received[m.kind].Role.Rank() {
				t.Errorf("%s passed as %s", raw, role)
			}
			if ping, ok := m.message.(*pingMessage); ok {
				if _, err := json.Marshal(pongMessage{Type: "pong", T: pingTime(ping)}); err != nil {
					t.Errorf("a ping that cannot be answered: %v", err)
				}
			}
		}
		if _, err := parse(raw, ""); err == nil {
			t.Error("a message without a role passed")
		}
	})
}
