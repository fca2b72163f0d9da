package storagestate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"takeover/invalid"
	"takeover/storagestate"
)

// newKey returns a private key in PKCS #8, encoded.
func newKey(t testing.TB) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return storagestate.Encode(der)
}

// TestParse reads states of several tools, and writes them in one form.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, given, want string }{
		{"nothing", `{}`, `{"cookies":[],"origins":[]}`},
		{"a cookie of Playwright", `{"cookies":[{"name":"n","value":"v","domain":".a.example","path":"/p","expires":5,"httpOnly":true,"secure":true,"sameSite":"None","partitionKey":"https://b.example","_crHasCrossSiteAncestor":false}]}`,
			`{"cookies":[{"name":"n","value":"v","domain":".a.example","path":"/p","expires":5,"httpOnly":true,"secure":true,"sameSite":"None","partitionKey":"https://b.example","_crHasCrossSiteAncestor":false}],"origins":[]}`},
		{"a cookie with a URL", `{"cookies":[{"name":"n","value":"v","url":"https://a.example/x"}]}`,
			`{"cookies":[{"name":"n","value":"v","domain":"a.example","path":"/","expires":-1,"httpOnly":false,"secure":true,"sameSite":"Lax"}],"origins":[]}`},
		{"a cookie of Puppeteer", `{"cookies":[{"name":"n","value":"v","domain":"a.example","size":2,"session":true,"partitionKey":{"topLevelSite":"https://b.example","hasCrossSiteAncestor":true}}]}`,
			`{"cookies":[{"name":"n","value":"v","domain":"a.example","path":"/","expires":-1,"httpOnly":false,"secure":false,"sameSite":"Lax","partitionKey":"https://b.example","_crHasCrossSiteAncestor":true}],"origins":[]}`},
		{"storage", `{"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"v"}],"indexedDB":[{"name":"db"}]}]}`,
			`{"cookies":[],"origins":[{"indexedDB":[{"name":"db"}],"localStorage":[{"name":"k","value":"v"}],"origin":"https://a.example"}]}`},
	} {
		state, err := storagestate.Parse([]byte(c.given))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := json.Marshal(state); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, got, c.want, err)
		}
	}
}

// TestPasskeys reads a passkey, whose public key is derived from the private one.
func TestPasskeys(t *testing.T) {
	key := newKey(t)
	state, err := storagestate.Parse([]byte(`{"credentials":[{"id":"AQ","rpId":"a.example","userHandle":"Ag==","privateKey":"` + key + `","publicKey":"wrong","signCount":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	der, err := storagestate.Decode(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := storagestate.PublicKey(der)
	if err != nil || public == "" || state.Credentials[0].PublicKey != public || state.Credentials[0].SignCount != 3 {
		t.Errorf("passkey %+v: %v", state.Credentials[0], err)
	}
}

// TestParseRefuses checks that the error for a wrong state names the field, and does
// not repeat values.
func TestParseRefuses(t *testing.T) {
	key := newKey(t)
	many := func(n int, item string) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	for field, given := range map[string]string{
		"":                        `[]`,
		"cookies":                 `{"cookies":` + many(10_000, `{"name":"n","domain":"a"}`) + `}`,
		"cookies.expires":         `{"cookies":[{"name":"n","domain":"a","expires":"soon"}]}`,
		"cookies.name":            `{"cookies":[{"name":1,"domain":"a"}]}`,
		"cookies[1]":              `{"cookies":[{"name":"n","domain":"a"},{"name":"n","value":"s3cret"}]}`,
		"cookies[0]":              `{"cookies":[{"name":"n","domain":"a","sameSite":"lax"}]}`,
		"origins":                 `{"origins":` + many(1000, `{"origin":"https://a"}`) + `}`,
		"origins[0].origin":       `{"origins":[{"origin":"about:blank"}]}`,
		"origins[0].localStorage": `{"origins":[{"origin":"https://a","localStorage":{"k":"s3cret"}}]}`,
		"credentials[0]":          `{"credentials":[{"id":"AQ","rpId":"a","privateKey":"s3cret"}]}`,
		"credentials[1]":          `{"credentials":[{"id":"AQ","rpId":"a","privateKey":"` + key + `"},{"id":"AQ","privateKey":"` + key + `"}]}`,
	} {
		_, err := storagestate.Parse([]byte(given))
		wrong, ok := errors.AsType[*invalid.Error](err)
		if !ok || wrong.Fields[0].Field != field || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// FuzzParse checks that what was read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cookies":[{"name":"n","value":"v","url":"https://a.example/x"}],"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"v"}]}]}`))
	f.Add([]byte(`{"credentials":[{"id":"AQ","rpId":"a","privateKey":"` + newKey(f) + `"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		state, err := storagestate.Parse(raw)
		if err != nil {
			return
		}
		written, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		again, err := storagestate.Parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(written) {
			t.Errorf("%s became %s: %v", written, twice, err)
		}
	})
}
