package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

const (
	floodsTime = 8 * time.Second  // how long each page floods
	endedRest  = 60 * time.Second // how long the server has to give the memory back
	floodsPath = "floods"
)

// floods are the ways in which a page of floodsPath makes work: the code of each
// runs a hundred times in a second. It frees what it makes, because the growth of
// Chromium is not what the row measures.
var floods = []struct{ name, code string }{
	{"frames", `const f = document.createElement('iframe'); f.srcdoc = '<title>' + n + '</title>'; document.body.append(f); if (n > 20) document.querySelector('iframe').remove()`},
	{"workers", `const w = new Worker(URL.createObjectURL(new Blob(['console.log(' + n + ')']))); setTimeout(() => w.terminate(), 100)`},
	{"titles", `document.title = n + big.slice(0, 100_000)`},
	{"console", `console.log(n + big)`},
	{"errors", `for (let i = 0; i < 20; i++) setTimeout(() => { throw new Error(n + big.slice(0, 5_000)) })`},
	{"sockets", `const s = new WebSocket('ws://' + location.host + '/nothing?' + n); s.onerror = () => s.close()`},
	{"posts", `fetch('/post?' + n, {method: 'POST', body: n + big.slice(0, 200_000)}).catch(() => {})`},
	{"downloads", `const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob([big])); a.download = n + '.txt'; a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 1000)`},
	{"popups", `const p = open('about:blank'); setTimeout(() => p?.close(), 100)`},
	{"history", `history.replaceState(n, '', '?' + n + big.slice(0, 10_000))`},
}

const floodsPage = `<!doctype html><meta charset=utf-8><title>floods</title><body><script>
const big = 'some words '.repeat(100_000), flood = new Function('n', decodeURIComponent(location.hash.slice(1)))
let n = 0
setInterval(() => { try { flood(n++) } catch {} }, 10)
</script>`

// benchEnded measures what memory the server keeps of sessions that have ended, whose
// pages made as much work as they could while everything was captured and watched.
func benchEnded(ctx context.Context, e *env) ([]row, error) {
	s, err := startServer(ctx, e.binary, "--warm=-1")
	if err != nil {
		return nil, err
	}
	defer s.close()
	if _, err := s.flooded(ctx, e.page, time.Second); err != nil { // one-time allocations
		return nil, err
	}
	before, err := s.memory()
	if err != nil {
		return nil, err
	}
	most := before
	for _, f := range floods {
		during, err := s.flooded(ctx, e.page+floodsPath+"#"+url.PathEscape(f.code), e.lasting(floodsTime))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		most = max(most, during)
	}
	after, err := s.memory()
	if err != nil {
		return nil, err
	}
	rest := e.lasting(endedRest)
	for end := time.Now().Add(rest); after > before && time.Now().Before(end); {
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
		now, err := s.memory()
		if err != nil {
			return nil, err
		}
		after = min(after, now)
	}
	idle, err := s.sample(ctx)
	if err != nil {
		return nil, err
	}
	return []row{{
		what: "floods by ten pages: the server keeps", ours: after - before, unit: "MB", target: atMost(60),
		note: fmt.Sprintf("resident, within %v after them; %s MB before, at most %s MB at the end of a flood; the heap holds %s MB, garbage included", rest, number(before), number(most), number(idle.heap)),
	}}, nil
}

// flooded lets the page at an address work in a session of its own, of which everything
// is captured and which a viewer watches. It returns the server's memory at the end, in
// MB.
func (s *server) flooded(ctx context.Context, address string, d time.Duration) (memory float64, err error) {
	id, err := s.create(ctx, "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.release(ctx, id)) }()
	if err := s.capture(ctx, id, everything); err != nil {
		return 0, err
	}
	v, err := s.view(ctx, id, viewOptions{})
	if err != nil {
		return 0, err
	}
	defer v.close()
	if err := s.script(ctx, id, "await page.goto(args, {waitUntil: 'commit'})", address, nil); err != nil {
		return 0, err
	}
	if err := pause(ctx, d); err != nil {
		return 0, err
	}
	return s.memory()
}
