package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
)

// nothing reports that nothing is known about a page from the time before it was
// followed.
func nothing(context.Context) capture.Earlier { return capture.Earlier{} }

// TestRest checks that Rest waits until a page's activity is over, and that a
// capture does not record the events that only Rest needs.
func TestRest(t *testing.T) {
	r := record(t, capture.Config{Console: true})
	gate := make(chan struct{}, 1)
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><body style="margin:0"><div id=a style="height:50px"></div><p>text</p>`},
		handlers: map[string]http.HandlerFunc{"/slow": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
			fmt.Fprint(w, "done")
		}}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	ctx := browsertest.Context(t, "rest")
	// A page that existed before the first call.
	rest := func(ctx context.Context) error { return r.Rest(ctx, string(p.ID), nothing) }
	if err := rest(ctx); err != nil {
		t.Fatal(err)
	}

	// A request that the page sends after the call, but does not await.
	sent, resting := make(chan struct{}), make(chan error, 1)
	go func() {
		resting <- r.Rest(ctx, string(p.ID), func(context.Context) capture.Earlier {
			p.Eval(`fetch("/slow").then(r => r.text()); 0`, nil)
			close(sent)
			return capture.Earlier{}
		})
	}()
	select {
	case <-sent:
	case err := <-resting:
		t.Fatal("nobody asked what is under way:", err)
	}
	short, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
	defer cancel()
	if err := rest(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while a request was pending: %v", err)
	}
	began := time.Now()
	gate <- struct{}{}
	if err := <-resting; err != nil || time.Since(began) < 500*time.Millisecond {
		t.Errorf("the page rests %v after its answer, %v", time.Since(began), err)
	}

	// An animation.
	began = time.Now()
	p.Eval(`document.querySelector("#a").style.height = "150px"; new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
	if err := rest(ctx); err != nil || time.Since(began) < time.Second {
		t.Errorf("rests %v after it moved, %v", time.Since(began), err)
	}
	// A navigation starts the wait again.
	began = time.Now()
	p.Open(base + "/?again")
	if err := rest(ctx); err != nil || time.Since(began) < time.Second {
		t.Errorf("rests %v after it was loaded, %v", time.Since(began), err)
	}

	p.Eval(`console.log("end")`, nil)
	r.await(capture.TypeConsoleLog, field("text", "end"))
	for _, e := range r.seen {
		if e.Category != capture.CategoryConsole {
			t.Errorf("somebody sees %s", e.JSON())
		}
	}
	if err := r.Rest(ctx, "nowhere", nothing); !errors.Is(err, capture.ErrTargetGone) {
		t.Errorf("no page: %v", err)
	}
	p.Eval(`fetch("/slow"); 0`, nil)
	go func() { resting <- rest(ctx) }()
	if err := cdp.Send(p.Session, page.Close, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := <-resting; !errors.Is(err, capture.ErrTargetGone) {
		t.Errorf("a page that is closed: %v", err)
	}
}

// TestRestLearnsWhatWasUnderWay checks that a request that started before the
// page was followed counts, unless it ends while the monitor asks about it.
func TestRestLearnsWhatWasUnderWay(t *testing.T) {
	r := record(t, capture.Config{})
	gate := make(chan struct{})
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><p>text</p>`}, handlers: map[string]http.HandlerFunc{
		"/slow": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		},
	}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	ctx := browsertest.Context(t, "rest")
	if _, err := cdp.Call(ctx, p.Session, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	p.Eval(`fetch("/slow").then(r => r.text()); 0`, nil)
	var sent struct {
		RequestID string `json:"requestId"`
	}
	if err := json.Unmarshal(p.Await(network.RequestWillBeSent.Method).Params, &sent); err != nil {
		t.Fatal(err)
	}
	underWay := func(context.Context) capture.Earlier {
		return capture.Earlier{UnderWay: []capture.UnderWay{{ID: sent.RequestID, Target: string(p.ID), Kind: "fetch", Started: time.Now()}}}
	}
	short, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
	defer cancel()
	if err := r.Rest(short, string(p.ID), underWay); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while a request was pending: %v", err)
	}
	if err := r.Rest(ctx, string(p.ID), func(ctx context.Context) capture.Earlier {
		close(gate)
		p.Await(network.LoadingFinished.Method)
		return underWay(ctx)
	}); err != nil {
		t.Errorf("when it had ended: %v", err)
	}
}

// TestPaintsAreRecordedOnce checks that a capture has each largest paint once,
// also when a wait for rest asks Chromium for layout shifts in between.
func TestPaintsAreRecordedOnce(t *testing.T) {
	r := record(t, capture.Config{Navigation: true})
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><h1>text</h1>`}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	ctx := browsertest.Context(t, "rest")
	ofPage := func(e capture.Event, _ map[string]any) bool { return e.TargetID == string(p.ID) }
	first, _ := r.await("page_lcp", ofPage)
	for range 2 {
		if err := r.Rest(ctx, string(p.ID), nothing); err != nil {
			t.Fatal(err)
		}
	}
	p.Eval(`history.pushState(0, '', '/end')`, nil)
	r.await("navigation", func(e capture.Event, data map[string]any) bool {
		if e.Type == "page_lcp" && e.TargetID == string(p.ID) && e.TS == first.TS {
			t.Errorf("recorded again: %+v", data)
		}
		return e.TargetID == string(p.ID) && e.URL == base+"/end"
	})
}
