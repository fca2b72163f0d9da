package cdp_test

import (
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
)

func TestSmoke(t *testing.T) {
	p, err := browser.Launch(t.Context(), browser.LaunchOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q := cdp.NewQueue(0, nil)
	cl, err := p.Conn().NewClient(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	ts, err := cdp.Call(t.Context(), cl.Browser(), target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	var id target.ID
	for _, i := range ts.TargetInfos {
		if i.Type == "page" {
			id = i.TargetID
		}
	}
	s, err := cl.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cdp.Call(t.Context(), s, runtime.Enable, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	r, err := cdp.Call(t.Context(), s, runtime.Evaluate, runtime.EvaluateParams{Expression: "1+2"})
	if err != nil || string(r.Result.Value) != "3" {
		t.Fatal(err, r)
	}
	ev, err := q.Next(t.Context())
	t.Log(ev.Method, err)
}
