package worker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"takeover/scripting/wire"
)

// workerThreads is the number of threads that run Go code in a worker. A script
// needs one; more would only wake each other at each call. Setting the number
// also stops the runtime from watching the files of its cgroup.
const workerThreads = 1

// confine removes everything from the worker that it does not need: memory and
// processor time beyond its limits, privileges, files, network, and all system
// calls except those that the Go runtime needs. Protections that the kernel does
// not support are skipped, except for seccomp, which is required.
func confine(setup wire.Setup) error {
	runtime.GOMAXPROCS(workerThreads)
	runtime.LockOSThread() // no_new_privs belongs to a thread, and the filter is set on the same thread
	defer runtime.UnlockOSThread()
	if err := limitResources(setup.Limits); err != nil {
		return err
	}
	if setup.UID != 0 {
		if err := dropRoot(setup.UID); err != nil {
			return err
		}
	}
	// A change of credentials clears the signal that the kernel sends when the
	// parent dies.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("set parent death signal: %w", err)
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := denyFiles(); err != nil {
		return err
	}
	return filterSystemCalls()
}

func limitResources(l wire.Limits) error {
	// A run's clock stops during takeovers, and the worker uses no processor time
	// then. Twice the run time leaves room for the Go runtime's own work.
	cpu := uint64(2*l.RunTime.Seconds()) + 30
	limits := []struct {
		what  int
		value uint64
	}{
		{unix.RLIMIT_CPU, cpu},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
	}
	if !RaceEnabled { // the race detector maps terabytes of address space
		limits = append(limits, struct {
			what  int
			value uint64
		}{unix.RLIMIT_AS, uint64(l.AddressSpace)})
	}
	for _, limit := range limits {
		if err := unix.Setrlimit(limit.what, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("set resource limit %d: %w", limit.what, err)
		}
	}
	return nil
}

// dropRoot switches the process to an unprivileged user, in all its threads.
func dropRoot(uid int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("drop groups: %w", err)
	}
	if err := syscall.Setgid(uid); err != nil {
		return fmt.Errorf("set group: %w", err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("set user: %w", err)
	}
	return nil
}

// denyFiles denies access to the file system and TCP with Landlock, if the kernel
// supports it. It is a second wall behind the filter of system calls. Landlock
// applies to a thread and the threads that it starts, so every thread has to
// request it. The C threads of the race detector cannot.
func denyFiles() error {
	if RaceEnabled {
		return nil
	}
	version, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1} // all access rights of version 1
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	ruleset, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	defer unix.Close(int(ruleset))
	if _, _, errno = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); errno == syscall.ENOTSUP {
		return nil // a cgo binary
	}
	if _, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("apply Landlock rules: %w", errno)
	}
	return nil
}

// filterSystemCalls allows the system calls that a Go program without files
// and network makes, and refuses all others with EPERM, in all threads.
func filterSystemCalls() error {
	const dataNumber, dataArch = 0, 4 // offsets in struct seccomp_data
	const dataArg0, dataArg1 = 16, 24 // the low halves of the arguments, on little-endian machines
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(op uint16, value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	give := func(value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
	}
	refuse := uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)
	program := []unix.SockFilter{
		load(dataArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		give(unix.SECCOMP_RET_KILL_PROCESS),
		load(dataNumber),
	}
	for _, number := range allowedCalls {
		program = append(program, jump(unix.BPF_JEQ, number, 0, 1), give(unix.SECCOMP_RET_ALLOW))
	}
	program = append(program,
		// A filter cannot see the flags of clone3. ENOSYS makes callers use
		// clone.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), give(uint32(unix.SECCOMP_RET_ERRNO)|uint32(unix.ENOSYS)),
		// clone may start threads, but no processes.
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		load(dataArg0),
		jump(unix.BPF_JSET, unix.CLONE_THREAD, 0, 1), give(unix.SECCOMP_RET_ALLOW),
		give(refuse),
		// tgkill may signal this process's own threads, but no other process of its user.
		jump(unix.BPF_JEQ, unix.SYS_TGKILL, 0, 4),
		load(dataArg0),
		jump(unix.BPF_JEQ, uint32(os.Getpid()), 0, 1), give(unix.SECCOMP_RET_ALLOW),
		give(refuse),
		// fcntl may not name an owner, because the kernel would send signals to it.
		jump(unix.BPF_JEQ, unix.SYS_FCNTL, 0, 3),
		load(dataArg1),
		jump(unix.BPF_JGT, unix.F_SETFL, 1, 0), give(unix.SECCOMP_RET_ALLOW),
		give(refuse),
	)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	if thread != 0 {
		return errors.New("filter system calls: a thread could not be reached")
	}
	return nil
}

// allowedCalls are the calls that the Go runtime needs once it runs: memory, threads,
// signals to itself, clocks, and reading and writing open files.
var allowedCalls = append([]uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_CLOSE,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_RESTART_SYSCALL, unix.SYS_GETRANDOM,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_PPOLL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER, unix.SYS_GETRUSAGE,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}, archCalls...)
