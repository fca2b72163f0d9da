// Package rawio reads and writes pipes and sockets with bare system calls.
//
// The Go runtime assumes that every system call may block. If the program was
// idle before, the runtime wakes a thread that watches the call. For a small
// message on a ready pipe, which takes a microsecond to read or write, waking
// that thread is the largest cost. A non-blocking pipe needs no watching, so this
// package calls the system directly, and uses the runtime only when it has to
// wait.
package rawio

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads from a pipe. It is for one goroutine at a time.
type Reader struct {
	r    io.Reader
	pipe syscall.RawConn // of r; nil when r is not a non-blocking pipe
}

// NewReader returns a Reader that reads from r. When r is not a pipe, file or
// socket in non-blocking mode, the reader calls r itself.
func NewReader(r io.Reader) *Reader { return &Reader{r: r, pipe: nonblocking(r)} }

// Read waits for bytes and reads them. At the end it returns io.EOF.
func (r *Reader) Read(b []byte) (int, error) {
	if r.pipe == nil || len(b) == 0 {
		return r.r.Read(b)
	}
	var n int
	var errno syscall.Errno
	err := r.pipe.Read(func(fd uintptr) bool {
		n, errno = call(syscall.SYS_READ, fd, b)
		return errno != syscall.EAGAIN // false waits for more
	})
	switch {
	case err != nil:
		return r.r.Read(b) // returns the error that package os defines
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Writer writes to a pipe. It is for one goroutine at a time.
type Writer struct {
	w    io.Writer
	pipe syscall.RawConn // of w; nil when w is not a non-blocking pipe
}

// NewWriter returns a Writer that writes to w. When w is not a pipe, file or
// socket in non-blocking mode, the writer calls w itself.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, pipe: nonblocking(w)} }

// Try writes as much as it can without blocking and returns the number of bytes.
// If the pipe is broken, it returns a smaller number, and the next Write returns
// the error.
func (w *Writer) Try(b []byte) (n int) {
	if w.pipe == nil || len(b) == 0 {
		return 0
	}
	_ = w.pipe.Write(func(fd uintptr) bool {
		n, _ = call(syscall.SYS_WRITE, fd, b)
		return true // never wait
	})
	return n
}

// Write writes all of b, waiting for room as necessary.
func (w *Writer) Write(b []byte) (int, error) {
	n := w.Try(b)
	if n == len(b) {
		return n, nil
	}
	more, err := w.w.Write(b[n:])
	return n + more, err
}

// nonblocking returns the file behind x if it is in non-blocking mode.
func nonblocking(x any) syscall.RawConn {
	c, ok := x.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var flags int
	if e := raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); e != nil || err != nil || flags&unix.O_NONBLOCK == 0 {
		return nil
	}
	return raw
}

// call reads or writes b once. n is 0 if there is an error.
func call(number, fd uintptr, b []byte) (n int, errno syscall.Errno) {
	for {
		done, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(done), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
