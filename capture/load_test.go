package capture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"takeover/capture"
	"takeover/cdp"
)

// browserSays is the browser's end of a connection, for measuring the cost of
// handling messages. It sends given messages as fast as they are read, and
// accepts every command.
type browserSays struct {
	mu    sync.Mutex // guards what follows
	lines [][]byte
	wake  chan struct{} // one token
	ended bool
	asked int // number of requests for bodies

	attached bool // its page was reported; owned by Write
}

func (b *browserSays) say(lines ...[]byte) {
	b.mu.Lock()
	b.lines = append(b.lines, lines...)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *browserSays) Read() ([]byte, error) {
	for {
		b.mu.Lock()
		lines, ended := b.lines, b.ended
		if len(lines) > 0 {
			b.lines = lines[1:]
		}
		b.mu.Unlock()
		switch {
		case len(lines) > 0:
			return lines[0], nil
		case ended:
			return nil, io.EOF
		}
		<-b.wake
	}
}

func (b *browserSays) Write(msg []byte) error {
	var command struct {
		ID     int64  `json:"id"`
		Method string `json:"method"`
		Of     string `json:"sessionId,omitempty"`
	}
	if err := json.Unmarshal(msg, &command); err != nil {
		return err
	}
	if command.Method == "Network.getResponseBody" {
		b.mu.Lock()
		b.asked++
		b.mu.Unlock()
		b.say(fmt.Appendf(nil, `{"id":%d,"sessionId":"page","result":{"body":"var a","base64Encoded":false}}`, command.ID))
		return nil
	}
	if command.Method == "Target.setAutoAttach" && command.Of == "client" && !b.attached {
		b.attached = true
		b.say([]byte(`{"method":"Target.attachedToTarget","sessionId":"client","params":{"sessionId":"page","targetInfo":` +
			`{"targetId":"822B12FE236A1BCFDA3EFD2806D8C34D","type":"page","title":"","url":"http://127.0.0.1:8080/","attached":true},"waitingForDebugger":false}}`))
	}
	b.say(fmt.Appendf(nil, `{"id":%d,"sessionId":%q,"result":{"sessionId":"client"}}`, command.ID, command.Of))
	return nil
}

func (b *browserSays) Close() error {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.say()
	return nil
}

// requestSaid are the messages of a request, in Chromium's form. {n} is its
// number.
var requestSaid = []string{
	`{"method":"Network.requestWillBeSent","params":{"requestId":"26191.{n}","loaderId":"004F8304E164A6E231C667B226D38095","documentURL":"http://127.0.0.1:8080/","request":{"url":"http://127.0.0.1:8080/a{n}.js","method":"GET","headers":{"sec-ch-ua-platform":"\"Linux\"","Referer":"http://127.0.0.1:8080/","User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36","sec-ch-ua":"\"Not:A-Brand\";v=\"8\", \"Chromium\";v=\"156\"","sec-ch-ua-mobile":"?0"},"mixedContentType":"none","initialPriority":"High","referrerPolicy":"strict-origin-when-cross-origin","isSameSite":true},"timestamp":58659.561511,"wallTime":1795303525.958829,"initiator":{"type":"parser","url":"http://127.0.0.1:8080/","lineNumber":0,"columnNumber":32},"redirectHasExtraInfo":false,"type":"Script","frameId":"822B12FE236A1BCFDA3EFD2806D8C34D","hasUserGesture":false,"renderBlockingBehavior":"Blocking"},"sessionId":"page"}`,
	`{"method":"Network.requestWillBeSentExtraInfo","params":{"requestId":"26191.{n}","associatedCookies":[],"headers":{"Accept":"*/*","Accept-Encoding":"gzip, deflate, br, zstd","Accept-Language":"en-US,en;q=0.9","Connection":"keep-alive","Host":"127.0.0.1:8080","Referer":"http://127.0.0.1:8080/","Sec-Fetch-Dest":"script","Sec-Fetch-Mode":"no-cors","Sec-Fetch-Site":"same-origin","User-Agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36","sec-ch-ua":"\"Not:A-Brand\";v=\"8\", \"Chromium\";v=\"156\"","sec-ch-ua-mobile":"?0","sec-ch-ua-platform":"\"Linux\""},"connectTiming":{"requestTime":58659.588644},"siteHasCookieInOtherPartition":false},"sessionId":"page"}`,
	`{"method":"Network.responseReceivedExtraInfo","params":{"requestId":"26191.{n}","blockedCookies":[],"headers":{"Content-Length":"9","Content-Type":"image/png","Date":"Sat, 21 Nov 2026 23:25:26 GMT"},"resourceIPAddressSpace":"Loopback","statusCode":200,"headersText":"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nDate: Sat, 21 Nov 2026 23:25:26 GMT\r\nContent-Length: 9\r\n\r\n","cookiePartitionKeyOpaque":false,"exemptedCookies":[]},"sessionId":"page"}`,
	`{"method":"Network.responseReceived","params":{"requestId":"26191.{n}","loaderId":"004F8304E164A6E231C667B226D38095","timestamp":58659.672918,"type":"Image","response":{"url":"http://127.0.0.1:8080/a{n}.js","status":200,"statusText":"OK","headers":{"Date":"Sat, 21 Nov 2026 23:25:26 GMT","Content-Type":"image/png","Content-Length":"9"},"mimeType":"image/png","charset":"","connectionReused":true,"connectionId":83,"remoteIPAddress":"127.0.0.1","remotePort":8080,"fromDiskCache":false,"fromServiceWorker":false,"fromPrefetchCache":false,"encodedDataLength":106,"timing":{"requestTime":58659.588644,"proxyStart":-1,"proxyEnd":-1,"dnsStart":-1,"dnsEnd":-1,"connectStart":-1,"connectEnd":-1,"sslStart":-1,"sslEnd":-1,"workerStart":-1,"workerReady":-1,"workerFetchStart":-1,"workerRespondWithSettled":-1,"sendStart":0.66,"sendEnd":0.733,"pushStart":0,"pushEnd":0,"receiveHeadersStart":75.465,"receiveHeadersEnd":75.592},"responseTime":1.795303526061406e+12,"protocol":"http/1.1","alternateProtocolUsage":"unspecifiedReason","securityState":"secure"},"hasExtraInfo":true,"frameId":"822B12FE236A1BCFDA3EFD2806D8C34D"},"sessionId":"page"}`,
	`{"method":"Network.dataReceived","params":{"requestId":"26191.{n}","timestamp":58659.672956,"dataLength":9,"encodedDataLength":0},"sessionId":"page"}`,
	`{"method":"Network.loadingFinished","params":{"requestId":"26191.{n}","timestamp":58659.665094,"encodedDataLength":115},"sessionId":"page"}`,
}

// lineSaid is a console line in Chromium's form.
const lineSaid = `{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"type":"string","value":"line"},{"type":"number","value":{n},"description":"{n}"},{"type":"string","value":"of a flood"}],"executionContextId":2,"timestamp":1.79530352607109e+15,"stackTrace":{"callFrames":[{"functionName":"some","scriptId":"4","url":"http://127.0.0.1:8080/","lineNumber":0,"columnNumber":97},{"functionName":"","scriptId":"4","url":"http://127.0.0.1:8080/","lineNumber":0,"columnNumber":129}]}},"sessionId":"page"}`

// listener is a monitor that captures everything in a browser's page, and a
// reader of its events.
type listener struct {
	*capture.Monitor
	*capture.Reader
}

func listening(t testing.TB) (*browserSays, listener) {
	t.Helper()
	browser := &browserSays{wake: make(chan struct{}, 1)}
	conn := cdp.NewConn(browser)
	m := capture.NewMonitor(capture.Options{Ring: capture.NewRing(capture.RingOptions{})})
	t.Cleanup(func() { _, _ = m.Close(), conn.Close() })
	if err := m.Attach(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	all := capture.Config{Console: true, Network: true, NetworkResponseBody: true, Navigation: true, DOM: true, LayoutShifts: true, Targets: true, Interactions: true, ComputedEvents: true}
	if _, err := m.Start(all); err != nil {
		t.Fatal(err)
	}
	browser.say([]byte(`{"method":"Page.frameNavigated","params":{"frame":{"id":"822B12FE236A1BCFDA3EFD2806D8C34D","loaderId":"004F8304E164A6E231C667B226D38095","url":"http://127.0.0.1:8080/"},"type":"Navigation"},"sessionId":"page"}`))
	return browser, listener{m, m.Ring().Read(0)}
}

// said repeats the browser's messages n times, numbered.
func said(texts []string, n int) [][]byte {
	lines := make([][]byte, 0, n*len(texts))
	for i := range n {
		for _, text := range texts {
			lines = append(lines, []byte(strings.ReplaceAll(text, "{n}", fmt.Sprint(i+1))))
		}
	}
	return lines
}

// await reads until n events of a type have arrived.
func await(t testing.TB, reader listener, eventType string, n int) {
	t.Helper()
	for n > 0 {
		e, err := reader.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == capture.TypeEventsDropped {
			t.Fatalf("dropped: %s", e.Data)
		}
		if e.Type == eventType {
			n--
		}
	}
}

func replay(b *testing.B, texts []string, eventType string) {
	browser, reader := listening(b)
	const at = 200 // requests or lines per round
	lines := said(texts, at)
	b.ReportAllocs()
	before := spent(b)
	for b.Loop() {
		browser.say(lines...)
		await(b, reader, eventType, at)
	}
	b.ReportMetric(float64((spent(b)-before).Microseconds())/float64(b.N)/at, "cpu-µs/each")
}

// spent returns the processor time that this process has used.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRequests measures 200 requests, from Chromium's messages to events at
// a reader.
func BenchmarkRequests(b *testing.B) { replay(b, requestSaid, capture.TypeNetworkResponse) }

// BenchmarkLines measures 200 console lines, from Chromium's messages to events
// at a reader.
func BenchmarkLines(b *testing.B) { replay(b, []string{lineSaid}, capture.TypeConsoleLog) }

// TestAllocations bounds the server's cost of a page that sends many requests or
// logs many lines. Allocations are most of that cost, and can be counted.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name, eventType string
		texts           []string
		most            float64 // maximum per event; a quarter of it is left for the race detector
	}{
		{"request", capture.TypeNetworkResponse, requestSaid, 250},
		{"line", capture.TypeConsoleLog, []string{lineSaid}, 80},
	} {
		browser, reader := listening(t)
		const at = 100
		lines := said(c.texts, at)
		each := testing.AllocsPerRun(5, func() {
			browser.say(lines...)
			await(t, reader, c.eventType, at)
		}) / at
		if t.Logf("%s: %.1f allocations", c.name, each); each > c.most {
			t.Errorf("a %s takes %.1f allocations, of %v", c.name, each, c.most)
		}
	}
}

// TestBodiesWaitForThePage checks that bodies are not fetched while a page loads,
// and that all are fetched afterwards. A page that never finishes loading, or is
// left, does not hold them up.
func TestBodiesWaitForThePage(t *testing.T) {
	const n = 300
	texts := slices.Clone(requestSaid)
	for i := range texts {
		texts[i] = strings.ReplaceAll(texts[i], "image/png", "text/javascript")
	}
	leaves := strings.NewReplacer(`"type":"Script"`, `"type":"Document"`, "{n}", "away").Replace(requestSaid[0])
	for name, ends := range map[string]string{
		"loaded": `{"method":"Page.loadEventFired","params":{"timestamp":58659.6},"sessionId":"page"}`,
		"left":   leaves,
		"late":   "",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				browser, reader := listening(t)
				began := time.Now()
				browser.say(said(texts, n)...)
				synctest.Wait()
				if browser.asked != 0 {
					t.Errorf("%d bodies were asked for during the load", browser.asked)
				}
				if ends != "" {
					browser.say([]byte(ends))
				}
				for range n {
					for {
						e, err := reader.Next(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						if e.Type == capture.TypeNetworkResponse {
							if e.Truncated || !strings.Contains(string(e.Data), `"body":"var a"`) {
								t.Fatalf("without its body: %s", e.JSON())
							}
							break
						}
					}
				}
				if took := time.Since(began); ends != "" && took != 0 || took > 2*time.Second {
					t.Errorf("the bodies came after %v", took)
				}
			})
		})
	}
}

// TestStopDoesNotWaitForBodies checks that stopping a capture writes the
// responses that still wait for their bodies.
func TestStopDoesNotWaitForBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, reader := listening(t)
		text := strings.NewReplacer("image/png", "text/javascript")
		for _, said := range requestSaid {
			browser.say([]byte(strings.ReplaceAll(text.Replace(said), "{n}", "1")))
		}
		synctest.Wait()
		reader.Monitor.Stop()
		for {
			e, err := reader.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == capture.TypeNetworkResponse {
				if !e.Truncated || browser.asked != 0 {
					t.Errorf("%d bodies asked for; %s", browser.asked, e.JSON())
				}
				return
			}
		}
	})
}
