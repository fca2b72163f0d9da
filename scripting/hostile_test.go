package scripting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"takeover/scripting/wire"
)

// HostileSubcommand starts a process that talks to the server like a worker that
// its script has taken over. The argument says how it attacks.
const HostileSubcommand = "script-worker-hostile"

// hostile maps each attack to what the process does after it has received its
// script.
var hostile = map[string]func(out *wire.Writer, raw *os.File){
	"noise":         func(_ *wire.Writer, raw *os.File) { write(raw, bytes.Repeat([]byte{0xee}, 1<<20)) },
	"huge frame":    func(_ *wire.Writer, raw *os.File) { write(raw, head(1<<32-1, wire.KindLog, 0)) },
	"short frame":   func(_ *wire.Writer, raw *os.File) { write(raw, head(3, wire.KindLog, 0)) },
	"name too long": func(_ *wire.Writer, raw *os.File) { write(raw, head(11+1, wire.KindLog, 9)) },
	"frame of ours": func(out *wire.Writer, _ *os.File) { send(out, wire.Frame{Kind: wire.KindSetup}) },
	"half a frame": func(_ *wire.Writer, raw *os.File) {
		write(raw, append(head(1<<20, wire.KindLog, 0), 'x'))
		_ = raw.Close()
		select {}
	},
	"silence": func(_ *wire.Writer, raw *os.File) { _ = raw.Close(); select {} },
	"no JSON": func(out *wire.Writer, _ *os.File) { send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte("{")}) },
	"unknown ending": func(out *wire.Writer, _ *os.File) {
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"cancelled"}`)})
	},
	"failed silently": func(out *wire.Writer, _ *os.File) {
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"failed"}`)})
	},
	"deep result": func(out *wire.Writer, _ *os.File) {
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"succeeded","value":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`)})
	},
	"giant result": func(out *wire.Writer, _ *os.File) {
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"succeeded","value":"` + strings.Repeat("x", 4<<20) + `"}`)})
	},
	"giant error": func(out *wire.Writer, _ *os.File) {
		e := &ScriptError{Name: strings.Repeat("n", 1<<18), Message: strings.Repeat("m", 1<<18), Stack: strings.Repeat("s", 1<<18), Line: -5, Column: -7}
		payload, _ := json.Marshal(wire.Result{Status: StatusFailed, Err: e})
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: payload})
	},
	"steps": func(out *wire.Writer, _ *os.File) {
		send(out, wire.Frame{Kind: wire.KindStep, Payload: []byte(`{"title":"` + strings.Repeat("t", 1<<20) + `","startedAt":1e300,"duration":-1e300,"error":"` + strings.Repeat("e", 1<<20) + `","line":-3}`)})
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"succeeded"}`)})
	},
	"no step": func(out *wire.Writer, _ *os.File) { send(out, wire.Frame{Kind: wire.KindStep, Payload: []byte(`[]`)}) },
	"logs": func(out *wire.Writer, _ *os.File) {
		for range 20_000 {
			send(out, wire.Frame{Kind: wire.KindLog, Name: "log"})
		}
		send(out, wire.Frame{Kind: wire.KindLog, Name: "log", Payload: make([]byte, 4<<20)})
		send(out, wire.Frame{Kind: wire.KindLog, Name: strings.Repeat("level", 10_000)})
		send(out, wire.Frame{Kind: wire.KindEnd, Payload: []byte(`{"status":"succeeded"}`)})
	},
	"operations": func(out *wire.Writer, _ *os.File) {
		for i := range uint64(20_000) {
			send(out, wire.Frame{Kind: wire.KindCall, ID: i % 3, Name: "forever"})
		}
	},
	"giant operations": func(out *wire.Writer, _ *os.File) {
		for i := range uint64(1000) {
			send(out, wire.Frame{Kind: wire.KindCall, ID: i, Name: "forever", Payload: make([]byte, 2<<20)})
		}
	},
	"stuck": func(out *wire.Writer, _ *os.File) {
		for range 100_000 {
			send(out, wire.Frame{Kind: wire.KindStuck})
		}
		select {}
	},
}

// Hostile is the main function of a process that HostileSubcommand starts. how
// names the attack.
func Hostile(how string) {
	in := bufio.NewReader(os.Stdin)
	out := wire.NewWriter(os.Stdout)
	for {
		f, err := wire.Read(in)
		if err != nil {
			os.Exit(1)
		}
		if f.Kind == wire.KindRun {
			break
		}
	}
	hostile[how](out, os.Stdout)
	os.Exit(0)
}

func write(f *os.File, b []byte) {
	if _, err := f.Write(b); err != nil {
		os.Exit(0) // the server has closed the pipe
	}
}

func send(out *wire.Writer, f wire.Frame) {
	if out.Write(f, true) != nil {
		os.Exit(0)
	}
}

// head returns the beginning of a frame that claims the given length, which is at
// least the 11 bytes of kind, id and length of the name.
func head(size uint32, k wire.Kind, name uint16) []byte {
	b := binary.BigEndian.AppendUint32(nil, size)
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint64(b, 1)
	return binary.BigEndian.AppendUint16(b, name)
}

// TestHostileWorker checks that whatever a worker sends, the run ends, the data
// that is kept of it is bounded, and the server keeps working.
func TestHostileWorker(t *testing.T) {
	if !built() {
		t.Skip("the script API is not built: run make generate")
	}
	before := heapInUse()
	for how := range hostile {
		t.Run(how, func(t *testing.T) {
			limits := tight() // low ones, because what exceeds them is read under the race detector
			limits.LogSize, limits.ResultSize, limits.UnderWay = 1<<20, 1<<20, 8<<20
			p := NewPool(PoolOptions{Executable: []string{"/proc/self/exe", HostileSubcommand, how}, Limits: limits, Cold: true})
			defer p.Close()
			w := newWorld()
			w.handlers["forever"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
				<-ctx.Done()
				return nil, errors.New("over")
			}
			r, err := p.Start(t.Context(), Script{Code: "1"}, w, w)
			if err != nil {
				t.Fatal(err)
			}
			var res Result
			select {
			case <-r.Done():
				res = r.Wait()
			case <-time.After(30 * time.Second):
				t.Fatal("the run does not end")
			}
			kept := len(res.Value) + len(w.logged())
			if res.Err != nil {
				kept += len(res.Err.Name) + len(res.Err.Message) + len(res.Err.Stack)
				if res.Err.Line < 0 || res.Err.Column < 0 {
					t.Errorf("at %d:%d", res.Err.Line, res.Err.Column)
				}
			}
			for _, s := range w.steps {
				kept += len(s.Title) + len(s.Err)
				if _, err := json.Marshal(s); err != nil {
					t.Errorf("a step that cannot be told: %v", err)
				}
			}
			if most := p.Limits().LogSize + 2*p.Limits().ResultSize; kept > most {
				t.Errorf("%d bytes were kept, at most %d", kept, most)
			}
			if n := int64(len(w.calls)); n > int64(p.Limits().Pending) {
				t.Errorf("%d operations were under way", n)
			}
			t.Logf("%s: %.200v", res.Status, res.Err)
			if res.Status == StatusSucceeded && !res.Truncated && how != "steps" {
				t.Errorf("succeeded with %d bytes", len(res.Value))
			}
		})
	}
	if after := heapInUse(); after > before+4<<20 {
		t.Errorf("%d MiB of memory did not return", (after-before)>>20)
	}
}

// FuzzReports reads results and steps, which are outside input, as any worker
// might send them.
func FuzzReports(f *testing.F) {
	f.Add([]byte(`{"status":"failed","error":{"name":"E","message":"m","line":-1},"value":1}`))
	f.Add([]byte(`{"title":"t","startedAt":1e18,"duration":1e308,"line":-9}`))
	l := withDefaults(Limits{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if end, ok := readResult(data, l); ok {
			if _, err := json.Marshal(end); err != nil {
				t.Fatal(err)
			}
		}
		if s, ok := readStep(data); ok {
			if _, err := json.Marshal(s); err != nil {
				t.Fatal(err)
			}
			if s.Duration < 0 || s.Line < 0 {
				t.Fatal(fmt.Sprint(s))
			}
		}
	})
}
