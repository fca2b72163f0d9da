package browsertest

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// Lent is what the tests of a binary borrow, one after the other, because it takes
// long to start.
type Lent[T any] struct {
	mu    sync.Mutex // guards what follows; a test that has borrowed it holds the lock
	value T
	dir   string // its files; empty before it is started
	end   func() error
}

// Borrow gives a test the value until the test ends. For the first one it calls start
// with an empty folder; start also returns what ends the value.
func (l *Lent[T]) Borrow(t testing.TB, start func(dir string) (T, func() error, error)) T {
	t.Helper()
	if !l.mu.TryLock() {
		t.Fatal("it is borrowed already")
	}
	t.Cleanup(l.mu.Unlock)
	if l.dir != "" {
		return l.value
	}
	dir, err := os.MkdirTemp("", "lent-")
	if err != nil {
		t.Fatal(err)
	}
	if l.value, l.end, err = start(dir); err != nil {
		t.Fatal(err)
	}
	l.dir = dir
	return l.value
}

// Unborrowed calls f with the value, if it is started. It waits for a test that has
// borrowed it.
func (l *Lent[T]) Unborrowed(f func(T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir != "" {
		f(l.value)
	}
}

// End ends the value, if it is started. It is for Run.
func (l *Lent[T]) End() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir == "" {
		return nil
	}
	return errors.Join(l.end(), os.RemoveAll(l.dir))
}
