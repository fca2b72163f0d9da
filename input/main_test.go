package input

import (
	"slices"
	"strings"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// recorder is the script of a page that logs every input event in order.
const recorder = `<!doctype html><meta charset=utf-8><body style="margin:0;font:16px monospace">
<textarea id=field style="position:absolute;left:0;top:0;width:400px;height:100px;padding:0;border:0;margin:0;resize:none"></textarea>
<input id=second style="position:absolute;left:0;top:110px;width:200px">
<div id=box style="position:absolute;left:0;top:200px;width:400px;height:200px;background:#ccc"></div>
<div style="height:5000px"></div>
<script>
const log = []
const mods = e => [e.altKey && 'Alt', e.ctrlKey && 'Ctrl', e.metaKey && 'Meta', e.shiftKey && 'Shift'].filter(Boolean).map(m => ' +' + m).join('')
const touches = list => [...list].map(t => t.identifier + '@' + t.clientX + ',' + t.clientY).join(' ')
const say = {
	keydown: e => [e.key, e.code, 'loc' + e.location, e.keyCode + mods(e) + (e.repeat ? ' repeat' : '') + (e.isComposing ? ' composing' : '')],
	keypress: e => [e.key, e.charCode + mods(e)],
	beforeinput: e => [e.inputType, JSON.stringify(e.data)],
	input: e => [e.inputType, JSON.stringify(e.data)],
	compositionstart: e => [JSON.stringify(e.data)],
	mousedown: e => [e.clientX + ',' + e.clientY, 'button' + e.button, 'buttons' + e.buttons, 'detail' + e.detail + mods(e)],
	pointerdown: e => [e.pointerType, 'button' + e.button, 'buttons' + e.buttons],
	wheel: e => [e.clientX + ',' + e.clientY, e.deltaX + ',' + e.deltaY, 'mode' + e.deltaMode + mods(e)],
	touchstart: e => ['changed ' + touches(e.changedTouches), 'touches ' + touches(e.touches)],
	copy: e => [],
}
say.keyup = say.keydown
say.compositionupdate = say.compositionend = say.compositionstart
say.mouseup = say.mousemove = say.click = say.dblclick = say.auxclick = say.contextmenu = say.mousedown
say.pointerup = say.pointermove = say.pointercancel = say.gotpointercapture = say.pointerdown
say.touchend = say.touchmove = say.touchcancel = say.touchstart
say.cut = say.paste = say.copy
for (const type in say) addEventListener(type, e => log.push([type, ...say[type](e)].join(' ') + (e.isTrusted ? '' : ' UNTRUSTED')), {capture: true, passive: true})
addEventListener('scroll', () => log.includes('scroll') || log.push('scroll'))
</script>`

// testPage is a page that logs what it receives.
type testPage struct {
	*browsertest.TestPage
	*testing.T
	dispatcher *Dispatcher
}

func openRecorder(t *testing.T) *testPage {
	t.Helper()
	p := &testPage{TestPage: browsertest.Page(t), T: t}
	p.dispatcher = New(p.Session)
	p.must(cdp.Call(t.Context(), p.Session, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: 800, Height: 600, DeviceScaleFactor: 1}))
	p.must(cdp.Call(t.Context(), p.Session, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	p.must(cdp.Call(t.Context(), p.Session, page.BringToFront, proto.Empty{}))
	p.HTML(recorder)
	return p
}

func (p *testPage) must(_ any, err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// do validates and sends one message.
func (p *testPage) do(message any) {
	p.Helper()
	if err := message.(interface{ Validate() error }).Validate(); err != nil {
		p.Fatalf("%+v: %v", message, err)
	}
	var err error
	switch m := message.(type) {
	case Mouse:
		err = p.dispatcher.Mouse(m)
	case Key:
		err = p.dispatcher.Key(m)
	case Text:
		err = p.dispatcher.Text(m)
	case Compose:
		err = p.dispatcher.Compose(m)
	case Touch:
		err = p.dispatcher.Touch(m)
	}
	if err != nil {
		p.Fatalf("%+v: %v", message, err)
	}
}

// handled waits until the page has handled everything that was sent. It presses
// one more key, which the page handles last. Two frames later, the events that
// are tied to frames have arrived, too.
func (p *testPage) handled() []string {
	p.Helper()
	p.do(Key{Event: "down", Key: "F24", Code: "F24"})
	p.do(Key{Event: "up", Key: "F24", Code: "F24"})
	var log []string
	p.Eval(`new Promise(done => { (function look() { log.some(l => l.startsWith('keyup F24')) ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(look, 1) })() }).then(() => log.splice(0))`, &log)
	return slices.DeleteFunc(log, func(line string) bool { return strings.Contains(line, " F24 ") })
}
