// Package pipes reads and writes pipes and sockets without the Go runtime's noticing.
//
// The runtime takes every system call for one that may wait, and whenever the
// program was idle before it wakes a thread that watches over them. For a message
// on a pipe that is ready, which costs a microsecond to read or write, that is the
// dearest part. Pipes that do not block need no watching: here they are asked
// with bare system calls, and only who has to wait does so in the runtime.
package pipes

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads from a pipe. It is for one goroutine at a time.
type Reader struct {
	r    io.Reader
	pipe syscall.RawConn // of r; nil when r is no pipe, or one that blocks
}

// NewReader reads from r. Anything that is not a pipe, file or socket in
// non-blocking mode is read as it is.
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
		return errno != syscall.EAGAIN // then wait for more
	})
	switch {
	case err != nil:
		return r.r.Read(b) // which says it in the words of package os
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
	pipe syscall.RawConn // of w; nil when w is no pipe, or one that blocks
}

// NewWriter writes to w. Anything that is not a pipe, file or socket in
// non-blocking mode is written to as it is.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, pipe: nonblocking(w)} }

// Try writes as much as goes without waiting and returns how many bytes that
// were. They are too few as well when the pipe is broken: Write tells which.
func (w *Writer) Try(b []byte) (n int) {
	if w.pipe == nil || len(b) == 0 {
		return 0
	}
	_ = w.pipe.Write(func(fd uintptr) bool {
		n, _ = call(syscall.SYS_WRITE, fd, b)
		return true // done, whatever came of it
	})
	return n
}

// Write writes all of b, and waits until there is room for it.
func (w *Writer) Write(b []byte) (int, error) {
	n := w.Try(b)
	if n == len(b) {
		return n, nil
	}
	more, err := w.w.Write(b[n:])
	return n + more, err
}

// nonblocking is the file under x when it never makes a system call wait.
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

// call reads or writes b once; n is 0 with an error.
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
