package source

// ArrowEnd returns the offset at which the arrow function that starts at start
// ends. Its body must be an expression. The expression ends before the first
// token outside of brackets that cannot continue it.
func ArrowEnd(code string, start int) int {
	s := scanner{src: code, pos: start}
	end := start
	body := false   // whether the arrow has been passed
	conditions := 0 // number of ? that wait for their :
	for {
		before := s.prev
		t, ok := s.next()
		if !ok {
			return end
		}
		if t.depth == 0 && t.kind == tokenPunct {
			switch s.text(t) {
			case ",", ";", ")", "]", "}":
				return end
			case ">":
				body = body || before.end == t.start && s.text(before) == "="
			case "?":
				next := byte(0)
				if t.end < len(code) {
					next = code[t.end]
				}
				switch {
				case next == '?': // ??
					s.next()
				case next == '.' && (t.end+1 >= len(code) || code[t.end+1] < '0' || code[t.end+1] > '9'): // ?.
				default:
					conditions++
				}
			case ":":
				if body && conditions == 0 {
					return end
				}
				conditions--
			}
		}
		if t.depth == 0 && t.kind == tokenQuoted && code[t.start] == '}' {
			return end // the function is inside a template
		}
		end = t.end
	}
}
