package automation

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

var (
	// schemePattern matches a URL's scheme, as
	// https://url.spec.whatwg.org/#concept-basic-url-parser defines it.
	schemePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)

	// noBreaks removes characters that a browser ignores anywhere in a URL.
	noBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")
)

// Address checks an address that a program opens, as address does for scripts.
func (a *Automation) Address(text string) (string, error) { return a.address(text) }

// address parses a URL that a script opens, the way Chromium will, and returns
// the URL to open. It refuses local files, Chromium's own pages, and addresses
// that Options.CheckURL refuses. A URL without a scheme is left to Chromium,
// which refuses it.
func (a *Automation) address(text string) (string, error) {
	text = noBreaks.Replace(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	if strings.HasPrefix(text, "localhost") || strings.HasPrefix(text, "127.0.0.1") {
		text = "http://" + text
	}
	match := schemePattern.FindStringSubmatch(text)
	if match == nil {
		return text, nil
	}
	scheme, rest := strings.ToLower(match[1]), text[len(match[0]):]
	switch scheme {
	case "data", "blob":
		return text, nil
	case "about": // about: addresses other than these are Chromium's own pages
		if name, _, _ := strings.Cut(rest, "#"); strings.EqualFold(strings.SplitN(name, "?", 2)[0], "blank") || strings.EqualFold(name, "srcdoc") {
			return text, nil
		}
		return "", errorf("%s addresses other than about:blank cannot be opened here", match[0])
	case "http", "https":
		return a.webAddress(scheme, rest)
	}
	return "", errorf("%s: addresses cannot be opened here", scheme)
}

// webAddress checks a web address. The host may follow any number of slashes or
// backslashes.
func (a *Automation) webAddress(scheme, rest string) (string, error) {
	end := strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	path := strings.TrimLeft(strings.ReplaceAll(rest[:end], `\`, "/"), "/")
	text := scheme + "://" + path + rest[end:]
	if a.options.CheckURL == nil {
		return text, nil
	}
	host, _, _ := strings.Cut(path, "/")
	u, err := url.Parse(scheme + "://" + host) // without the path, because Go refuses some paths that browsers accept
	if err == nil && u.Host == "" {
		err = errors.New("it has no host")
	}
	if err != nil {
		return "", errorf("the address cannot be opened here: %v", err)
	}
	if whole, err := url.Parse(text); err == nil {
		u = whole
	}
	if err := a.options.CheckURL(u); err != nil {
		return "", &Error{Name: nameError, Message: err.Error(), cause: err}
	}
	return text, nil
}
