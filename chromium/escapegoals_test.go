package chromium_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"takeover/confine/confinetest"

	"golang.org/x/sys/unix"
)

// endMarked ends processes that have an argument.
func endMarked(t *testing.T, marker string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if !strings.Contains(string(text), marker) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for _, child := range append([]string{strconv.Itoa(pid)}, strings.Fields(string(children))...) { // it would start another child
			if id, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(id, syscall.SIGKILL)
				_, _ = syscall.Wait4(id, nil, 0, nil)
			}
		}
	}
}

// systemPlaces are folders from which Chromium reads.
var systemPlaces = []string{"/opt", "/usr/local"}

// hide returns what a server with data and keys in these places would hide.
func (g goals) hide() (paths []string) {
	for _, place := range g.Hidden {
		paths = append(paths, filepath.Join(place, "data"), filepath.Join(place, "keys", "api-key"))
	}
	return paths
}

// setGoals makes what the escapes aim at.
func setGoals(t *testing.T) goals {
	t.Helper()
	dir := t.TempDir()
	g := goals{
		Server: os.Getpid(), Other: fmt.Sprintf("other-session-%d", os.Getpid()),
		Data: filepath.Join(dir, "data"), Profile: filepath.Join(dir, "other", "profile", "Cookies"), Open: filepath.Join(dir, "open"),
		Abstract: fmt.Sprintf("takeover-test-%d", os.Getpid()), ShmFile: fmt.Sprintf("/dev/shm/takeover-test-%d", os.Getpid()), ShmKey: 0x7a6b0000 | os.Getpid()&0xffff,
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(g.Profile), 0o755))
	must(os.Mkdir(g.Open, 0o777))
	must(os.Chmod(g.Open, 0o777))
	for _, file := range []string{g.Data, g.Profile, g.ShmFile} {
		must(os.WriteFile(file, []byte("secret"), 0o644))
	}
	t.Cleanup(func() { _ = os.Remove(g.ShmFile) })
	openTo(t, g.Data)
	g.Hidden = append(confinetest.Places(t, systemPlaces...), filepath.Join(dir, "hidden"))
	for _, place := range g.Hidden {
		for _, name := range []string{"data/link-key", "data/webhook-secret", "data/chromium/other/profile/Cookies", "keys/api-key"} {
			file := filepath.Join(place, name)
			must(os.MkdirAll(filepath.Dir(file), 0o755))
			must(os.WriteFile(file, []byte("secret"), 0o644))
		}
	}
	for at := filepath.Dir(g.Profile); at != dir; at = filepath.Dir(at) {
		must(os.Chmod(at, 0o755))
	}

	other := exec.Command("/bin/sh", "-c", "read never", g.Other)
	hold, err := other.StdinPipe()
	must(err)
	must(other.Start())
	t.Cleanup(func() { _ = hold.Close(); _ = other.Wait() })

	g.TCP = listen(t, "tcp4", "127.0.0.1:0")
	if probe, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = probe.Close()
		g.TCP6 = listen(t, "tcp6", "[::1]:0")
	}
	listen(t, "unix", "@"+g.Abstract)
	short, err := os.MkdirTemp("/tmp", "takeover-test-") // a socket's path must be short
	must(err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	g.Socket = filepath.Join(short, "socket")
	listen(t, "unix", g.Socket)
	must(errors.Join(os.Chmod(short, 0o755), os.Chmod(g.Socket, 0o777)))
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(err)
	t.Cleanup(func() { _ = udp.Close() })
	g.UDP = udp.LocalAddr().String()
	go func() {
		buf := make([]byte, 16)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo(buf[:n], from)
		}
	}()
	id, err := unix.SysvShmGet(g.ShmKey, 4096, unix.IPC_CREAT|0o666)
	must(err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return g
}

// listen accepts connections until the test ends.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return ln.Addr().String()
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
