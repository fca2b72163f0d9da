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
	"runtime"
	"strings"
	"testing"
	"time"
)

// HostileSubcommand starts a process that speaks to the server as a worker
// whose script has taken it over might. Its argument says how.
const HostileSubcommand = "script-worker-hostile"

// hostile is what such a process does once it was given its script.
var hostile = map[string]func(out *frameWriter, raw *os.File){
	"noise":         func(_ *frameWriter, raw *os.File) { write(raw, bytes.Repeat([]byte{0xee}, 1<<20)) },
	"huge frame":    func(_ *frameWriter, raw *os.File) { write(raw, head(1<<32-1, kindLog, 0)) },
	"short frame":   func(_ *frameWriter, raw *os.File) { write(raw, head(3, kindLog, 0)) },
	"name too long": func(_ *frameWriter, raw *os.File) { write(raw, head(frameHeader+1, kindLog, 9)) },
	"frame of ours": func(out *frameWriter, _ *os.File) { send(out, frame{kind: kindSetup}) },
	"half a frame": func(_ *frameWriter, raw *os.File) {
		write(raw, append(head(1<<20, kindLog, 0), 'x'))
		_ = raw.Close()
		select {}
	},
	"silence": func(_ *frameWriter, raw *os.File) { _ = raw.Close(); select {} },
	"no JSON": func(out *frameWriter, _ *os.File) { send(out, frame{kind: kindEnd, payload: []byte("{")}) },
	"unknown ending": func(out *frameWriter, _ *os.File) {
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"cancelled"}`)})
	},
	"failed silently": func(out *frameWriter, _ *os.File) {
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"failed"}`)})
	},
	"deep result": func(out *frameWriter, _ *os.File) {
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"succeeded","value":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`)})
	},
	"giant result": func(out *frameWriter, _ *os.File) {
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"succeeded","value":"` + strings.Repeat("x", 100<<20) + `"}`)})
	},
	"giant error": func(out *frameWriter, _ *os.File) {
		e := &ScriptError{Name: strings.Repeat("n", 1<<20), Message: strings.Repeat("m", 1<<20), Stack: strings.Repeat("s", 1<<20), Line: -5, Column: -7}
		payload, _ := encode(workerResult{Status: StatusFailed, Err: e})
		send(out, frame{kind: kindEnd, payload: payload})
	},
	"steps": func(out *frameWriter, _ *os.File) {
		send(out, frame{kind: kindStep, payload: []byte(`{"title":"` + strings.Repeat("t", 50<<20) + `","startedAt":1e300,"duration":-1e300,"error":"` + strings.Repeat("e", 10<<20) + `","line":-3}`)})
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"succeeded"}`)})
	},
	"no step": func(out *frameWriter, _ *os.File) { send(out, frame{kind: kindStep, payload: []byte(`[]`)}) },
	"logs": func(out *frameWriter, _ *os.File) {
		for range 200_000 {
			send(out, frame{kind: kindLog, name: "log"})
		}
		send(out, frame{kind: kindLog, name: "log", payload: make([]byte, 100<<20)})
		send(out, frame{kind: kindLog, name: strings.Repeat("level", 10_000)})
		send(out, frame{kind: kindEnd, payload: []byte(`{"status":"succeeded"}`)})
	},
	"operations": func(out *frameWriter, _ *os.File) {
		for i := range uint64(20_000) {
			send(out, frame{kind: kindCall, id: i % 3, name: "forever"})
		}
	},
	"giant operations": func(out *frameWriter, _ *os.File) {
		for i := range uint64(1000) {
			send(out, frame{kind: kindCall, id: i, name: "forever", payload: make([]byte, 20<<20)})
		}
	},
	"stuck": func(out *frameWriter, _ *os.File) {
		for range 100_000 {
			send(out, frame{kind: kindStuck})
		}
		select {}
	},
}

// Hostile is the main function of such a process.
func Hostile(how string) {
	in := bufio.NewReader(os.Stdin)
	out := newFrameWriter(os.Stdout)
	for {
		f, err := readFrame(in)
		if err != nil {
			os.Exit(1)
		}
		if f.kind == kindRun {
			break
		}
	}
	hostile[how](out, os.Stdout)
	os.Exit(0)
}

func write(f *os.File, b []byte) {
	if _, err := f.Write(b); err != nil {
		os.Exit(0) // the server has had enough
	}
}

func send(out *frameWriter, f frame) {
	if out.write(f, true) != nil {
		os.Exit(0)
	}
}

// head is the beginning of a frame that says it is so long.
func head(size uint32, k kind, name uint16) []byte {
	b := binary.BigEndian.AppendUint32(nil, size)
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint64(b, 1)
	return binary.BigEndian.AppendUint16(b, name)
}

// Whatever a worker says, the run ends, what is kept of it is bounded, and the
// server goes on.
func TestHostileWorker(t *testing.T) {
	if apiSource() == "" {
		t.Skip("the script API is not built: run make generate")
	}
	for how := range hostile {
		t.Run(how, func(t *testing.T) {
			limits := tight()
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
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 200<<20 {
		t.Errorf("%d MiB of memory did not return", m.HeapAlloc>>20)
	}
}

// A worker's last words and steps are outside input.
func FuzzReports(f *testing.F) {
	f.Add([]byte(`{"status":"failed","error":{"name":"E","message":"m","line":-1},"value":1}`))
	f.Add([]byte(`{"title":"t","startedAt":1e18,"duration":1e308,"line":-9}`))
	l := Limits{}.withDefaults()
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
