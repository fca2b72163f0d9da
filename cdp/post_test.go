package cdp_test

import (
	"errors"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

// TestPost checks that replies arrive in order with events.
func TestPost(t *testing.T) {
	p := browsertest.Page(t)
	q := cdp.NewQueue(1, nil) // a full queue still keeps replies
	client, err := p.Client.Conn().NewClient(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.Attach(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Context(t, "replies")
	next := func() cdp.Event {
		t.Helper()
		ev, err := q.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for ev := next(); ev.Method != target.AttachedToTarget.Method; ev = next() {
	}
	must(s.Post(runtime.Enable.Method, proto.Empty{}, "enabled"))
	must(s.Post(page.GetFrameTree.Method, nil, "refused?"))
	must(s.Post("Page.nothing", nil, "refused"))
	if ev := next(); ev.Method != runtime.ExecutionContextCreated.Method || ev.Token != nil {
		t.Errorf("first came %s (%v)", ev.Method, ev.Token)
	}
	if ev := next(); ev.Token != "enabled" || ev.Method != runtime.Enable.Method || ev.Session != s.ID() || ev.Err != nil {
		t.Errorf("then %s (%v, %v)", ev.Method, ev.Token, ev.Err)
	}
	if ev := next(); ev.Token != "refused?" || len(ev.Params) == 0 {
		t.Errorf("then %s (%v)", ev.Method, ev.Token)
	}
	refused := next()
	if e, ok := errors.AsType[*cdp.Error](refused.Err); !ok || e.Method != "Page.nothing" || refused.Token != "refused" {
		t.Errorf("refusal: %v", refused.Err)
	}
	// The end of a session answers its pending commands.
	must(s.Post(runtime.Evaluate.Method, runtime.EvaluateParams{Expression: "new Promise(() => {})", AwaitPromise: new(true)}, "never"))
	if _, err := cdp.Call(ctx, client.Browser(), target.DetachFromTarget, target.DetachFromTargetParams{SessionID: target.SessionID(s.ID())}); err != nil {
		t.Fatal(err)
	}
	if ev := next(); ev.Method != target.DetachedFromTarget.Method {
		t.Errorf("then %s (%v, %v)", ev.Method, ev.Token, ev.Err)
	}
	if ev := next(); ev.Token != "never" || !errors.Is(ev.Err, cdp.ErrDetached) {
		t.Errorf("then %s (%v, %v)", ev.Method, ev.Token, ev.Err)
	}
	if err := s.Post("Page.enable", nil, "late"); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("after the end: %v", err)
	}
	must(client.Close(ctx))
}
