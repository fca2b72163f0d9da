package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"takeover/text"
)

func TestText(t *testing.T) {
	r := New(Options{Keys: []string{"Badge-Number"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`sk-[a-z0-9]+`), regexp.MustCompile(`id=(\d+)`)}})
	r.AddSecret("hunter2 & co")
	for _, c := range []struct{ in, want string }{
		{"nothing here: at all, a=b", "nothing here: at all, a=b"},
		{"https://x.test/a?token=abc&b=c#access_token=x", "https://x.test/a?token=[REDACTED]&b=c#access_token=[REDACTED]"},
		{"https://user:pa@x.test/?author=me", "https://[REDACTED]@x.test/?author=me"},
		{"user=a&password=b%20c&user[password]=d&x=1", "user=a&password=[REDACTED]&user[password]=[REDACTED]&x=1"},
		{"p%61ssword=b&q=1", "p%61ssword=[REDACTED]&q=1"},
		{"/login?next=https%3A%2F%2Fx%3Ftoken%3Dabc%26b%3D1", "/login?next=https%3A%2F%2Fx%3Ftoken%3D[REDACTED]%26b%3D1"},
		{"Authorization: Bearer abc def\r\nAccept: */*", "Authorization: [REDACTED]\r\nAccept: */*"},
		{`curl -H 'Cookie: a=b; c=d' https://x`, `curl -H 'Cookie: [REDACTED]' https://x`},
		{`{"a":{"b":[{"client_secret":"x"},{"n":1}]}}`, `{"a":{"b":[{"client_secret":"[REDACTED]"},{"n":1}]}}`},
		{`{"tokens":["a","b"],"pin":1234,"secret":null,"cookie":{"a":1}}`, `{"tokens":"[REDACTED]","pin":"[REDACTED]","secret":null,"cookie":"[REDACTED]"}`},
		{`[{"name":"password","value":"x"},{"value":"y","name":"other"},{"value":["z"],"name":"api-key"}]`, `[{"name":"password","value":"[REDACTED]"},{"value":"y","name":"other"},{"value":"[REDACTED]","name":"api-key"}]`},
		{`{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"[REDACTED]"}`},
		{`{"inner":"{\"password\":\"x\",\"deep\":\"{\\\"token\\\":\\\"y\\\"}\"}"}`, `{"inner":"{\"password\":\"[REDACTED]\",\"deep\":\"{\\\"token\\\":\\\"[REDACTED]\\\"}\"}"}`},
		{`{"password":"cut off`, `{"password":"[REDACTED]`},
		{`{"a": 1, "password" : {"x":[1,2,`, `{"a": 1, "password" : [REDACTED]`},
		{`{a: 1, password: "x y", b: 2}`, `{a: 1, password: "[REDACTED]", b: 2}`},
		{`{\"password\":\"x\",\"b\":1`, `{\"password\":\"[REDACTED]\",\"b\":1`},
		{`[["password","x"],["user","y"],["token",{"a":1}],["secret","a","b"],["pin"]]`, `[["password","[REDACTED]"],["user","y"],["token","[REDACTED]"],["secret","a","b"],["pin"]]`},
		{"Map(2) {password => x, 'api key' => y}", "Map(2) {password => [REDACTED], 'api key' => y}"},
		{`Map(2) {"api_key" => "x y", "n" => 1}`, `Map(2) {"api_key" => "[REDACTED]", "n" => 1}`},
		{"/q?variables=%7B%22password%22%3A%22x%5C%22y%22%2C%22n%22%3A1%7D&b=1", "/q?variables=%7B%22password%22%3A%22[REDACTED]%22%2C%22n%22%3A1%7D&b=1"},
		{"/q?v=%7b%22pin%22%3a+%201234%2c%22a%22%3a1%7d&b=1", "/q?v=%7b%22pin%22%3a+%20[REDACTED]%2c%22a%22%3a1%7d&b=1"},
		{"/q?v=%7B%22tokens%22%3A%5B%22x%22%2C%22y%22%5D%7D&b=1", "/q?v=%7B%22tokens%22%3A[REDACTED]&b=1"},
		{"    at f (https://x.test/token:12:5)\n    at https://x.test/js/session-id.js:1:20", "    at f (https://x.test/token:12:5)\n    at https://x.test/js/session-id.js:1:20"},
		{"/token:12 token:12:5 /pin:1234:x /otp:123456:7a", "/token:[REDACTED] token:[REDACTED] /pin:[REDACTED] /otp:[REDACTED]"},
		{"token=[REDACTED]rest&x=1", "token=[REDACTED]&x=1"},
		{"password=\nnext line", "password=\nnext line"},
		{"said hunter2 & co and hunter2+%26+co and hunter2%20%26%20co", "said [REDACTED] and [REDACTED] and [REDACTED]"},
		{`{"x":"hunter2 \u0026 co"}`, `{"x":"[REDACTED]"}`},
		{"key sk-abc1 and id=55!", "key [REDACTED] and id=[REDACTED]!"},
		{"badge_number=7", "badge_number=[REDACTED]"},
		{"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\ny\r\n--b--", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n[REDACTED]\r\n--b--"},
		{`<input name="password" type="password">`, `<input name="password" type="password">`},
		{`<META NAME="csrf-token" CONTENT="abc123def">`, `<META NAME="csrf-token" CONTENT="[REDACTED]">`},
		{`{"name":"password","value":"x1","code":"k7Jx92Lm","grant_type":"authorization_code"}`, `{"name":"password","value":"[REDACTED]","code":"[REDACTED]","grant_type":"authorization_code"}`},
		{`{"code":"k7Jx92Lm","grant_type":"x","value":"a longer value","name":"password"}`, `{"code":"[REDACTED]","grant_type":"x","value":"[REDACTED]","name":"password"}`},
	} {
		if got := r.Text(c.in); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestDocument(t *testing.T) {
	r := New(Options{})
	remove := r.AddSecret("424242")
	const document = `{"url":"https://x.test/?api_key=1","headers":{"Set-Cookie":"a=b","Accept":"text/html"},"post_data":"{\"otp\":\"1\",\"n\":424242}","n":424242,"status":200}`
	want := `{"url":"https://x.test/?api_key=[REDACTED]","headers":{"Set-Cookie":"[REDACTED]","Accept":"text/html"},"post_data":"{\"otp\":\"[REDACTED]\",\"n\":\"[REDACTED]\"}","n":"[REDACTED]","status":200}`
	if got := r.Document([]byte(document)); string(got) != want {
		t.Fatalf("got %s", got)
	}
	if got := r.Document([]byte("no JSON")); string(got) != "{}" {
		t.Fatalf("got %s", got)
	}
	remove()
	if got := r.Text("424242"); got != "424242" {
		t.Fatal(got)
	}
}

func TestFindsEveryEncoding(t *testing.T) {
	r := New(Options{})
	for _, secret := range []string{"correct horse/battery+staple", `q"u\o'te<&>`, "пароль-日本-🔑", "s3cr3t!"} {
		r.AddSecret(secret)
		quoted, _ := json.Marshal(secret)
		lower := strings.ToLower(url.QueryEscape(secret))
		if strings.ToLower(secret) != secret {
			lower = ""
		}
		for _, text := range []string{
			secret, string(quoted), url.QueryEscape(secret), url.PathEscape(secret), lower,
			asciiJSON(secret), "x=" + allPercent(secret), lowerHalf(url.QueryEscape(secret)), html.EscapeString(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte("me:" + secret + "!")), base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
			base64.RawURLEncoding.EncodeToString([]byte("é:" + secret + "..")),
		} {
			if got := r.Text("before " + text + " after"); text != "" && !strings.Contains(got, Mark) {
				t.Errorf("%q is left in %q", secret, got)
			}
		}
	}
}

// TestFindsEveryCase writes secrets in forms that keep neither case nor spelling.
func TestFindsEveryCase(t *testing.T) {
	r := New(Options{})
	for _, secret := range []string{"Correct/horse+staple", "пАроль-日本", "s3Cr3t", "Tr0ub4dor & 3"} {
		r.AddSecret(secret)
		for _, text := range []string{
			strings.ToUpper(secret), strings.ToLower(secret), html.EscapeString(strings.ToUpper(secret)), lowerASCII(url.QueryEscape(secret)),
			fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), "deadbeef" + fmt.Sprintf("%x", secret) + "00",
			strings.Join(strings.Split(secret, ""), " "), strings.Join(strings.Split(strings.ToUpper(secret), ""), "-"), strings.Join(strings.Split(secret, ""), ", "),
		} {
			for _, got := range []string{r.Text("before " + text + " and " + text + " after"), r.Values("before " + text + " and " + text + " after")} {
				if got != "before [REDACTED] and [REDACTED] after" && !strings.HasPrefix(text, "deadbeef") || !strings.Contains(got, Mark) {
					t.Errorf("%q is left in %q", text, got)
				}
			}
		}
	}
	r.AddSecret("Rose")
	const text = "the rose is a ROSE, 52 6f 73 65, r o s e"
	if got := r.Text(text); got != text {
		t.Errorf("%q became %q", text, got)
	}
	if got := r.Text("Rose 526F7365"); got != "[REDACTED] [REDACTED]" {
		t.Errorf("got %q", got)
	}
}

// lowerASCII writes letters of ASCII in lower case.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// allPercent escapes every byte.
func allPercent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// lowerHalf writes every other escape in lower case.
func lowerHalf(escaped string) string {
	parts := strings.Split(escaped, "%")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
	}
	return strings.Join(parts, "%")
}

func TestDeepAndLarge(t *testing.T) {
	r := New(Options{})
	deep := strings.Repeat(`{"a":[`, 5000) + `{"password":"hunter2"}` + strings.Repeat(`]}`, 5000)
	got := r.Text(deep)
	if strings.Contains(got, "hunter2") || !json.Valid([]byte(got)) {
		t.Fatal("deep")
	}
	for _, hostile := range []string{strings.Repeat("token=", 200_000), strings.Repeat(`"token":{`, 100_000), strings.Repeat("[", 900_000), strings.Repeat(`\"`, 400_000), strings.Repeat("http://", 100_000)} {
		r.Text(hostile)
	}
}

var threeAndDigits = regexp.MustCompile(`[A-Z]{3}\d+`)

// FuzzText checks what a redactor guarantees: the secret is gone, JSON stays
// JSON, and redacting again changes nothing.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"password":"§"},"b":["§",{"token":["§"]}]}`, "https://a:§@h/?q=§&token=§#x=§", "password=§&x=§", `{"x":"{\"secret\":\"§\"}"`,
		"Authorization: Basic §\r\nX: §", `{"name":"password","value":"§"}`, `{password: '§', pin:[§, 1]}`, `"\u0070assword":"§"`, "a%3D§%26token%3D§",
		`[["pin","§"],["pin",["§"]]]`, "Map(1) {pin => §}", "?v=%7B%22pin%22%3A%22§%22%7D", "?v=%22pin%22%3A+%20§%2C", "at /pin:1:2§",
		`token=[REDACTED]§`, `[[REDACTED]]§`, `{"[REDACTED]§":1,"a":1e5}`, "form-data; name=\"pin\"\r\n\r\n§\r\n--", `{"a":"\ud800§"}`,
	} {
		f.Add(seed, "hunter2!x")
	}
	f.Add(`{"a":"§","b":12345}`, "12345")
	f.Fuzz(func(t *testing.T, template, secret string) {
		if len(secret) < minSecretBytes || strings.Contains(Mark, secret) || strings.ContainsAny(secret, "[]\x00") ||
			strings.Contains(strings.ToUpper(secret), "REDACTED") || strings.ToValidUTF8(secret, "") != secret {
			return
		}
		r := New(Options{Patterns: []*regexp.Regexp{threeAndDigits}})
		r.AddSecret(secret)
		in := strings.ReplaceAll(template, "§", secret)
		once := r.Text(in)
		if strings.Contains(once, secret) {
			t.Fatalf("%q is left in %q", secret, once)
		}
		if again := r.Text(once); again != once {
			t.Fatalf("%q became %q and then %q", in, once, again)
		}
		raw := append(text.AppendQuoted([]byte(`{"body":`), in), '}')
		out := r.Document(raw)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		var data struct{ Body string }
		if err := json.Unmarshal(out, &data); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(data.Body, secret) {
			t.Fatalf("%q is left in %q", secret, data.Body)
		}
		if json.Valid([]byte(in)) {
			if out, ok := r.current.Load().json([]byte(in), 0); !ok || !json.Valid(out) {
				t.Fatalf("%q became %q", in, out)
			}
		}
	})
}

func BenchmarkConsoleLine(b *testing.B) {
	r := New(Options{})
	r.AddSecret("hunter2 & co")
	line := []byte(`{"text":"` + strings.Repeat("a line on the console: with=things ", 8) + `"}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		r.Document(line)
	}
}

func BenchmarkLargeBody(b *testing.B) {
	r := New(Options{})
	body := "[" + strings.Repeat(`{"id":1,"name":"x","url":"https://a.test/?b=c","list":[1,2,3]},`, 14_000) + "1]"
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.Text(body)
	}
}

// TestSecretsLikeSyntax checks that JSON stays what it is when a secret looks like a part
// of its syntax.
func TestSecretsLikeSyntax(t *testing.T) {
	const text = `{"takeover":"x","state":"done","list":["a","b"]}`
	for _, secret := range []string{`"state":"`, `","`, `":"`, `{"takeover"`, `["a","b"]`} {
		r := New(Options{})
		r.AddSecret(secret)
		for name, got := range map[string]string{"JSON": string(r.JSON([]byte(text))), "Bytes": string(r.Bytes([]byte(text))), "Text": r.Text(text)} {
			if got != text {
				t.Errorf("%s without %s is %s", name, secret, got)
			}
		}
	}
}

// TestRemoved checks what is looked for in the answer to a text.
func TestRemoved(t *testing.T) {
	r := New(Options{})
	for sent, want := range map[string][]string{
		"user=bob&password=open+s%C3%A9same%2F1&x=1":        {"open sésame/1"},
		`{"a":"x","password":"tulip\"4711","pin":48213377}`: {`tulip"4711`, "48213377"},
		"https://a.test/?token=abcdefgh&n=1":                {"abcdefgh"},
		"password=short&q=long enough":                      nil,
		"nothing secret":                                    nil,
		"":                                                  nil,
	} {
		got := r.removed(sent)
		for _, value := range want {
			if !slices.Contains(got, value) {
				t.Errorf("of %s: %q, without %q", sent, got, value)
			}
		}
		if want == nil && len(got) > 0 {
			t.Errorf("of %s: %q", sent, got)
		}
	}
	if got := r.removed(strings.Repeat("password=abcdefgh&", 5000)); len(got) != maxRemoved {
		t.Errorf("%d values of very many", len(got))
	}
}

// TestBytes checks that a file that is not text keeps what is there by chance.
func TestBytes(t *testing.T) {
	r := New(Options{})
	r.AddSecret("123")
	r.AddSecret("open sesame")
	for content, want := range map[string]string{
		"\xff\x00123 open sesame\xfe": "\xff\x00123 [REDACTED]\xfe",
		"123 open sesame":             "[REDACTED] [REDACTED]",
		`["123"]`:                     `["[REDACTED]"]`,
	} {
		if got := string(r.Bytes([]byte(content))); got != want {
			t.Errorf("%q became %q, want %q", content, got, want)
		}
	}
}
