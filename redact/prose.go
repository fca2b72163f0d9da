package redact

import "strings"

// minProse is the length of the shortest text in which a sentence reveals a secret.
const minProse = len("pin 4711")

// The kinds of words before a secret in a sentence.
const (
	chosenBy = iota + 1 // a person chose the secret
	numbered            // the secret has digits only
	coded               // the secret is a code, if the word before says of which kind
	offered             // a code follows, and then what it is for
)

// proseWords are the words before a secret in a sentence.
var proseWords = map[string]int{
	"password": chosenBy, "passwort": chosenBy, "passwd": chosenBy, "passphrase": chosenBy, "passcode": chosenBy, "kennwort": chosenBy, "pwd": chosenBy,
	"token": chosenBy, "secret": chosenBy, "key": chosenBy, "pin": numbered, "otp": numbered, "code": coded, "use": offered, "enter": offered,
}

// proseStarts are the first letters of proseWords, and the digits.
var proseStarts = func() (starts [256]bool) {
	for word := range proseWords {
		starts[word[0]], starts[word[0]-'a'+'A'] = true, true
	}
	for c := byte('0'); c <= '9'; c++ {
		starts[c] = true
	}
	return starts
}()

var (
	// links are the words between a name and its value in a sentence.
	links = set("is", "was", "to", "set", "now", "ist", "war", "lautet")
	// codeKinds are the words before "code" that tell that the code lets somebody in.
	codeKinds = set("verification", "security", "login", "confirmation", "access", "authentication", "sms", "your", "the", "ihr", "dein", "der")
)

// prose returns the position of the secret in a sentence that follows the word
// s[at:end] and a space, or that is this word.
func (r *rules) prose(s string, at, end int) (from, to int) {
	const longest = len("passphrase")
	if n := end - at; isDigit(s[at]) {
		if n >= 4 && n <= 8 && isCode(s[at:end], 4) && isOffer(s[end:]) {
			return at, end
		}
		return at, -1
	} else if n < len("pin") || n > longest {
		return at, -1
	}
	var room [longest]byte
	word := append(room[:0], s[at:end]...)
	lower(word)
	kind := proseWords[string(word)]
	if kind == 0 {
		return at, -1
	}
	from, linked := end+1, false
	for {
		n := strings.IndexByte(s[from:], ' ')
		if n < 0 || !links[s[from:from+n]] {
			break
		}
		from, linked = from+n+1, true
	}
	if strings.HasPrefix(s[from:], Mark) {
		return at, -1
	}
	escaped := strings.HasPrefix(s[from:], `\"`) // in a quoted text, as the console shows the members of an object
	if escaped {
		from++
	}
	quoted := from < len(s) && strings.IndexByte("\"'`", s[from]) >= 0
	if quoted {
		from++
		n := strings.IndexByte(s[from:], s[from-1])
		if n < 0 {
			return at, -1
		}
		if to = from + n; escaped {
			to = from + len(strings.TrimRight(s[from:to], `\`))
		}
	} else {
		to = plainEnd(s, from, " \t\r\n\"'`<>&")
		to = from + len(strings.TrimRight(s[from:to], ".,;:)"))
	}
	value := s[from:to]
	secret := false
	switch kind {
	case chosenBy:
		secret = r.isFlag(s, at, end, value) || len(word) > len("key") && isChosen(value, linked, quoted)
	case numbered:
		secret = isCode(value, 4)
	case coded:
		secret = isCode(value, 6) && codeKinds[strings.ToLower(wordBefore(s, at))]
	case offered:
		secret = isCode(value, 6) && (strings.HasPrefix(s[to:], " to ") || strings.HasPrefix(s[to:], " as "))
	}
	if !secret {
		return at, -1
	}
	return from, to
}

// isCode reports whether a text is a number that a server sends to a person.
func isCode(value string, least int) bool {
	return len(value) >= least && len(value) <= 8 && span(value, 0, &digitBytes) == len(value)
}

// isOffer reports whether a sentence goes on as after a code: " is your login code".
func isOffer(rest string) bool {
	const within = 60
	if !strings.HasPrefix(rest, " is your ") && !strings.HasPrefix(rest, " ist Ihr ") && !strings.HasPrefix(rest, " ist dein ") {
		return false
	}
	rest = strings.ToLower(rest[:min(len(rest), within)])
	if n := strings.IndexAny(rest, ".\n"); n >= 0 {
		rest = rest[:n]
	}
	return strings.Contains(rest, "code")
}

// isChosen reports whether a word in a sentence looks like a password or a token. After
// "is" or in quotes, less is enough.
func isChosen(value string, linked, quoted bool) bool {
	const least, leastAlone = 4, 8
	if len(value) < least || strings.ContainsAny(value, "/()=[]{}\n") {
		return false
	}
	digit := strings.ContainsAny(value, "0123456789")
	switch {
	case quoted:
		return digit || strings.ContainsAny(value, "-_!?$%&#*") || linked
	case linked:
		return digit
	}
	return digit && len(value) >= leastAlone && !isCode(value[:1], 1) && strings.IndexByte(value, '-') < 0
}

// isFlag reports whether the word s[at:end] ends the name of a secret argument on a
// command line, --db-password, and a value follows.
func (r *rules) isFlag(s string, at, end int, value string) bool {
	const least = 4
	start := at
	for start > 0 && at-start < maxKeyBytes && tokenBytes[s[start-1]] {
		start--
	}
	return strings.HasPrefix(s[start:end], "--") && r.secretKey(s[start:end]) && len(value) >= least && value[0] != '-'
}

// wordBefore returns the word before the one that begins at an index.
func wordBefore(s string, at int) string {
	end := max(at-1, 0)
	start := end
	for start > 0 && alnumBytes[s[start-1]] && end-start < maxKeyBytes {
		start--
	}
	return s[start:end]
}
