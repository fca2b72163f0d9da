package session

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// emptyPage is the address of a page without a document of its own.
const emptyPage = "about:blank"

// parseAddress converts the text of an address bar to a URL that a viewer may
// open. A host without a scheme gets https, or http on loopback.
func parseAddress(text string, check func(*url.URL) error) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == emptyPage {
		return emptyPage, nil
	}
	if len(text) > 32<<10 {
		return "", errors.New("address is too long")
	}
	if !strings.Contains(text, "://") {
		if scheme, rest, ok := strings.Cut(text, ":"); ok && !startsWithPort(rest) {
			return "", fmt.Errorf("%s: addresses cannot be opened here", scheme)
		}
		if strings.ContainsAny(text, " \t\n") || !strings.ContainsAny(text, ".:") && text != "localhost" && !strings.HasPrefix(text, "localhost/") {
			return "", errors.New("this is not an address")
		}
		text = "https://" + text
		if u, err := url.Parse(text); err == nil && isLoopbackName(u.Hostname()) {
			text = "http://" + strings.TrimPrefix(text, "https://")
		}
	}
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s: addresses cannot be opened here", u.Scheme)
	}
	if err != nil || u.Host == "" {
		return "", errors.New("this is not an address")
	}
	if err := check(u); err != nil {
		return "", err
	}
	return u.String(), nil
}

func startsWithPort(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func isLoopbackName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "::1"
}
