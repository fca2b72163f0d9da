package fetch

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"
)

const (
	// maxCookies bounds a Memory; the oldest ones go.
	maxCookies = 3000

	// maxMemory bounds a Memory in bytes, likewise.
	maxMemory = 1 << 20
)

// Memory is a Jar that lives as long as its requests. Its zero value is empty.
// All methods may be called from any goroutine.
type Memory struct {
	mu      sync.Mutex // guards cookies
	cookies []Cookie
}

// Cookies are those for a URL.
func (m *Memory) Cookies(_ context.Context, u *url.URL) ([]Cookie, error) {
	return slices.DeleteFunc(m.All(), func(c Cookie) bool { return !c.Matches(u) }), nil
}

// SetCookies keeps cookies; one that has expired takes its like away.
func (m *Memory) SetCookies(_ context.Context, cookies []Cookie) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, c := range cookies {
		m.cookies = slices.DeleteFunc(m.cookies, func(o Cookie) bool { return o.Name == c.Name && o.Domain == c.Domain && o.Path == c.Path })
		if !c.expired(now) && len(c.Name)+len(c.Value) <= maxCookie {
			m.cookies = append(m.cookies, c)
		}
	}
	m.shrinkLocked()
	return nil
}

// shrinkLocked takes the oldest cookies away when there are too many.
func (m *Memory) shrinkLocked() {
	size := 0
	for _, c := range m.cookies {
		size += c.size()
	}
	over := 0
	for over < len(m.cookies) && (len(m.cookies)-over > maxCookies || size > maxMemory) {
		size -= m.cookies[over].size()
		over++
	}
	m.cookies = slices.Delete(m.cookies, 0, over)
}

// size is how many bytes of text a cookie has.
func (c *Cookie) size() int {
	return len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) + len(c.PartitionKey)
}

// All are the cookies that have not expired.
func (m *Memory) All() []Cookie {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.cookies = slices.DeleteFunc(m.cookies, func(c Cookie) bool { return c.expired(now) })
	return slices.Clone(m.cookies)
}

// Remove takes away the cookies that match.
func (m *Memory) Remove(match func(Cookie) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cookies = slices.DeleteFunc(m.cookies, match)
}
