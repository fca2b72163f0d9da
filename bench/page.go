package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	width  = 1280
	height = 720

	// Where the page shows the clicks, and where to click: a square whose colour
	// changes with every press.
	markX, markY = 640, 360
)

// testPage is the page that both sides show. Its square changes between black and
// white with every press. With ?animate, something above it moves in every frame.
// With ?text, it is full of text, so that its pictures are large.
const testPage = `<!doctype html><meta charset=utf-8><title>bench</title>
<style>body{margin:0;font:40px monospace;background:#fff;overflow:hidden;cursor:default;user-select:none}
#mark{position:absolute;left:540px;top:300px;width:200px;height:200px;background:#fff}
#box{position:absolute;top:40px;width:200px;height:200px;background:#36c}#count{position:absolute;top:600px;left:40px}</style>
<div id=mark></div>
<script>
let presses = 0
addEventListener('mousedown', e => { mark.style.background = ++presses % 2 ? '#000' : '#fff' })
if (location.search == '?animate') {
	document.body.insertAdjacentHTML('beforeend', '<div id=box></div><div id=count></div>')
	let frames = 0;
	(function paint() { frames++; box.style.left = frames * 7 % 1080 + 'px'; count.textContent = frames; requestAnimationFrame(paint) })()
}
if (location.search == '?text') {
	let n = 7
	const random = () => (n = n * 16807 % 2147483647) / 2147483647
	const words = Array.from({ length: 650 }, () => Math.round(random() * 1e6).toString(36))
	document.body.insertAdjacentHTML('afterbegin', '<div style="font:14px/26px sans-serif;padding:0 40px">' + words.join(' ') + '</div>')
}
</script>`

// Paths of the page of the script rows, and of its target.
const formPath, welcomePath = "sign-in", "welcome"

const formPage = `<!doctype html><meta charset=utf-8><title>Sign in</title><style>body{font:16px sans-serif}</style>
<h1>Sign in</h1><form action=welcome><label>User <input name=user></label><label>Password <input name=password type=password></label>
<button>Sign in</button></form><button onclick="this.dataset.n = +(this.dataset.n || 0) + 1">Count</button><ul><li>one</li><li>two</li><li>three</li></ul>`

const welcomePage = `<!doctype html><meta charset=utf-8><title>Welcome</title><h1>Welcome</h1>`

// manyPath is a page that makes manyRequests requests, including the one for
// itself: scripts, style sheets and small pictures. It shows what the capture
// costs when other work is going on.
const (
	manyPath     = "many"
	manyRequests = 200
	manyScripts  = 80
	manySheets   = 20
)

var manyPage = `<!doctype html><meta charset=utf-8><title>many</title>` + func() string {
	var b strings.Builder
	for i := range manySheets {
		fmt.Fprintf(&b, "<link rel=stylesheet href='many.css?%d'>", i)
	}
	for i := range manyScripts {
		fmt.Fprintf(&b, "<script defer src='many.js?%d'></script>", i)
	}
	for i := range manyRequests - manySheets - manyScripts - 1 {
		fmt.Fprintf(&b, "<img src='dot.png?%d' width=10 height=10>", i)
	}
	return b.String()
}()

var (
	manySheet  = strings.Repeat(".some > .rule { margin: 0 auto; padding: 1px }\n", 30)
	manyScript = strings.Repeat("function some(a, b) { return a + b }\n", 60)
)

var dot = func() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 10, 10))) // writes to memory
	return b.Bytes()
}()

// floodPath is testPage with a worker. From the first press on, the worker logs
// as many lines as the query asks for. At the end, the page's title is floodOver.
const (
	floodPath = "flood"
	floodOver = "the flood is over"
)

const floodPage = testPage + `<script>
addEventListener('mousedown', () => {
	const code = 'let n = 0; (function some() { for (let i = 0; i < 500 && n < ' + location.search.slice(1) + '; i++) console.log("line", ++n, "of a flood");'
		+ 'n < ' + location.search.slice(1) + ' ? setTimeout(some) : postMessage(n) })()'
	new Worker(URL.createObjectURL(new Blob([code]))).onmessage = () => { document.title = 'the flood is over' }
}, { once: true })
</script>`

// servePage serves testPage and the pages of the script and capture rows on a
// port of its own, and returns its address.
func servePage() (address string, stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/" + manyPath:
			_, _ = w.Write([]byte(manyPage))
		case "/many.css":
			w.Header().Set("Content-Type", "text/css")
			_, _ = w.Write([]byte(manySheet))
		case "/many.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(manyScript))
		case "/dot.png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(dot)
		case "/" + floodPath:
			_, _ = w.Write([]byte(floodPage))
		case "/" + floodsPath:
			_, _ = w.Write([]byte(floodsPage))
		case "/" + formPath:
			_, _ = w.Write([]byte(formPage))
		case "/" + welcomePath:
			_, _ = w.Write([]byte(welcomePage))
		default:
			_, _ = w.Write([]byte(testPage))
		}
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return "http://" + l.Addr().String() + "/", func() { _ = server.Close(); <-done }, nil
}

// isBlack reports whether the square in a picture is black.
func isBlack(picture []byte) (bool, error) {
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return false, err
	}
	x, y := img.Bounds().Dx()*markX/width, img.Bounds().Dy()*markY/height
	return brightness(img, x, y) < 0x8000, nil
}

func brightness(img image.Image, x, y int) uint32 {
	r, g, b, _ := img.At(x, y).RGBA()
	return (r + g + b) / 3
}
