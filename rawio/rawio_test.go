package rawio_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"takeover/rawio"
)

func open(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// TestReadWaits checks that a waiting reader gets later bytes, and then the end.
func TestReadWaits(t *testing.T) {
	r, w := open(t)
	got := make(chan []byte)
	go func() {
		all, err := io.ReadAll(rawio.NewReader(r))
		if err != nil {
			t.Error(err)
		}
		got <- all
	}()
	for _, part := range []string{"a", "bc", "def"} {
		if n, err := rawio.NewWriter(w).Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if all := <-got; string(all) != "abcdef" {
		t.Errorf("read %q", all)
	}
}

// TestWriteWaits checks that Try writes what fits into the pipe, and that Write
// waits until the rest fits.
func TestWriteWaits(t *testing.T) {
	r, w := open(t)
	out := rawio.NewWriter(w)
	want := bytes.Repeat([]byte("0123456789abcdef"), 32<<10) // more than fits into a pipe
	n := out.Try(want)
	if n == 0 || n == len(want) {
		t.Fatalf("%d bytes went at once", n)
	}
	if more := out.Try(want[n:]); more != 0 {
		t.Fatalf("%d bytes went into a full pipe", more)
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := out.Write(want[n:])
		wrote <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(rawio.NewReader(r))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// TestClosed checks that closing a pipe ends a waiting read, and that writing to
// a pipe without a reader is an error.
func TestClosed(t *testing.T) {
	r, w := open(t)
	ended := make(chan error)
	go func() {
		_, err := rawio.NewReader(r).Read(make([]byte, 1))
		ended <- err
	}()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("a reader whose pipe was closed got %v", err)
	}
	out := rawio.NewWriter(w)
	if n := out.Try([]byte("x")); n != 0 {
		t.Errorf("%d bytes went into a broken pipe", n)
	}
	if _, err := out.Write([]byte("x")); err == nil {
		t.Error("a broken pipe took a byte")
	}
}

// TestBlocking checks that a file in blocking mode never gets a bare system call,
// which would block the scheduler.
func TestBlocking(t *testing.T) {
	r, w := open(t)
	_ = w.Fd() // sets the mode
	if n := rawio.NewWriter(w).Try([]byte("x")); n != 0 {
		t.Errorf("%d bytes went without waiting", n)
	}
	if n, err := rawio.NewWriter(w).Write([]byte("xy")); n != 2 || err != nil {
		t.Error(n, err)
	}
	if n, err := rawio.NewReader(r).Read(make([]byte, 4)); n != 2 || err != nil {
		t.Error(n, err)
	}
}

// TestDeadline checks that the reader obeys a deadline of the file.
func TestDeadline(t *testing.T) {
	r, _ := open(t)
	if err := r.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := rawio.NewReader(r).Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
