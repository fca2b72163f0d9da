package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"takeover/store"
)

// smallDisk is an environment variable. If it is set, the test runs in a mount
// namespace of its own, and puts a small file system at this folder.
const smallDisk = "TAKEOVER_TEST_SMALL_DISK"

// TestFullDisk checks that on a full disk the store refuses what it cannot keep,
// that it keeps what it has accepted, and that it goes on when there is room again.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(smallDisk); dir != "" {
		testFullDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestFullDisk") {
		t.Errorf("%v: %s", err, out)
	}
}

func testFullDisk(t *testing.T, dir string) {
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""), unix.Mount("tmpfs", dir, "tmpfs", 0, "size=48m,mode=0700")); err != nil {
		t.Fatal(err)
	}
	s := open(t, store.Options{Dir: filepath.Join(dir, "store"), Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	things := bucket(t, s)
	stream, err := s.Events(t.Context(), store.EventsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	const big = 10_000
	kept, appended := 0, uint64(0)
	for round, left := range []uint64{8<<20 + 256<<10, 256 << 10, 256 << 10} {
		if round == 1 { // as if another program had filled the disk between the check and the write
			s.SetFree(0)
		}
		if err := fillUp(ballast, left); err != nil {
			t.Fatal(err)
		}
		patience := 500 * time.Millisecond
		if round == 0 { // every refusal is an answer
			patience = 20 * time.Second
		}
		refused := 0
		for i := 0; refused < 3; i++ {
			if i == 1000 {
				t.Fatal("the disk does not become full")
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if err := things.Set(ctx, fmt.Sprintf("key%d", kept), []byte(strings.Repeat("x", big))); err != nil {
				if refused++; round == 0 && !errors.Is(err, store.ErrFull) {
					t.Errorf("refused with %v", err)
				}
			} else {
				kept++
			}
			n, err := stream.Append(ctx, "s1", []store.Record{{Seq: appended + 1, Category: "console", TS: 1, JSON: []byte(`{"seq":` + fmt.Sprint(appended+1) + `,"pad":"` + strings.Repeat("x", big) + `"}`)}})
			if appended += uint64(n); err != nil && round == 0 && !errors.Is(err, store.ErrFull) {
				t.Errorf("an event is refused with %v", err)
			}
			cancel()
		}
		if round == 0 {
			if e, err := bucket(t, s).Get(t.Context(), "key0"); err != nil || len(e.Value) != big {
				t.Errorf("a full disk cannot be read: %v", err)
			}
		}
		t.Logf("round %d: %d keys and %d events are kept", round, kept, appended)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(time.Minute)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), max(patience, 2*time.Second))
			err = things.Set(ctx, "back", []byte("again"))
			cancel()
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("with room again, the store still refuses: %v", err)
			}
		}
	}
	check := func(when string, s *store.Store) {
		things := bucket(t, s)
		for i := range kept {
			if e, err := things.Get(t.Context(), fmt.Sprintf("key%d", i)); err != nil || len(e.Value) != big {
				t.Errorf("%s: key %d is lost: %v", when, i, err)
				break
			}
		}
		events, err := s.Events(t.Context(), store.EventsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if last, err := events.Last(t.Context(), "s1"); err != nil || last < appended {
			t.Errorf("%s: the last event is %d, want %d: %v", when, last, appended, err)
		}
	}
	check("while it runs", s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	check("after a restart", open(t, store.Options{Dir: filepath.Join(dir, "store")}))
}

// fillUp writes a file until the file system has only so many bytes left.
func fillUp(name string, left uint64) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var fs unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(name), &fs); err != nil {
		return err
	}
	_, err = io.CopyN(file, zeros{}, int64(fs.Bavail*uint64(fs.Bsize)-left))
	return err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
