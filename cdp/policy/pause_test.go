package policy

import "testing"

// TestPauseInAReservedWorld asks for a pause, and gets one in a world of the server: the
// page pauses later, unless the browser has refused to pause.
func TestPauseInAReservedWorld(t *testing.T) {
	for _, refused := range []bool{false, true} {
		var s pause
		if reason := s.check("Debugger.pause", pauseParams{}); reason != "" {
			t.Fatal(reason)
		}
		if refused {
			s.failed("Debugger.pause")
		}
		shown, again := s.paused([]byte(`{"callFrames":[{"callFrameId":"1.2.0"}]}`), func(context int64) bool { return context == 2 })
		if shown || again == refused {
			t.Errorf("refused %v: shown %v, again %v", refused, shown, again)
		}
		if s.resumed() {
			t.Error("the program learns of the end of a pause that it has not seen")
		}
	}
}
