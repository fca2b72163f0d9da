package redact

import (
	"encoding/base64"
	"slices"
	"strings"
)

// tokenForm is the form of tokens that one service issues: a prefix and what
// follows it.
type tokenForm struct {
	prefix string
	bytes  *[256]bool // which bytes may follow
	least  int        // how many of them, at least
	digit  bool       // one of them must be a digit, because the prefix is also the beginning of ordinary names
}

// tokenForms are the tokens that are known by their beginning.
var tokenForms = []tokenForm{
	{"ghp_", &tokenBytes, 8, false}, {"gho_", &tokenBytes, 8, false}, {"ghu_", &tokenBytes, 8, false}, {"ghs_", &tokenBytes, 8, false}, {"ghr_", &tokenBytes, 8, false},
	{"github_pat_", &tokenBytes, 8, false}, {"glpat-", &tokenBytes, 8, false}, {"gldt-", &tokenBytes, 8, false}, {"glptt-", &tokenBytes, 8, false}, {"glrt-", &tokenBytes, 8, false},
	{"sk_live_", &tokenBytes, 8, false}, {"sk_test_", &tokenBytes, 8, false}, {"rk_live_", &tokenBytes, 8, false}, {"rk_test_", &tokenBytes, 8, false},
	{"sk-live", &tokenBytes, 8, false}, {"sk-test", &tokenBytes, 8, false}, {"sk-proj-", &tokenBytes, 8, false}, {"sk-ant-", &tokenBytes, 8, false}, {"sk-", &tokenBytes, 20, true},
	{"whsec_", &tokenBytes, 8, false}, {"xoxb-", &tokenBytes, 8, false}, {"xoxp-", &tokenBytes, 8, false}, {"xoxa-", &tokenBytes, 8, false}, {"xoxr-", &tokenBytes, 8, false},
	{"xoxs-", &tokenBytes, 8, false}, {"xoxe-", &tokenBytes, 8, false}, {"xoxc-", &tokenBytes, 8, false}, {"xoxd-", &tokenBytes, 8, false}, {"xapp-", &tokenBytes, 8, false},
	{"AKIA", &upperBytes, 12, false}, {"ASIA", &upperBytes, 12, true}, {"AIza", &tokenBytes, 20, false}, {"GOCSPX-", &tokenBytes, 8, false}, {"ya29.", &tokenBytes, 12, false},
	{"SG.", &dottedBytes, 16, false}, {"npm_", &alnumBytes, 20, false}, {"pypi-", &tokenBytes, 24, true}, {"hf_", &alnumBytes, 20, false}, {"dop_v1_", &alnumBytes, 16, false},
	{"doo_v1_", &alnumBytes, 16, false}, {"shpat_", &alnumBytes, 16, false}, {"shpss_", &alnumBytes, 16, false}, {"shpca_", &alnumBytes, 16, false}, {"dckr_pat_", &tokenBytes, 12, false},
	{"hvs.", &tokenBytes, 16, false}, {"sq0atp-", &tokenBytes, 12, false}, {"sq0csp-", &tokenBytes, 12, false}, {"xkeysib-", &tokenBytes, 16, false}, {"lin_api_", &alnumBytes, 16, false},
	{"glsa_", &tokenBytes, 16, false}, {"figd_", &tokenBytes, 16, false}, {"r8_", &alnumBytes, 20, true}, {"ATATT3", &tokenBytes, 20, false}, {"EAAC", &alnumBytes, 40, true},
}

// formsBy has the forms by their first two letters, as lists of formLists.
var formsBy, formLists = func() (by [256][256]uint8, lists [][]tokenForm) {
	lists = [][]tokenForm{nil}
	for _, f := range slices.Concat(tokenForms, moreForms) {
		n := &by[f.prefix[0]][f.prefix[1]]
		if *n == 0 {
			*n = uint8(len(lists))
			lists = append(lists, nil)
		}
		lists[*n] = append(lists[*n], f)
	}
	return by, lists
}()

// Sets of bytes.
var (
	alnumBytes = bytesOf("")
	digitBytes = func() (set [256]bool) {
		for c := '0'; c <= '9'; c++ {
			set[c] = true
		}
		return set
	}()
	tokenBytes  = bytesOf("_-")
	dottedBytes = bytesOf("_-.")
	bearerBytes = bytesOf("-._~+/=")
	base64Bytes = bytesOf("+/")
	pathBytes   = bytesOf("-._~=%:@+!$")
	upperBytes  = func() (set [256]bool) {
		for c := range set {
			set[c] = c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		}
		return set
	}()
	// classes says what known does with each byte.
	classes = func() (all [256]uint8) {
		for c := range all {
			switch {
			case formsBy[c] != [256]uint8{} || c >= 'A' && c <= 'Z' || c >= '2' && c <= '6' || c == 'b' || c == 'e':
				all[c] = notable
			case alnumBytes[c]:
				all[c] = word
			case c == '/' || c == '-':
				all[c] = marks
			}
		}
		return all
	}()
)

// The values of classes.
const (
	other   = iota // nothing
	marks          // the byte begins a segment of a path, or a private key
	word           // the byte is part of a word
	notable        // likewise, and a word that begins with it may be the beginning of a secret
)

// bytesOf returns the set of ASCII letters, digits and further bytes.
func bytesOf(further string) (set [256]bool) {
	for c := range set {
		set[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(further, byte(c)) >= 0
	}
	return set
}

// span returns the end of the run of a set's bytes that begins at from.
func span(s string, from int, set *[256]bool) int {
	for from < len(s) && set[s[from]] {
		from++
	}
	return from
}

// minKnown is the length of the shortest text that can be a known secret.
const minKnown = 12

// known removes what is secret by its form: tokens of known services, JSON web
// tokens, private keys, numbers of cards and bank accounts, user:password and JSON with
// secrets in base64, one-time links, and secrets in sentences.
func (r *rules) known(s string, depth int) string {
	out := cutter{text: s}
	path := pathReader{end: -1}
	for i := 0; i <= len(s)-minProse; {
		c := s[i]
		class := classes[c]
		if class == other {
			i++
			continue
		}
		from, to := i, -1
		switch {
		case class != marks:
			end := i + 1
			for end < len(s) && classes[s[end]] >= word {
				end++
			}
			if class == notable {
				from, to = knownWord(s, i, end)
			}
			if to < 0 && (c == 'e' || c == 'W') {
				from, to = i, r.encodedJSONEnd(s, i, depth)
			}
			if to < 0 && proseStarts[c] && end < len(s) && s[end] == ' ' {
				from, to = r.prose(s, i, end)
			}
			if to < 0 && end-i >= minKnown {
				from, to = i, basicEnd(s, i)
			}
			if to < 0 && end < len(s) && s[end] == ':' {
				from, to = end+1, botTokenEnd(s, i, end)
			}
			if to < 0 {
				i = end
				continue
			}
		case c == '/':
			from, to = path.slash(s, i)
		case c == '-':
			to = privateKeyEnd(s, i)
		}
		if to <= from {
			i++
			continue
		}
		out.cut(from, to)
		i = to
	}
	return out.String()
}

// knownWord returns the position of the secret that begins with the word
// s[at:end], or -1.
func knownWord(s string, at, end int) (from, to int) {
	c := s[at]
	switch {
	case c >= '2' && c <= '6':
		if n := end - at; n < 3 || n > 7 && n < minCard || n > maxCard+len("%20") { // cardEnd would refuse these, too, but more slowly
			return at, -1
		}
		return at, cardEnd(s, at)
	case c == 'e' && strings.HasPrefix(s[at:], "eyJ"):
		return at, webTokenEnd(s, at)
	case (c == 'B' || c == 'b') && (end-at == len("basic") || end-at == len("bearer")):
		return schemeValue(s, at, end)
	}
	if c <= 'Z' && at+2 < len(s) && isDigit(s[at+2]) {
		if to := ibanEnd(s, at); to >= 0 {
			return at, to
		}
	}
	for _, f := range formLists[formsBy[c][s[at+1]]] {
		if !strings.HasPrefix(s[at:], f.prefix) {
			continue
		}
		to := span(s, at+len(f.prefix), f.bytes)
		if rest := s[at+len(f.prefix) : to]; len(rest) >= f.least && (!f.digit || strings.ContainsAny(rest, "0123456789")) {
			return at, to
		}
	}
	return at, -1
}

// webTokenEnd returns where a JSON web token (RFC 7519) ends: parts in base64
// between dots.
func webTokenEnd(s string, at int) int {
	const leastHead, leastBody = 10, 4
	end := span(s, at, &tokenBytes)
	if end-at < leastHead || end >= len(s) || s[end] != '.' {
		return -1
	}
	body := span(s, end+1, &tokenBytes)
	if body-end-1 < leastBody {
		return -1
	}
	return span(s, body, &dottedBytes)
}

// schemeValue returns the position of the credentials that follow a scheme of
// HTTP authentication.
func schemeValue(s string, at, end int) (from, to int) {
	const leastBearer = 8
	basic := strings.EqualFold(s[at:end], "basic")
	if !basic && !strings.EqualFold(s[at:end], "bearer") {
		return at, -1
	}
	from = end
	for from < len(s) && (s[from] == ' ' || s[from] == '+') && from-end < 4 {
		from++
	}
	if from == end && strings.HasPrefix(s[end:], "%20") {
		from += len("%20")
	}
	to = span(s, from, &bearerBytes)
	value := s[from:to]
	switch {
	case from == end:
	case basic:
		if plain, ok := unbase64(value); ok && strings.IndexByte(plain, ':') >= 0 {
			return from, to
		}
	case len(value) >= leastBearer && (strings.ContainsAny(value, "0123456789") || strings.ToLower(value) != value && len(value) >= 2*leastBearer):
		return from, to
	}
	return at, -1
}

func unbase64(s string) (string, bool) {
	s = strings.TrimRight(s, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if plain, err := encoding.DecodeString(s); err == nil {
			return string(plain), true
		}
	}
	return "", false
}

// basicEnd returns where a user name and password in base64 end, as in the body
// of Basic authentication: user:password, all of it printable.
func basicEnd(s string, at int) int {
	const leastPassword = 3
	if !printable(s, at) {
		return -1 // the usual case
	}
	end := span(s, at, &base64Bytes)
	if (end-at)%4 == 1 {
		return -1
	}
	for from := at; from+4 <= end; from += 4 {
		if !printable(s, from) {
			return -1
		}
	}
	plain, ok := unbase64(s[at:end])
	user, password, found := strings.Cut(plain, ":")
	if !ok || !found || user == "" || len(password) < leastPassword || strings.ContainsAny(user, " {}[]\"'<>()/;,") || strings.HasPrefix(password, "//") {
		return -1
	}
	for i := range len(plain) {
		if plain[i] < ' ' || plain[i] > '~' {
			return -1
		}
	}
	for n := 0; n < 2 && end < len(s) && s[end] == '='; n++ {
		end++
	}
	return end
}

// printable decodes four characters of base64 and reports whether they are three
// printable characters.
func printable(s string, at int) bool {
	bits := uint32(0)
	for _, c := range []byte(s[at : at+4]) {
		v := base64Values[c]
		if v > 63 {
			return false
		}
		bits = bits<<6 | uint32(v)
	}
	for shift := 0; shift <= 16; shift += 8 {
		if b := byte(bits >> shift); b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

var base64Values = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		values[c] = byte(i)
	}
	return values
}()

const (
	minCard = 13 // digits of a card number (ISO/IEC 7812)
	maxCard = 19
)

// cardEnd returns where a card number ends: digits that begin with the number of
// a card issuer and have a valid check digit, as one number or in groups with a
// separator between them.
func cardEnd(s string, at int) int {
	if at > 0 && (s[at-1] == '.' || s[at-1] == '_' || at > 1 && s[at-1] == '-' && alnumBytes[s[at-2]]) {
		return -1
	}
	var room [maxCard]byte
	number := room[:0]
	separator := ""
	i := at
	for group := 0; ; group++ {
		start := i
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			if len(number) == maxCard {
				return -1
			}
			number = append(number, s[i]-'0')
		}
		whole := group == 0 && i-start >= minCard
		if n := i - start; !whole && (n < 3 || n > 7) {
			return -1
		}
		if whole {
			break
		}
		next := cardSeparator(s[i:])
		if group > 0 && next != separator || next == "" || i+len(next) >= len(s) || s[i+len(next)] < '0' || s[i+len(next)] > '9' {
			break
		}
		separator = next
		i += len(next)
	}
	if i < len(s) && (alnumBytes[s[i]] || s[i] == '_' || i+1 < len(s) && (s[i] == '.' || s[i] == '-') && alnumBytes[s[i+1]]) {
		return -1
	}
	if !cardNumber(number) {
		return -1
	}
	return i
}

func cardSeparator(s string) string {
	for _, separator := range []string{" ", "-", "+", "%20"} {
		if strings.HasPrefix(s, separator) {
			return separator
		}
	}
	return ""
}

// cardNumber checks the issuer, the length and the check digit (ISO/IEC 7812-1,
// annex B).
func cardNumber(number []byte) bool {
	if len(number) < minCard || len(number) > maxCard {
		return false
	}
	first := 0
	for _, d := range number[:4] {
		first = first*10 + int(d)
	}
	n := len(number)
	switch two := first / 100; {
	case first/1000 == 4:
		if n != 13 && n != 16 && n != 19 {
			return false
		}
	case two >= 51 && two <= 55, first >= 2221 && first <= 2720:
		if n != 16 {
			return false
		}
	case two == 34 || two == 37:
		if n != 15 {
			return false
		}
	case two == 36 || two == 38 || first/10 >= 300 && first/10 <= 305:
		if n < 14 {
			return false
		}
	case first == 6011, two == 62 || two == 64 || two == 65, first >= 3528 && first <= 3589, two == 50 || two >= 56 && two <= 58, two == 67:
		if n < 16 {
			return false
		}
	default:
		return false
	}
	sum := 0
	for i := range number {
		d := int(number[n-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// privateKeyEnd returns the end of the PEM private key that begins at index at.
func privateKeyEnd(s string, at int) int {
	const begin, name, end = "-----BEGIN ", "PRIVATE KEY", "-----END "
	if !strings.HasPrefix(s[at:], begin) {
		return -1
	}
	head := s[at:min(len(s), at+80)]
	if !strings.Contains(head, name) {
		return -1
	}
	to := strings.Index(s[at:], end)
	if to < 0 {
		return len(s)
	}
	to += at + len(end)
	if rest := strings.Index(s[to:min(len(s), to+80)], "-----"); rest >= 0 {
		return to + rest + len("-----")
	}
	return to
}

// linkStems are the beginnings of words in a path. In a one-time link, the token
// follows such a word.
var linkStems = []string{"reset", "recover", "verif", "confirm", "magic", "invit", "token", "activat", "unlock", "unsubscrib", "password", "onetime", "forgot", "optin", "webhook"}

// linkStemsBy has the stems by their first letter.
var linkStemsBy = func() (by [256][]string) {
	for _, stem := range linkStems {
		by[stem[0]] = append(by[stem[0]], stem)
	}
	return by
}()

// withinSegments is how many path segments after a word of linkStems are
// examined.
const withinSegments = 3

// pathReader follows the segments of a path.
type pathReader struct {
	end   int // where the last segment ended
	armed int // how many further segments may be a token
}

// slash reads the segment after the slash at index at, and returns the segment's
// position if it is a token.
func (p *pathReader) slash(s string, at int) (from, to int) {
	from = at + 1
	to = span(s, from, &pathBytes)
	if p.end != at {
		p.armed = 0
		start := at
		for start > 0 && at-start < 64 && pathBytes[s[start-1]] {
			start--
		}
		p.arm(s[start:at])
	}
	p.end = to
	segment := s[from:to]
	if p.armed > 0 && randomSegment(segment) {
		p.armed--
		return from, to
	}
	p.armed = max(0, p.armed-1)
	p.arm(segment)
	return from, -1
}

// arm looks in a segment for a word after which tokens are expected.
func (p *pathReader) arm(segment string) {
	if len(segment) < 5 || len(segment) > 64 {
		return
	}
	before := byte('-')
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c == '.' {
			return // a host or a file
		}
		if alnumBytes[c] && (!alnumBytes[before] || c <= 'Z' && before >= 'a') {
			for _, stem := range linkStemsBy[c|0x20] {
				if len(segment)-i >= len(stem) && strings.EqualFold(segment[i:i+len(stem)], stem) && strings.IndexByte(segment[i:], '.') < 0 {
					p.armed = withinSegments
					return
				}
			}
		}
		before = c
	}
}

// staticFiles are file extensions. A segment that ends in one is a file name, not
// a token.
var staticFiles = set("js", "mjs", "css", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "html", "htm", "json", "xml", "woff", "woff2", "ttf", "pdf", "txt", "wasm", "mp4", "webm")

// randomSegment reports whether a segment of a path looks like a token: long, and
// made of letters and digits, of letters with more capitals than a name has, or
// of digits only.
func randomSegment(segment string) bool {
	const leastMixed, leastLetters, leastDigits = 12, 24, 20
	if len(segment) < leastMixed {
		return false
	}
	if at := strings.LastIndexByte(segment, '.'); at >= 0 && staticFiles[strings.ToLower(segment[at+1:])] {
		return false
	}
	digits, capitals, letters := 0, 0, 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			capitals++
			letters++
		case c >= 'a' && c <= 'z':
			letters++
		}
	}
	switch {
	case letters == 0:
		return digits >= leastDigits
	case digits < 2:
		return letters >= leastLetters && capitals >= letters/4 && capitals < letters
	}
	return !isSlug(segment)
}

// isSlug reports whether a segment consists of words and short numbers, such as
// how-to-reset-in-2025.
func isSlug(segment string) bool {
	parts := strings.FieldsFunc(segment, func(c rune) bool { return c == '-' || c == '_' || c == '.' || c == '~' || c == '+' })
	if len(parts) < 2 {
		return false
	}
	for _, part := range parts {
		number := strings.Trim(part, "0123456789") == ""
		word := strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") == "" || strings.Trim(part[1:], "abcdefghijklmnopqrstuvwxyz") == ""
		if number && len(part) > 4 || !number && !word {
			return false
		}
	}
	return true
}
