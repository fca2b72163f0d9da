package recording

import "testing"

// TestRefusedTrace starts as many HARs as there may be. A trace that shall record requests,
// too, is then refused, and leaves nothing behind.
func TestRefusedTrace(t *testing.T) {
	k := New(nil)
	for range maxRecordings {
		if _, err := k.StartHAR(HAROptions{Content: ContentOmit}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.StartHAR(HAROptions{Content: ContentOmit}, nil); err == nil {
		t.Error("one HAR too many was started")
	}
	if _, err := k.StartTrace(TraceOptions{Network: true}); err == nil {
		t.Error("a trace of requests was started")
	}
	if traces, named := k.Traces(); len(traces) != 0 || named {
		t.Errorf("%d traces are under way", len(traces))
	}
	trace, err := k.StartTrace(TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	if traces, named := k.Traces(); len(traces) != 0 || !named {
		t.Errorf("after the end, %d traces are under way", len(traces))
	}
}
