package chromium_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
	"takeover/chromium"
	"takeover/confine"
)

// callNumbers are the numbers of the calls that the container's profile names.
var callNumbers = map[string]uint32{
	"bpf": unix.SYS_BPF, "init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE, "delete_module": unix.SYS_DELETE_MODULE,
	"kexec_load": unix.SYS_KEXEC_LOAD, "kexec_file_load": unix.SYS_KEXEC_FILE_LOAD, "reboot": unix.SYS_REBOOT, "swapon": unix.SYS_SWAPON, "swapoff": unix.SYS_SWAPOFF,
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "io_uring_register": unix.SYS_IO_URING_REGISTER,
	"userfaultfd": unix.SYS_USERFAULTFD, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY,
	"request_key": unix.SYS_REQUEST_KEY, "quotactl": unix.SYS_QUOTACTL, "quotactl_fd": unix.SYS_QUOTACTL_FD,
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"kcmp": unix.SYS_KCMP, "process_madvise": unix.SYS_PROCESS_MADVISE, "move_pages": unix.SYS_MOVE_PAGES, "migrate_pages": unix.SYS_MIGRATE_PAGES, "setns": unix.SYS_SETNS,
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "fanotify_init": unix.SYS_FANOTIFY_INIT, "fanotify_mark": unix.SYS_FANOTIFY_MARK,
	"settimeofday": unix.SYS_SETTIMEOFDAY, "clock_settime": unix.SYS_CLOCK_SETTIME, "adjtimex": unix.SYS_ADJTIMEX, "clock_adjtime": unix.SYS_CLOCK_ADJTIME,
	"syslog": unix.SYS_SYSLOG, "acct": unix.SYS_ACCT, "vhangup": unix.SYS_VHANGUP, "socket": unix.SYS_SOCKET,
}

// applyProfile applies deploy/seccomp.json to this process, as a container's
// runtime does.
func applyProfile(t *testing.T, data []byte) {
	t.Helper()
	var profile struct {
		DefaultAction string
		Syscalls      []struct {
			Names    []string
			Action   string
			ErrnoRet uint32
			Args     []struct {
				Index, Value uint32
				Op           string
			}
		}
	}
	if err := json.Unmarshal(data, &profile); err != nil {
		t.Fatal(err)
	}
	if profile.DefaultAction != "SCMP_ACT_ALLOW" {
		t.Fatal(profile.DefaultAction)
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(value uint32, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: no}
	}
	give := func(value uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value} }
	var program []unix.SockFilter
	for _, rule := range profile.Syscalls {
		for _, name := range rule.Names {
			number, ok := callNumbers[name]
			if !ok || rule.Action != "SCMP_ACT_ERRNO" {
				t.Fatalf("the test does not know %s %s", rule.Action, name)
			}
			refuse := give(unix.SECCOMP_RET_ERRNO | rule.ErrnoRet)
			program = append(program, load(0))
			if len(rule.Args) == 0 {
				program = append(program, equal(number, 1), refuse)
				continue
			}
			program = append(program, equal(number, 3), load(16+8*rule.Args[0].Index), equal(rule.Args[0].Value, 1), refuse)
		}
	}
	program = append(program, give(unix.SECCOMP_RET_ALLOW))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread() // no_new_privs belongs to the thread
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		t.Fatal(errno)
	}
}

// profileTrial is an environment variable with the profile that the test binary
// applies to itself.
const profileTrial = "TAKEOVER_TEST_PROFILE"

// TestContainerProfile checks that all measures work for an ordinary user under
// the profile that compose.yaml names.
func TestContainerProfile(t *testing.T) {
	if profile := os.Getenv(profileTrial); profile != "" {
		applyProfile(t, []byte(profile))
		p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher})
		for _, m := range p.Confinement() {
			if !m.On && m.Name != confine.Cgroup {
				t.Errorf("%s: %s", m.Name, m.Reason)
			}
		}
		if !p.Sandboxed() {
			t.Error("Chromium's own sandbox is off")
		}
		browsertest.PageOf(t, p.Conn()).HTML("<p>hello")
		for name, try := range map[string]func() error{
			"use bpf":          func() error { return forbidden(call(unix.SYS_BPF, 0)) },
			"use keyrings":     func() error { return forbidden(call(unix.SYS_KEYCTL, ^uintptr(0))) },
			"reach the host":   func() error { return makesSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
			"take descriptors": func() error { return forbidden(call(unix.SYS_PIDFD_GETFD, ^uintptr(0))) },
		} {
			if try() == nil {
				t.Errorf("the profile lets the server %s", name)
			}
		}
		return
	}
	needConfinement(t, browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher}))
	profile, err := os.ReadFile("../deploy/seccomp.json")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), profileTrial+"="+string(profile), "TMPDIR=/tmp", "HOME=/tmp")
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61500, Gid: 61500}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v: %s", err, out)
	}
	compose, err := os.ReadFile("../compose.yaml")
	if err != nil || !strings.Contains(string(compose), "seccomp=deploy/seccomp.json") {
		t.Errorf("compose.yaml does not name it: %v", err)
	}
}
