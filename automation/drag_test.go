package automation_test

import (
	"slices"
	"strings"
	"testing"
)

const dragPage = `<body style="margin:0"><div id=a draggable=true style="width:100px;height:100px">a</div><div id=b style="width:100px;height:100px">b</div>
<script>
	window.seen = [];
	for (const type of ['mousedown', 'mouseup', 'click', 'dragstart', 'dragenter', 'dragover', 'dragleave', 'drop', 'dragend'])
		document.addEventListener(type, e => {
			seen.push(type + ' ' + (e.target.id || e.target.nodeName));
			if (type == 'dragstart') location.hash ? e.preventDefault() : e.dataTransfer.setData('text/plain', 'word');
			if (type == 'dragover') e.preventDefault();
			if (type == 'drop') seen.push(e.dataTransfer.getData('text/plain'));
		});
</script>`

// TestDrag drags elements as a person would: the page sees the same events, with
// the data, and input works as usual afterwards.
func TestDrag(t *testing.T) {
	r := newRig(t)
	s := site(t, map[string]string{"/": dragPage, "/frames": `<iframe src="/" style="width:300px;height:300px"></iframe>`})
	const whole = "mousedown a,dragstart a,dragenter b,dragover b,drop b,word,dragend a"
	seen := func() any {
		t.Helper()
		return r.eval("seen.splice(0).join()")
	}
	has := func(got any, event string) bool { return slices.Contains(strings.Split(got.(string), ","), event) }
	r.do("frame.goto", params{"url": s.URL + "/"}, nil)
	for range 2 {
		r.do("frame.dragAndDrop", params{"sourceSelector": "#a", "targetSelector": "#b"}, nil)
		if got := seen(); got != whole {
			t.Errorf("a drag is seen as %q", got)
		}
	}
	r.do("frame.click", params{"selector": "#b"}, nil)
	if got := seen(); got != "mousedown b,mouseup b,click b" {
		t.Errorf("a click afterwards is seen as %s", got)
	}

	page := params{"page": r.page}
	r.do("frame.hover", params{"selector": "#a"}, nil)
	r.do("mouse.down", page, nil)
	r.do("frame.hover", params{"selector": "#b"}, nil)
	r.do("keyboard.press", params{"page": r.page, "key": "Escape"}, nil)
	r.do("mouse.up", page, nil)
	if got := seen(); has(got, "drop b") || !has(got, "dragend a") {
		t.Errorf("a drag that Escape ends is seen as %q", got)
	}

	r.do("frame.goto", params{"url": s.URL + "/#no"}, nil)
	seen()
	r.do("frame.dragAndDrop", params{"sourceSelector": "#a", "targetSelector": "#b"}, nil)
	if got := seen(); has(got, "drop b") || !has(got, "mouseup b") {
		t.Errorf("a drag that the page forbids is seen as %q", got)
	}

	r.do("frame.goto", params{"url": s.URL + "/frames"}, nil)
	r.do("frame.dragAndDrop", params{"sourceSelector": "iframe >> internal:control=enter-frame >> #a", "targetSelector": "iframe >> internal:control=enter-frame >> #b"}, nil)
	if got := r.eval("frames[0].seen.join()"); got != whole {
		t.Errorf("in a frame a drag is seen as %q", got)
	}
}
