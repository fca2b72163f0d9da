package screencast

import (
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	const trip = 200 * time.Millisecond
	over := func(rate float64, bytes int) time.Duration {
		return trip + drawing + time.Duration(float64(bytes)/rate*float64(time.Second))
	}
	level := func(l *Line, bytes int, sharp bool) int {
		level, smaller := l.level(bytes, sharp)
		if !smaller {
			return -1
		}
		return level
	}
	const slow, large, still = 125_000, 75_000, 240_000
	var l Line
	l.passed(large, over(slow, large), true)
	l.passed(large, over(slow, large), true)
	if got := level(&l, large, false); got != -1 {
		t.Errorf("level %d, although the round trip is not known", got)
	}
	l.RoundTrip(trip)
	l.passed(large, over(slow, large), true)
	if got := level(&l, large, false); got != -1 {
		t.Errorf("level %d after one slow picture", got)
	}
	if got := level(&l, still, true); got != 1 {
		t.Errorf("a still has level %d after one slow picture", got)
	}
	l.passed(large, over(slow, large), true)
	if got := level(&l, large, false); got != 2 {
		t.Errorf("level %d on a slow line", got)
	}
	if got := level(&l, 20_000, false); got != -1 {
		t.Errorf("a small picture has level %d", got)
	}
	l.passed(8_000, over(slow, 8_000), true)
	l.passed(8_000, trip+drawing, true) // as good as none: it says nothing of large ones
	if got := level(&l, large, false); got < 1 {
		t.Errorf("level %d after small pictures on a slow line", got)
	}
	for range 20 {
		l.passed(large/4, trip+drawing, true)
	}
	if got := level(&l, large, false); got != -1 {
		t.Errorf("level %d on a line that has become fast", got)
	}
	l.passed(large, over(20_000, large), true)
	l.passed(large, over(20_000, large), true)
	l.passed(large, over(10_000, large), false) // behind another one: it says nothing bad
	l.passed(large, over(60_000, large), false)
	if got := level(&l, large, false); got != 4 {
		t.Errorf("level %d at 60 KB/s", got)
	}
	l.passed(large, over(1_000_000, large), false)
	if got := level(&l, large, false); got != -1 {
		t.Errorf("level %d on a line that has become fast while the page moves", got)
	}
	for range 2 {
		l.passed(large, over(4_000, large), true)
	}
	if got := level(&l, large, false); got != len(levels)-1 {
		t.Errorf("level %d on the slowest line", got)
	}
	if got := level(&l, still, true); got != stillLevel {
		t.Errorf("a still has level %d on the slowest line", got)
	}
}

// heavy is a page whose pictures are large. Its function change() replaces one
// number.
const heavy = `<body style="margin:0;font:10px/11px monospace;overflow:hidden"><b id=count style="font:40px sans-serif">0</b><div id=text style="word-break:break-all"></div>
<script>let n = 7; const random = () => (n = n * 16807 % 2147483647) / 2147483647
text.innerHTML = Array.from({ length: 3000 }, () => '<span style="color:hsl(' + Math.round(random() * 360) + ' 90% 40%)">' + Math.round(random() * 1e5).toString(36) + '</span>').join('')
function change() { count.textContent++ }</script>`

// TestSlowLineGetsSmallSinglePictures changes a page now and then, as presses do.
// On a slow line, the pictures soon take no longer than their budget, and what a
// viewer has learned about its line holds for its next subscription, too.
func TestSlowLineGetsSmallSinglePictures(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(heavy)
	link, known := &line{bytesPerSec: 125_000, trip: 100 * time.Millisecond}, new(Line)
	known.RoundTrip(link.trip)
	see := func(s *Subscription) (bytes int) {
		t.Helper()
		f := p.next(s)
		seq, wide := f.Seq, f.ViewportWidth
		bytes = len(f.Message())
		f.Release()
		if wide != testWidth {
			t.Fatalf("the viewport is said to be %d wide", wide)
		}
		acked := make(chan struct{})
		link.pass(bytes, func() { s.Ack(seq); close(acked) })
		<-acked
		return bytes
	}
	budget := int(link.bytesPerSec * pictureBudget.Seconds() * 1.3)
	s := p.cast.Join(View{Width: testWidth, Height: testHeight}, known)
	full := see(s)
	for range 4 {
		p.Eval("change()", nil)
		see(s)
	}
	p.Eval("change()", nil)
	if got := see(s); got > budget || got >= full {
		t.Errorf("a single picture has %d bytes on a slow line, of %d: want at most %d", got, full, budget)
	}
	s.Close()
	again := p.cast.Join(View{Width: testWidth, Height: testHeight}, known)
	defer again.Close()
	if got := see(again); got > budget {
		t.Errorf("the first picture of the next subscription has %d bytes", got)
	}
}
