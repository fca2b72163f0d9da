package cdp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
	"takeover/chromium"
)

// barePipe does the minimum on Chromium's pipe: it writes a command and reads up
// to the next NUL.
type barePipe struct {
	b       testing.TB
	in, out *os.File
	reader  *bufio.Reader
	session string
	nextID  int
}

// startBare starts a Chromium without package browser, which would put a Conn on
// top of its pipe.
func startBare(b testing.TB) *barePipe {
	b.Helper()
	path, err := chromium.FindExecutable()
	if err != nil {
		b.Fatal(err)
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
		"--user-data-dir="+filepath.Join(home, "profile"), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &barePipe{b: b, in: ourIn, out: ourOut, reader: bufio.NewReader(ourIn)}
	b.Cleanup(func() {
		_ = p.write("Browser.close", struct{}{}, "")
		_ = cmd.Wait()
		_ = ourIn.Close()
		_ = ourOut.Close()
	})
	_ = theirIn.Close()
	_ = theirOut.Close()
	return p
}

func (p *barePipe) write(method string, params any, session string) error {
	p.nextID++
	msg, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
		Session string `json:"sessionId,omitempty"`
	}{p.nextID, method, params, session})
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(msg, 0))
	return err
}

// call sends a command and reads up to its reply.
func (p *barePipe) call(method string, params, result any) {
	p.b.Helper()
	if err := p.write(method, params, p.session); err != nil {
		p.b.Fatal(err)
	}
	for {
		msg, err := p.reader.ReadBytes(0)
		if err != nil {
			p.b.Fatal(err)
		}
		var reply struct {
			ID     int             `json:"id"`
			Error  json.RawMessage `json:"error"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(msg[:len(msg)-1], &reply); err != nil {
			p.b.Fatal(err)
		}
		if reply.ID != p.nextID {
			continue
		}
		if reply.Error != nil {
			p.b.Fatalf("%s: %s", method, reply.Error)
		}
		if result != nil {
			if err := json.Unmarshal(reply.Result, result); err != nil {
				p.b.Fatal(err)
			}
		}
		return
	}
}

// page attaches to the first page.
func (p *barePipe) page() target.ID {
	p.b.Helper()
	for {
		var list target.GetTargetsResult
		p.call("Target.getTargets", struct{}{}, &list)
		for _, info := range list.TargetInfos {
			if info.Type == "page" {
				return info.TargetID
			}
		}
	}
}

// lent lends the pipe's reading end to a Conn: Close ends only the Conn's
// reading.
type lent struct{ *os.File }

func (l lent) Close() error { return l.SetReadDeadline(time.Now()) }

type lentOut struct{ *os.File }

func (lentOut) Close() error { return nil }

// BenchmarkRoundTrip compares a Runtime.evaluate through a Conn, with its result
// left as JSON and with its result decoded into cdproto's type, with a bare loop
// that writes the message, reads up to the next NUL and decodes nothing. All of
// them alternate on the same pipe of the same Chromium.
func BenchmarkRoundTrip(b *testing.B) {
	const batch = 200
	p := startBare(b)
	id := p.page()
	var bare, conn, typed []time.Duration
	for b.Loop() {
		bare = append(bare, p.measureBare(id, batch)...)
		conn = append(conn, p.measureConn(id, batch, func(s *cdp.Session) error {
			var res json.RawMessage
			return s.Call(b.Context(), "Runtime.evaluate", json.RawMessage(`{"expression":"1+2"}`), &res)
		})...)
		typed = append(typed, p.measureConn(id, batch, func(s *cdp.Session) error {
			_, err := cdp.Call(b.Context(), s, runtime.Evaluate, runtime.EvaluateParams{Expression: "1+2"})
			return err
		})...)
	}
	slices.Sort(bare)
	slices.Sort(conn)
	slices.Sort(typed)
	at := func(d []time.Duration, q float64) float64 { return float64(d[int(q*float64(len(d)-1))]) / 1e3 }
	b.ReportMetric(at(bare, 0.5), "bare-p50-µs")
	b.ReportMetric(at(conn, 0.5), "conn-p50-µs")
	b.ReportMetric(at(typed, 0.5), "typed-p50-µs")
	b.ReportMetric(at(conn, 0.5)/at(bare, 0.5), "ratio-p50")
	b.ReportMetric(at(conn, 0.95)/at(bare, 0.95), "ratio-p95")
	b.ReportMetric(at(typed, 0.5)/at(bare, 0.5), "typed-ratio-p50")
	b.ReportMetric(0, "ns/op")
}

func (p *barePipe) measureBare(id target.ID, n int) []time.Duration {
	p.b.Helper()
	var attached target.AttachToTargetResult
	p.call("Target.attachToTarget", target.AttachToTargetParams{TargetID: id, Flatten: new(true)}, &attached)
	var took []time.Duration
	for i := range n {
		start := time.Now()
		msg := fmt.Appendf(nil, `{"id":%d,"method":"Runtime.evaluate","params":{"expression":"1+2"},"sessionId":%q}`+"\x00", 1e6+i, attached.SessionID)
		if _, err := p.out.Write(msg); err != nil {
			p.b.Fatal(err)
		}
		if _, err := p.reader.ReadSlice(0); err != nil {
			p.b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	p.call("Target.detachFromTarget", target.DetachFromTargetParams{SessionID: attached.SessionID}, nil)
	return took
}

func (p *barePipe) measureConn(id target.ID, n int, call func(*cdp.Session) error) []time.Duration {
	p.b.Helper()
	c := cdp.NewConn(cdp.NewPipe(lent{p.in}, lentOut{p.out}))
	client, err := c.NewClient(p.b.Context(), nil)
	if err != nil {
		p.b.Fatal(err)
	}
	session, err := client.Attach(p.b.Context(), id)
	if err != nil {
		p.b.Fatal(err)
	}
	var took []time.Duration
	for range n {
		start := time.Now()
		if err := call(session); err != nil {
			p.b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	if err := client.Close(p.b.Context()); err != nil {
		p.b.Fatal(err)
	}
	if err := c.Close(); err != nil {
		p.b.Fatal(err)
	}
	if err := p.in.SetReadDeadline(time.Time{}); err != nil {
		p.b.Fatal(err)
	}
	return took
}
