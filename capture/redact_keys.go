package capture

import "bytes"

// secretStems are parts of names, without separators. A name that contains one of
// them anywhere has a secret value: userPassword, X-Api-Key, client_secret[0].
var secretStems = []string{
	"password", "passwd", "passphrase", "passcode", "token", "secret", "credential", "authorization",
	"cookie", "apikey", "accesskey", "privatekey", "secretkey", "signingkey", "encryptionkey", "sessionid",
	"cardnumber", "cvv", "securitycode", "kennwort", "passwort", "otpcode", "onetimecode",
}

// stemsBy has the stems by their first letter.
var stemsBy = func() (by [256][]string) {
	for _, stem := range secretStems {
		by[stem[0]] = append(by[stem[0]], stem)
	}
	return by
}()

// secretWords are secret only as whole names. As parts of names they would match
// too much.
var secretWords = map[string]bool{
	"pass": true, "pwd": true, "psw": true, "pw": true, "auth": true, "xauth": true, "bearer": true, "jwt": true,
	"otp": true, "totp": true, "pin": true, "sid": true, "sig": true, "signature": true, "cvc": true, "csc": true,
	"ssn": true, "mfa": true, "twofactor": true, "csrf": true, "xsrf": true, "samlresponse": true, "assertion": true, "hmac": true,
}

// maxKeyBytes is the length of the longest name that is checked.
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
				return true
			}
		}
	}
	for _, key := range r.keys {
		if bytes.Contains(squeezed, []byte(key)) {
			return true
		}
	}
	return secretWords[string(squeezed)]
}

func squeeze(name string) []byte { return appendSqueezed(nil, name) }

// appendSqueezed writes only a name's letters and digits, in lower case, with
// percent-encoding undone. Only the last maxKeyBytes count.
func appendSqueezed(b []byte, name string) []byte {
	if len(name) > maxKeyBytes {
		name = name[len(name)-maxKeyBytes:]
	}
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
		switch {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b = append(b, c)
		}
	}
	return b
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
