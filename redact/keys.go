package redact

import (
	"bytes"
	"strings"
)

// secretStems are parts of names, without separators. A name that contains one of
// them anywhere has a secret value: userPassword, X-Api-Key, client_secret[0].
var secretStems = []string{
	"password", "passwd", "passphrase", "passcode", "token", "secret", "credential", "authorization",
	"cookie", "apikey", "accesskey", "privatekey", "secretkey", "signingkey", "encryptionkey", "accountkey", "sessionid",
	"cardnumber", "cvv", "securitycode", "kennwort", "passwort", "otpcode", "onetimecode",
	"passwrd", "pswd", "motdepasse", "contrasen", "wachtwoord", "sessid", "sessionkey", "authkey", "ccnumber",
	"verificationcode", "recoverycode", "backupcode", "smscode", "accesscode", "resetcode", "activationcode",
	"verifycode", "confirmationcode", "confirmcode", "authcode", "logincode", "signincode", "mfacode", "2facode", "emailcode", "phonecode", "devicecode",
	"usercode", "validationcode", "challengecode", "pairingcode", "oobcode", "codeverifier", "accountnumber", "kontonummer",
}

// stemsBy has the stems by their first letter.
var stemsBy = func() (by [256][]string) {
	for _, stem := range secretStems {
		by[stem[0]] = append(by[stem[0]], stem)
	}
	return by
}()

// innocentNames contain a stem, but their values are not secret.
var innocentNames = set("secretary", "secretariat", "tokenizer", "tokenize", "tokentype", "tokenendpoint", "tokencount", "tokenexpiry", "tokenexpires",
	"maxtokens", "mintokens", "totaltokens", "prompttokens", "completiontokens", "inputtokens", "outputtokens", "usedtokens", "cachedtokens",
	"passwordless", "passwordlength", "passwordstrength", "passwordpolicy",
	"cookieconsent", "cookiebanner", "cookiepolicy", "cookienotice", "cookiesenabled", "cookieenabled", "cookiesaccepted")

// secretWords are secret as a whole word of a name: userPin, login_pass, X-Auth,
// cvc2. As parts of words they would match too much: spinner, compass.
var secretWords = set("pass", "pwd", "psw", "pw", "auth", "bearer", "jwt", "otp", "totp", "pin", "sid", "sig", "signature", "cvc", "csc", "ccv", "cvn",
	"ssn", "mfa", "csrf", "xsrf", "assertion", "hmac", "hdnts", "hdnea", "iban")

// wholeNames are secret only as whole names.
var wholeNames = func() map[string]bool {
	names := set("xauth", "twofactor", "samlresponse", "samlrequest", "passw", "repass", "repwd")
	for _, owner := range []string{
		"user", "usr", "login", "my", "new", "old", "db", "admin", "root", "smtp", "imap", "ftp", "mail", "email", "current", "confirm", "account", "wifi",
		"sql", "mysql", "pg", "redis", "client", "app", "card", "bank", "site", "member", "customer", "host", "proxy", "http", "basic", "txt",
	} {
		for _, word := range []string{"pass", "pwd", "psw", "pw", "pin", "otp", "cvc"} {
			names[owner+word] = true
		}
	}
	return names
}()

// followers may follow a secret word in a name: pinCode, pass_confirmation, cvc2.
var followers = set("code", "number", "num", "no", "nr", "value", "val", "field", "input", "text", "hash", "confirm", "confirmation", "repeat", "again",
	"new", "old", "current", "digits", "str", "string", "raw", "plain", "encrypted")

// innocentBefore are words before a secret word that change its meaning.
var innocentBefore = map[string]map[string]bool{
	"pass": set("render", "test", "tests", "first", "second", "boarding", "ski", "all", "single", "multi", "high", "low", "band", "by", "did", "will"),
	"pin":  set("map", "drop", "push", "hair", "gpio", "is", "location"),
}

// signers are the words that may stand before "signature". After any other word,
// it means something that is not secret.
var signers = set("x", "amz", "goog", "url", "oss", "cos", "request", "webhook", "hub", "signed", "hash", "stripe", "aws")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// maxKeyBytes bounds how many bytes of a name are checked.
const maxKeyBytes = 128

// secretKey reports whether the value under this name is secret.
func (r *rules) secretKey(name string) bool {
	if r.valuesOnly || len(name) < 2 || len(name) > 4*maxKeyBytes {
		return false
	}
	var room [maxKeyBytes]byte
	squeezed := appendSqueezed(room[:0], name)
	if len(squeezed) < 2 {
		return false
	}
	for i := range squeezed {
		for _, stem := range stemsBy[squeezed[i]] {
			if len(squeezed)-i >= len(stem) && string(squeezed[i:i+len(stem)]) == stem {
				return !innocentNames[string(squeezed)] || r.configured(squeezed)
			}
		}
	}
	return endsLikeSecret(squeezed) && hasSecretWord(name) || wholeNames[string(squeezed)] || r.configured(squeezed)
}

// wordEnds are the last two letters of secretWords and followers.
var wordEnds = func() (ends [256][256]bool) {
	for _, words := range []map[string]bool{secretWords, followers} {
		for w := range words {
			ends[w[len(w)-2]][w[len(w)-1]] = true
		}
	}
	return ends
}()

// endsLikeSecret makes a cheap check. It accepts every name that hasSecretWord
// accepts.
func endsLikeSecret(squeezed []byte) bool {
	n := len(squeezed)
	for n > 2 && squeezed[n-1] <= '9' {
		n--
	}
	return wordEnds[squeezed[n-2]][squeezed[n-1]]
}

// hasSecretWord reports whether a name has a secret word at its end.
func hasSecretWord(name string) bool {
	var n splitName
	n.read(name)
	return n.secret()
}

// configured reports whether a name contains a key that the operator configured.
func (r *rules) configured(squeezed []byte) bool {
	for _, key := range r.keys {
		if bytes.Contains(squeezed, []byte(key)) {
			return true
		}
	}
	return false
}

// splitName holds a name without separators, in lower case, and the positions
// where its words begin.
type splitName struct {
	text   [maxKeyBytes]byte
	starts [maxKeyBytes]uint8 // where words begin in text
	n      int                // bytes of text
	words  int                // number of starts
}

// word returns the word at an index, or nothing for a negative index.
func (n *splitName) word(i int) []byte {
	if i < 0 {
		return nil
	}
	end := n.n
	if i+1 < n.words {
		end = int(n.starts[i+1])
	}
	return n.text[n.starts[i]:end]
}

// secret reports whether the last word of a name is secret. Numbers and followers
// do not count as words.
func (n *splitName) secret() bool {
	for i := n.words - 1; i >= 0; i-- {
		word := bytes.TrimRight(n.word(i), "0123456789")
		if len(word) == 0 || i > 0 && followers[string(word)] {
			continue
		}
		if !secretWords[string(word)] {
			return false
		}
		before := string(n.word(i - 1))
		if string(word) == "signature" && before != "" {
			return signers[before]
		}
		return !innocentBefore[string(word)][before]
	}
	return false
}

// read splits a name, with percent-encoding undone. Only the last maxKeyBytes
// count.
func (n *splitName) read(name string) {
	const (
		none = iota
		lower
		upper
	)
	before := none
	name = plainName(name)
	for i := range len(name) {
		c, kind := name[i], lower
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			kind = upper
		case !alnumBytes[c]:
			before = none
			continue
		}
		switch {
		case before == none, before == lower && kind == upper:
			n.starts[n.words] = uint8(n.n)
			n.words++
		case before == upper && kind == lower && c > '9' && n.n-1 > int(n.starts[n.words-1]): // userPINCode: the C begins a word
			n.starts[n.words] = uint8(n.n - 1)
			n.words++
		}
		n.text[n.n] = c
		n.n++
		before = kind
	}
}

func squeeze(name string) []byte { return appendSqueezed(nil, name) }

// appendSqueezed writes only a name's letters and digits, in lower case, with
// percent-encoding undone. Only the last maxKeyBytes count.
func appendSqueezed(b []byte, name string) []byte {
	name = plainName(name)
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b = append(b, c)
		}
	}
	return b
}

// plainName returns the last maxKeyBytes of a name, with percent-encoding undone.
func plainName(name string) string {
	if len(name) > maxKeyBytes {
		name = name[len(name)-maxKeyBytes:]
	}
	if strings.IndexByte(name, '%') < 0 {
		return name
	}
	plain := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '%' && i+2 < len(name) {
			high, ok := unhex(name[i+1])
			low, ok2 := unhex(name[i+2])
			if ok && ok2 {
				c = high<<4 | low
				i += 2
			}
		}
		plain = append(plain, c)
	}
	return string(plain)
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
