package secrets

import (
	"fmt"
	"strings"
	"testing"

	"takeover/input"
	"takeover/redact"
)

// TestPagesDisplaceNothing tells more secrets than are remembered: what a person typed
// stays hidden.
func TestPagesDisplaceNothing(t *testing.T) {
	r := redact.New(redact.Options{})
	c := New(r, nil)
	c.ControlChanged(true)
	const password = "Tr0ub4dor&3"
	for _, key := range password {
		c.Key(input.Key{Event: "down", Key: string(key), Text: string(key)}, "password")
	}
	c.Elsewhere()
	for i := range 3 * maxSecrets {
		c.Holds(fmt.Sprintf("filler-%06d", i), "https://example.com/")
		c.FocusChanged(true)
	}
	if got := r.Text("it is " + password); strings.Contains(got, password) {
		t.Errorf("the password stays in %q", got)
	}
	if got := r.Text("filler-000191"); strings.Contains(got, "000191") {
		t.Errorf("the newest content of a field stays in %q", got)
	}
}

// TestCredible tells what would make harmless texts unreadable.
func TestCredible(t *testing.T) {
	r := redact.New(redact.Options{})
	c := New(r, nil)
	for _, value := range []string{"http", "error", `","`, "::::::", "shop.example.com", "example", "EXAMPLE"} {
		c.Holds(value, "https://shop.example.com/login")
	}
	const text = `error: GET http://shop.example.com/ ["a","b"] ::::::`
	if got := r.Text(text); got != text {
		t.Errorf("%q became %q", text, got)
	}
	for _, value := range []string{"correct horse", "123456", "пароль"} {
		if !Credible(value, "https://shop.example.com/") {
			t.Errorf("%q is not believed", value)
		}
	}
	// A short value is believed if it is like what was typed.
	for _, key := range "1234" {
		c.Key(input.Key{Event: "down", Key: string(key), Text: string(key)}, "otp")
	}
	c.Holds("12-34", "https://shop.example.com/")
	if got := r.Text("12-34"); got != redact.Mark {
		t.Errorf("the code stays as %q", got)
	}
}

// TestTypedInOtherSpellings finds what a person typed in upper case, as hexadecimal
// numbers and with its letters spaced out.
func TestTypedInOtherSpellings(t *testing.T) {
	r := redact.New(redact.Options{})
	c := New(r, nil)
	c.ControlChanged(true)
	const password = "Tr0ub4dor"
	for _, key := range password {
		c.Key(input.Key{Event: "down", Key: string(key), Text: string(key)}, "password")
	}
	c.Elsewhere()
	for _, text := range []string{strings.ToUpper(password), strings.ToLower(password), fmt.Sprintf("%x", password), fmt.Sprintf("%X", password), "T r 0 u b 4 d o r", "t-r-0-u-b-4-d-o-r"} {
		if got := r.Text(text); got != redact.Mark {
			t.Errorf("%q stays as %q", text, got)
		}
	}
}
