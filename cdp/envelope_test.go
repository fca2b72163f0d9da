package cdp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// seeds are messages as Chromium sends them, and similar texts.
var seeds = []string{
	`{"id":1,"result":{}}`,
	`{"id":7,"result":{"result":{"type":"string","value":"a\"}b"}},"sessionId":"A1B2"}`,
	`{"id":2,"error":{"code":-32601,"message":"'No.such' wasn't found"}}`,
	`{"error":{"code":-32700,"message":"parse"},"id":null}`,
	`{"method":"Page.loadEventFired","params":{"timestamp":1.5e3},"sessionId":"A1B2"}`,
	`{"method":"Target.targetCrashed","params":{"s":"\\\\\"","n":[[],{},[{}]]}}`,
	" {\t\"id\" : -3 ,\r\n \"result\" : null } ",
	`{}`, `{ }`, `{"id":1,"id":2}`, `{"a":true,"b":false,"c":null,"d":-0.5E+2,"e":[1,2]}`,
	``, `{`, `{"`, `{"id"`, `{"id":`, `{"id":1`, `{"id":1,`, `{"id":1,}`, `{"id":1}}`, `[]`, `"x"`, `null`,
	`{"id":1.5}`, `{"id":99999999999999999999}`, `{"id":"1"}`, `{"id":true}`, `{"method":1}`, `{"method":"\\"}`,
	`{"params":[}`, `{"params":{]}`, `{"params":"\`, `{"params":"\"}`, `{"params":[1 2]}`, `{"x":]}`, `{"x"}`, `{:1}`,
	"{\"method\":\"\x00\xff\"}", `{"\u0069d":5}`,
}

func FuzzEnvelope(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(strings.Repeat(`{"params":[`, 200) + strings.Repeat(`]}`, 200)))
	f.Fuzz(func(t *testing.T, msg []byte) {
		env, err := parseEnvelope(msg)
		var members map[string]json.RawMessage
		if json.Unmarshal(msg, &members) != nil || members == nil || hasEscapedKey(msg) {
			return // for text that is not a JSON object, it is enough that parsing ends
		}
		if id, ok := members["id"]; ok && string(id) != "null" {
			want, idErr := strconv.ParseInt(string(id), 10, 64)
			if idErr != nil {
				if err == nil {
					t.Fatalf("id %s was taken for %d", id, env.id)
				}
				return
			}
			if env.id != want {
				t.Fatalf("id %d, not %d", env.id, want)
			}
		}
		if err != nil && !hasOtherID(msg) {
			t.Fatalf("%v: %q", err, msg)
		}
		if err != nil {
			return
		}
		for _, m := range []struct {
			name string
			got  []byte
		}{{"params", env.params}, {"result", env.result}, {"error", env.err}} {
			if !bytes.Equal(m.got, members[m.name]) {
				t.Fatalf("%s is %q, not %q", m.name, m.got, members[m.name])
			}
		}
		for _, m := range []struct {
			name string
			got  []byte
		}{{"method", env.method}, {"sessionId", env.sessionID}} {
			want := members[m.name]
			if len(want) == 0 || want[0] != '"' {
				want = nil
			} else {
				want = want[1 : len(want)-1]
			}
			if !bytes.Equal(m.got, want) {
				t.Fatalf("%s is %q, not %q", m.name, m.got, want)
			}
		}
	})
}

// hasEscapedKey reports whether the message contains a \u escape. encoding/json
// reads "\u0069d" as the name id, our parser does not, and Chromium never writes
// it.
func hasEscapedKey(msg []byte) bool { return bytes.Contains(msg, []byte(`\u`)) }

// hasOtherID reports whether the message has more than one id. Our parser refuses
// an earlier id that is not a number, although encoding/json ignores it.
func hasOtherID(msg []byte) bool { return bytes.Count(msg, []byte(`"id"`)) > 1 }

func TestEnvelopeRefuses(t *testing.T) {
	for _, msg := range []string{
		``, `{`, `{"`, `{"id"`, `{"id":`, `{"id":1`, `{"id":1,`, `{"id":1,}`, `{"id":1}}`, `[]`, `"x"`, `null`, `{"id":1.5}`,
		`{"id":"1"}`, `{"params":[}`, `{"params":{]}`, `{"params":"\"}`, `{"x":]}`, `{"x"}`, `{:1}`,
		`{"params":` + strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1) + `}`,
	} {
		if env, err := parseEnvelope([]byte(msg)); err == nil {
			t.Errorf("%.40q was taken for %+v", msg, env)
		}
	}
}

// BenchmarkEnvelope parses an event with a picture, which the parser skips.
func BenchmarkEnvelope(b *testing.B) {
	picture := `{"method":"Page.screencastFrame","params":{"data":"` + strings.Repeat("A", 200<<10) + `","metadata":{"deviceWidth":1280},"sessionId":3},"sessionId":"A1B2"}`
	for _, m := range []struct{ name, msg string }{{"picture", picture}, {"reply", seeds[1]}} {
		b.Run(m.name, func(b *testing.B) {
			msg := []byte(m.msg)
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseEnvelope(msg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
