package cdp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
)

// newClient attaches a further client to the page's target.
func newClient(t *testing.T, conn *cdp.Conn, id target.ID) (*cdp.Client, *cdp.Session, *cdp.Queue) {
	t.Helper()
	q := cdp.NewQueue(0, nil)
	client, err := conn.NewClient(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	session, err := client.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return client, session, q
}

func evaluate(t *testing.T, s *cdp.Session, expression string) string {
	t.Helper()
	res, err := cdp.Call(browsertest.Context(t, "evaluate"), s, runtime.Evaluate,
		runtime.EvaluateParams{Expression: expression, ReturnByValue: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Result.Value)
}

// forever makes a call that Chromium never answers. Its error goes to the
// returned channel.
func forever(ctx context.Context, s *cdp.Session) <-chan error {
	failed := make(chan error, 1)
	go func() {
		_, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: "new Promise(() => {})", AwaitPromise: new(true)})
		failed <- err
	}()
	return failed
}

func TestClientsDoNotSeeEachOther(t *testing.T) {
	conn := browsertest.Start(t).Conn()
	page := browsertest.Page(t)
	_, loud, heard := newClient(t, conn, page.ID)
	_, quiet, unheard := newClient(t, conn, page.ID)
	if _, err := cdp.Call(t.Context(), loud, runtime.Enable, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	evaluate(t, quiet, `console.log("for the one who asked")`)
	for {
		ev, err := heard.Next(browsertest.Context(t, "the console event"))
		if err != nil {
			t.Fatal(err)
		}
		if ev.Session != loud.ID() && ev.Method != target.AttachedToTarget.Method {
			t.Errorf("an event of another session: %+v", ev)
		}
		if ev.Method == runtime.ConsoleAPICalled.Method {
			break
		}
	}
	evaluate(t, quiet, "1") // after this, all earlier events have been delivered
	unheard.Close()
	for {
		ev, err := unheard.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if ev.Method != target.AttachedToTarget.Method {
			t.Errorf("the quiet client got %s", ev.Method)
		}
	}
}

func TestEventsComeInOrderAndBeforeTheReply(t *testing.T) {
	const n = 3000
	_, session, events := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	if _, err := cdp.Call(t.Context(), session, runtime.Enable, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	evaluate(t, session, fmt.Sprintf("for (let i = 0; i < %d; i++) console.log(i)", n))
	events.Close() // the reply has arrived, and so have all events
	count := 0
	for {
		ev, err := events.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if ev.Method != runtime.ConsoleAPICalled.Method {
			continue
		}
		called, err := cdp.Decode(ev, runtime.ConsoleAPICalled)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(called.Args[0].Value); got != fmt.Sprint(count) {
			t.Fatalf("event %d says %s", count, got)
		}
		count++
	}
	if count != n {
		t.Errorf("%d events of %d", count, n)
	}
}

func TestPostedReplyStandsAmongTheEvents(t *testing.T) {
	_, session, events := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	if _, err := cdp.Call(t.Context(), session, runtime.Enable, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		method, expression string
		token              int
	}{{"Runtime.evaluate", "console.log('a')", 1}, {"No.such", "", 2}, {"Runtime.evaluate", "console.log('b')", 3}} {
		if err := session.Post(p.method, map[string]any{"expression": p.expression}, p.token); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for len(got) < 5 {
		ev, err := events.Next(browsertest.Context(t, "an event"))
		if err != nil {
			t.Fatal(err)
		}
		var refused *cdp.Error
		switch {
		case errors.As(ev.Err, &refused):
			got = append(got, fmt.Sprint(ev.Token, refused.Code))
		case ev.Token != nil:
			got = append(got, fmt.Sprint(ev.Token))
		case ev.Method == runtime.ConsoleAPICalled.Method:
			got = append(got, "log")
		}
	}
	if want := "log 1 2 -32601 log 3"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestRefusedCommand(t *testing.T) {
	_, session, _ := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	err := session.Call(t.Context(), "Runtime.evaluate", json.RawMessage(`{}`), nil)
	var refused *cdp.Error
	if !errors.As(err, &refused) || refused.Code != -32602 || refused.Method != "Runtime.evaluate" || refused.Message == "" {
		t.Errorf("%#v", err)
	}
	if !strings.HasPrefix(err.Error(), "Runtime.evaluate: ") {
		t.Error(err)
	}
}

func TestDetachFailsPendingCalls(t *testing.T) {
	conn := browsertest.Start(t).Conn()
	page := browsertest.Page(t)
	client, session, events := newClient(t, conn, page.ID)
	other, _, _ := newClient(t, conn, page.ID)

	pending := forever(t.Context(), session)
	evaluate(t, session, "1") // Chromium replies in order, so the earlier call is running
	if err := client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-pending; !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("client closed: %v", err)
	}
	if err := session.Call(t.Context(), "Runtime.evaluate", nil, nil); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("call on a closed client: %v", err)
	}
	for {
		if _, err := events.Next(t.Context()); errors.Is(err, io.EOF) {
			break // its sink is closed
		}
	}

	created, err := cdp.Call(t.Context(), other.Browser(), target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: page.Context})
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.Attach(t.Context(), created.TargetID)
	if err != nil {
		t.Fatal(err)
	}
	pending = forever(t.Context(), second)
	evaluate(t, second, "1")
	if _, err := cdp.Call(t.Context(), other.Browser(), target.CloseTarget, target.CloseTargetParams{TargetID: created.TargetID}); err != nil {
		t.Fatal(err)
	}
	if err := <-pending; !errors.Is(err, cdp.ErrDetached) {
		var refused *cdp.Error
		if !errors.As(err, &refused) { // Chromium may have replied just before
			t.Errorf("page closed: %v", err)
		}
	}
}

func TestDeathFailsEverything(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{})
	page := browsertest.PageOf(t, p.Conn())
	var pending []<-chan error
	var sinks []*cdp.Queue
	for range 3 {
		_, session, events := newClient(t, p.Conn(), page.ID)
		pending, sinks = append(pending, forever(t.Context(), session)), append(sinks, events)
		evaluate(t, session, "1")
	}
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, failed := range pending {
		if err := <-failed; !errors.Is(err, cdp.ErrClosed) {
			t.Error(err)
		}
	}
	for _, events := range sinks {
		for {
			if _, err := events.Next(t.Context()); errors.Is(err, io.EOF) {
				break
			}
		}
	}
	<-p.Conn().Done()
	if err := p.Conn().Err(); !errors.Is(err, cdp.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.Conn().NewClient(t.Context(), nil); !errors.Is(err, cdp.ErrClosed) {
		t.Error(err)
	}
}

func TestCancelledCall(t *testing.T) {
	_, session, _ := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	why := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	pending := forever(ctx, session)
	evaluate(t, session, "1")
	cancel(why)
	if err := <-pending; !errors.Is(err, why) {
		t.Error(err)
	}
	if got := evaluate(t, session, "1+2"); got != "3" {
		t.Error(got)
	}
}

func TestSendKeepsTheOrder(t *testing.T) {
	_, session, _ := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	evaluate(t, session, "var said = []")
	for i := range 500 {
		err := cdp.Send(session, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf("said.push(%d)", i)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := evaluate(t, session, "said.length === 500 && said.every((n, i) => n === i)"); got != "true" {
		t.Errorf("in order: %s", got)
	}
}

// hugeBytes is far more than a pipe and our buffers can hold.
const hugeBytes = 24 << 20

func TestHugeMessages(t *testing.T) {
	_, session, _ := newClient(t, browsertest.Start(t).Conn(), browsertest.Page(t).ID)
	testHugeMessages(t, session)
}

// testHugeMessages sends a huge message in each direction, among small ones.
func testHugeMessages(t *testing.T, session *cdp.Session) {
	t.Helper()
	var small sync.WaitGroup
	for worker := range 4 {
		small.Go(func() {
			for i := range 50 {
				want := fmt.Sprint(worker*1000 + i)
				res, err := cdp.Call(t.Context(), session, runtime.Evaluate, runtime.EvaluateParams{Expression: want})
				if err != nil || string(res.Result.Value) != want {
					t.Errorf("%s came back as %s, %v", want, res.Result.Value, err)
					return
				}
			}
		})
	}
	text := strings.Repeat("0123456789abcdef", hugeBytes/16)
	res, err := cdp.Call(browsertest.Context(t, "a huge message"), session, runtime.Evaluate,
		runtime.EvaluateParams{Expression: `"` + text + `"`, ReturnByValue: new(true)})
	small.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(res.Result.Value); got != `"`+text+`"` {
		t.Errorf("%d bytes came back changed or cut to %d", len(text), len(got))
	}
}
