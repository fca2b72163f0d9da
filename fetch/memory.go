package fetch

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"
)

const (
	// maxCookies bounds the cookies of a Memory; the oldest are dropped first.
	maxCookies = 3000

	// maxMemory bounds the bytes of a Memory; the oldest cookies are dropped
	// first.
	maxMemory = 1 << 20
)

// Memory is a Jar in memory. Its zero value is empty. All methods may be called
// from any goroutine.
type Memory struct {
	mu      sync.Mutex // guards cookies
	cookies []Cookie
}

// Cookies returns the cookies for a URL.
func (m *Memory) Cookies(_ context.Context, u *url.URL) ([]Cookie, error) {
	return slices.DeleteFunc(m.All(), func(c Cookie) bool { return !c.Matches(u) }), nil
}

// SetCookies keeps cookies. An expired cookie removes the stored one of the same
// name, domain and path.
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

// shrinkLocked drops the oldest cookies when there are too many.
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

// size returns the number of bytes of a cookie's text.
func (c *Cookie) size() int {
	return len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) + len(c.PartitionKey)
}

// All returns the cookies that have not expired.
func (m *Memory) All() []Cookie {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.cookies = slices.DeleteFunc(m.cookies, func(c Cookie) bool { return c.expired(now) })
	return slices.Clone(m.cookies)
}

// Remove removes the cookies that match.
func (m *Memory) Remove(match func(Cookie) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cookies = slices.DeleteFunc(m.cookies, match)
}
