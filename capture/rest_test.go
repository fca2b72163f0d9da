package capture_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
)

// Rest waits for what goes on in a page, without anybody else seeing events of it.
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
	// A page that was there before anybody asked.
	if err := r.Rest(ctx, string(p.ID)); err != nil {
		t.Fatal(err)
	}
	defer r.Follow()()

	// What it has asked for, though nothing is waited for.
	p.Eval(`window.answer = ""; fetch("/slow").then(r => r.text()).then(text => { answer = text }); 0`, nil)
	resting := make(chan error, 1)
	go func() { resting <- r.Rest(ctx, string(p.ID)) }()
	short, cancel := context.WithTimeout(ctx, 800*time.Millisecond)
	defer cancel()
	if err := r.Rest(short, string(p.ID)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while a request was pending: %v", err)
	}
	gate <- struct{}{}
	if err := <-resting; err != nil {
		t.Fatal(err)
	}
	var answer string
	if p.Eval(`answer`, &answer); answer != "done" {
		t.Errorf("the page rests before its answer is there: %q", answer)
	}

	// What moves.
	began := time.Now()
	p.Eval(`document.querySelector("#a").style.height = "150px"; new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
	if err := r.Rest(ctx, string(p.ID)); err != nil || time.Since(began) < time.Second {
		t.Errorf("rests %v after it moved, %v", time.Since(began), err)
	}
	// A navigation begins anew.
	began = time.Now()
	p.Open(base + "/?again")
	if err := r.Rest(ctx, string(p.ID)); err != nil || time.Since(began) < time.Second {
		t.Errorf("rests %v after it was loaded, %v", time.Since(began), err)
	}

	p.Eval(`console.log("end")`, nil)
	r.await(capture.TypeConsoleLog, field("text", "end"))
	for _, e := range r.seen {
		if e.Category != capture.CategoryConsole {
			t.Errorf("somebody sees %s", e.JSON())
		}
	}
	if err := r.Rest(ctx, "nowhere"); !errors.Is(err, capture.ErrTargetGone) {
		t.Errorf("no page: %v", err)
	}
	p.Eval(`fetch("/slow"); 0`, nil)
	go func() { resting <- r.Rest(ctx, string(p.ID)) }()
	if err := cdp.Send(p.Session, page.Close, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := <-resting; !errors.Is(err, capture.ErrTargetGone) {
		t.Errorf("a page that is closed: %v", err)
	}
}
