package clipboard

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

const site = `<!doctype html><meta charset=utf-8><textarea id=field></textarea><input id=secret type=password value=hunter2>
<button id=write style="position:fixed;left:0;top:100px;width:100px;height:50px" onclick="navigator.clipboard.writeText('by the page')">x</button>
<button id=exec style="position:fixed;left:0;top:200px;width:100px;height:50px" onclick="field.value = 'by a command'; field.select(); document.execCommand('copy')">x</button>
<button id=image style="position:fixed;left:0;top:300px;width:100px;height:50px" onclick="copyImage(40, 30)">x</button>
<button id=large style="position:fixed;left:0;top:400px;width:100px;height:50px" onclick="copyImage(1000, 1000)">x</button>
<script>
// The press counts for five seconds, so write is called at once, with a promise.
const copyImage = (width, height) =>
	navigator.clipboard.write([new ClipboardItem({'image/png': draw(width, height)})]).catch(error => log.push(String(error)))
function draw(width, height) {
	const canvas = new OffscreenCanvas(width, height), context = canvas.getContext('2d'), noise = context.createImageData(width, height)
	for (let i = 0; i < noise.data.length; i++) noise.data[i] = i % 4 === 3 ? 255 : Math.random() * 256
	context.putImageData(noise, 0, 0)
	return canvas.convertToBlob()
}
const log = []
addEventListener('paste', e => log.push(['paste', e.isTrusted, e.clipboardData.getData('text/plain'), [...e.clipboardData.files].map(f => f.type).join()].join(' ')))
addEventListener('input', e => log.push(['input', e.inputType].join(' ')))
</script>`

// opened is a page, the clipboard of its browser, and the texts that were
// reported.
type opened struct {
	*browsertest.TestPage
	t         *testing.T
	clipboard *Clipboard
	told      chan string
}

func openBoth(t *testing.T) *opened {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(site))
	}))
	t.Cleanup(server.Close)
	p := &opened{TestPage: browsertest.Page(t), t: t, told: make(chan string, 100)}
	ctx := browsertest.Context(t, "open the clipboard")
	p.must(cdp.Call(ctx, p.Session, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	p.must(cdp.Call(ctx, p.Session, page.BringToFront, proto.Empty{}))
	p.Open(server.URL)
	p.Eval(`field.value = 'before'; field.focus(); field.select()`, nil)
	p.shortcut("C")
	p.Eval(`field.value = ''; log.splice(0)`, nil)

	events := cdp.NewQueue(0, nil)
	client, err := p.Client.Conn().NewClient(ctx, events)
	p.must(nil, err)
	handled := make(chan struct{})
	attached := make(chan *Clipboard, 1)
	go func() {
		defer close(handled)
		var it *Clipboard
		for {
			ev, err := events.Next(context.Background())
			if err != nil {
				return
			}
			if it == nil {
				it = <-attached
			}
			if ev.Session == it.Session() {
				it.HandleEvent(ev)
			}
		}
	}()
	p.clipboard, err = Open(ctx, client, func(c *Clipboard) { attached <- c }, func(c Copy, err error) {
		told := c.Text
		if c.Image != nil {
			size, err := png.DecodeConfig(bytes.NewReader(c.Image))
			told = fmt.Sprintf("image %dx%d %v", size.Width, size.Height, err)
		}
		if err != nil {
			told = "error " + err.Error()
		}
		p.told <- told
	})
	p.must(nil, err)
	t.Cleanup(func() {
		p.clipboard.Close()
		p.must(nil, client.Close(context.Background()))
		<-handled
	})
	p.hears("before")
	return p
}

func (p *opened) must(_ any, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// shortcut presses Control and a letter.
func (p *opened) shortcut(letter string) {
	p.t.Helper()
	for _, kind := range []cdpinput.DispatchKeyEventType{cdpinput.DispatchKeyEventTypeKeyDown, cdpinput.DispatchKeyEventTypeKeyUp} {
		p.must(cdp.Call(p.t.Context(), p.Session, cdpinput.DispatchKeyEvent, cdpinput.DispatchKeyEventParams{
			Type: kind, Modifiers: 2, Key: strings.ToLower(letter), Code: "Key" + letter, WindowsVirtualKeyCode: int64(letter[0]),
		}))
	}
}

func (p *opened) click(y float64) {
	p.t.Helper()
	for _, kind := range []cdpinput.DispatchMouseEventType{cdpinput.DispatchMouseEventTypeMousePressed, cdpinput.DispatchMouseEventTypeMouseReleased} {
		p.must(cdp.Call(p.t.Context(), p.Session, cdpinput.DispatchMouseEvent, cdpinput.DispatchMouseEventParams{
			Type: kind, X: 20, Y: y, Button: "left", ClickCount: 1,
		}))
	}
}

// hears waits for the next report.
func (p *opened) hears(want string) {
	p.t.Helper()
	select {
	case got := <-p.told:
		if got != want {
			p.t.Errorf("told %.80q, want %.80q", got, want)
		}
	case <-browsertest.Context(p.t, "hear of "+want).Done():
		p.t.Fatalf("not told of %q; the page says %q", want, p.log())
	}
}

func (p *opened) log() string {
	p.t.Helper()
	var log []string
	p.Eval(`log.splice(0)`, &log)
	return strings.Join(log, "; ")
}

func TestPagesPasteWhatIsWritten(t *testing.T) {
	p := openBoth(t)
	ctx := browsertest.Context(t, "write")
	p.Eval(`field.focus()`, nil)
	p.must(nil, p.clipboard.SetText(ctx, "two\nlines, 日本 🙂"))
	p.shortcut("V")
	if got, want := p.log(), "paste true two\nlines, 日本 🙂 ; input insertFromPaste"; got != want {
		t.Errorf("page received %q, want %q", got, want)
	}
	var value string
	if p.Eval(`field.value`, &value); value != "two\nlines, 日本 🙂" {
		t.Errorf("the field holds %q", value)
	}

	var picture bytes.Buffer
	p.must(nil, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))))
	p.must(nil, p.clipboard.SetImage(ctx, picture.Bytes()))
	p.shortcut("V")
	if got, want := p.log(), "paste true  image/png; input insertFromPaste"; got != want {
		t.Errorf("page received %q, want %q", got, want)
	}
	if err := p.clipboard.SetImage(ctx, []byte("no image")); err == nil || strings.Contains(err.Error(), "no image") {
		t.Errorf("what is no image: %v", err)
	}
	if err := p.clipboard.SetImage(ctx, make([]byte, MaxImageBytes+1)); err == nil {
		t.Error("an image may have any size")
	}
}

func TestCopiesAreHeard(t *testing.T) {
	p := openBoth(t)
	ctx := browsertest.Context(t, "copy")
	p.Eval(`field.value = 'selected'; field.focus(); field.select()`, nil)
	p.shortcut("C")
	p.hears("selected")
	p.click(110)
	p.hears("by the page")
	p.click(210)
	p.hears("by a command")

	// Neither text that the test writes itself nor the content of a password
	// field is reported.
	p.must(nil, p.clipboard.SetText(ctx, "ours"))
	p.Eval(`secret.focus(); secret.select()`, nil)
	p.shortcut("C")
	p.Eval(`field.value = 'ours'; field.focus(); field.select()`, nil)
	p.shortcut("C")
	p.hears("ours")
	p.Eval(`field.value = 'x'.repeat(`+strconv.Itoa(MaxTextBytes+1)+`); field.select()`, nil)
	p.shortcut("X")
	p.hears("error " + ErrTooLong.Error())
	p.click(310)
	p.hears("image 40x30 <nil>")
	var picture bytes.Buffer
	p.must(nil, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))))
	p.must(nil, p.clipboard.SetImage(ctx, picture.Bytes())) // ours
	p.click(410)
	p.hears("error " + ErrTooLarge.Error())
	if len(p.told) > 0 {
		t.Errorf("also told %q", <-p.told)
	}
}

func TestNobodySeesThePage(t *testing.T) {
	p := openBoth(t)
	res, err := cdp.Call(t.Context(), p.Client.Browser(), target.GetTargets, target.GetTargetsParams{})
	p.must(nil, err)
	for _, info := range res.TargetInfos {
		if strings.HasPrefix(info.URL, address) && info.Type != "other" {
			t.Errorf("the clipboard is a %s", info.Type)
		}
	}
}
