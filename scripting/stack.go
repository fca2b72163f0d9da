package scripting

import (
	"regexp"
	"strconv"
	"strings"
)

// mainName is the function that a script's body is put into.
const mainName = "__takeover_main"

// stackFrame matches a frame as goja writes it; the last number is the
// position in goja's own code.
var stackFrame = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)(?:\(\d+\))?\)?$`)

// tidyStack gives the frames of a JavaScript stack that lie in the script, one
// a line, each after a newline.
func tidyStack(stack, script string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(stack, "\n") {
		m := stackFrame.FindStringSubmatch(line)
		if m == nil || m[2] != script {
			continue
		}
		if m[1] == "" || m[1] == mainName {
			b.WriteString("\n    at " + m[2] + ":" + m[3] + ":" + m[4])
		} else {
			b.WriteString("\n    at " + m[1] + " (" + m[2] + ":" + m[3] + ":" + m[4] + ")")
		}
	}
	return b.String()
}

// position is the line and column of a tidy stack's first frame, 0 if it has
// none.
func position(tidy, script string) (line, column int) {
	for text := range strings.SplitSeq(tidy, "\n") {
		if m := stackFrame.FindStringSubmatch(text); m != nil && m[2] == script {
			line, _ = strconv.Atoi(m[3])
			column, _ = strconv.Atoi(m[4])
			return line, column
		}
	}
	return 0, 0
}
