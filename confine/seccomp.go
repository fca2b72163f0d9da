package confine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that no process of Chromium may make, with
// reasons. Chromium's own filters, which are much narrower, still apply to its
// renderers and services; this one holds for the browser and the GPU process too.
var refusedCalls = append([]uint32{
	// Loading code into the kernel, and replacing it.
	unix.SYS_BPF, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	// Large parts of the kernel in which faults are found again and again, and which Chromium does not use.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// Mounts. Chromium's sandbox makes user namespaces, in which they would otherwise be allowed.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	// The way back into other namespaces.
	unix.SYS_SETNS,
	// Other processes' memory and descriptors.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	// Files by number instead of by path.
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// The machine's clock, name, log and accounting.
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_VHANGUP,
	// Pages of other processes, and where memory lies.
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
}, refusedArchCalls...)

// Sockets are allowed to Chromium's own processes, to the network of its
// namespace, and to ask the kernel about that network (socketRules). AF_VSOCK above
// all is not: it leads to the machine that hosts this one, past every network
// namespace.

// refusedIoctls are requests of ioctl, from one number to another: typing into
// another's terminal, and, in a network namespace that a process makes, bridges
// (SIOCGIFBR, SIOCSIFBR, SIOCBRADDBR to SIOCBRDELIF), virtual networks (SIOCGIFVLAN),
// bonds (SIOCBONDENSLAVE) and tunnels and other requests of devices (SIOCDEVPRIVATE).
// The numbers are those of linux/sockios.h. Where askRoutes allows NETLINK_ROUTE, its
// messages may do the same: a filter cannot see them.
var refusedIoctls = []struct{ from, to uint32 }{{unix.TIOCSTI, unix.TIOCSTI}, {0x8940, 0x8941}, {0x8982, 0x8983}, {0x8990, 0x8995}, {0x89a0, 0x89a3}, {0x89f0, 0x89ff}}

// refusedOptions are options of sockets, from one number to another, that lead to the
// kernel's old tables of packet filters: those of IPv4, of ARP and of bridges, and those
// of IPv6 (linux/netfilter_ipv4/ip_tables.h and its siblings).
var refusedOptions = []struct{ level, from, to uint32 }{
	{unix.IPPROTO_IP, 64, 67}, {unix.IPPROTO_IP, 96, 99}, {unix.IPPROTO_IP, 128, 131}, {unix.IPPROTO_IPV6, 64, 65}, {unix.IPPROTO_IPV6, 68, 69},
}

// socketRules say which sockets depend on the network.
type socketRules struct {
	// tcpOnly refuses what Landlock does not hold back, where there is nothing else:
	// packets, streams of other protocols (Landlock lets MPTCP and SCTP connect
	// anywhere), and connections that begin with their first bytes (MSG_FASTOPEN).
	tcpOnly bool
	// askRoutes allows to ask the kernel for addresses and routes. In a network
	// namespace of its own Chromium would learn that there is only loopback, and tell
	// pages that they are offline (navigator.onLine). Without an answer it assumes a
	// network.
	askRoutes bool
}

// refusedNamespaces are those that Chromium's sandbox does not make: it makes
// namespaces for users, processes and the network.
const refusedNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWTIME

// Offsets in struct seccomp_data: the number of the call, the architecture, and
// the low halves of the arguments on little-endian machines.
const dataNumber, dataArch, dataArg0, dataArg1, dataArg2, dataArg3 = 0, 4, 16, 24, 32, 40

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jump(op uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func give(value uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
}

func fail(errno uint32) unix.SockFilter { return give(uint32(unix.SECCOMP_RET_ERRNO) | errno) }

// filter returns the program.
func filter(sockets socketRules) []unix.SockFilter {
	program := []unix.SockFilter{
		load(dataArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		give(unix.SECCOMP_RET_KILL_PROCESS), // 32-bit calls have other numbers
		load(dataNumber),
		jump(unix.BPF_JGE, x32Calls, 0, 1), fail(uint32(unix.ENOSYS)),
		// A filter cannot see the flags of clone3. ENOSYS makes callers use clone.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), fail(uint32(unix.ENOSYS)),
	}
	for _, number := range refusedCalls {
		program = append(program, jump(unix.BPF_JEQ, number, 0, 1), fail(uint32(unix.EPERM)))
	}
	for _, number := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		program = append(program, jump(unix.BPF_JEQ, number, 0, 4), load(dataArg0),
			jump(unix.BPF_JSET, refusedNamespaces, 0, 1), fail(uint32(unix.EPERM)), give(unix.SECCOMP_RET_ALLOW))
	}
	refused := []unix.SockFilter{load(dataArg1)}
	for _, r := range refusedIoctls {
		refused = append(refused, jump(unix.BPF_JGE, r.from, 0, 2), jump(unix.BPF_JGT, r.to, 1, 0), fail(uint32(unix.EPERM)))
	}
	program = onCall(program, unix.SYS_IOCTL, refused)
	refused = nil
	for _, r := range refusedOptions {
		refused = append(refused, load(dataArg1), jump(unix.BPF_JEQ, r.level, 0, 4), load(dataArg2),
			jump(unix.BPF_JGE, r.from, 0, 2), jump(unix.BPF_JGT, r.to, 1, 0), fail(uint32(unix.EPERM)))
	}
	program = onCall(onCall(program, unix.SYS_SETSOCKOPT, refused), unix.SYS_GETSOCKOPT, refused)
	if sockets.tcpOnly {
		for _, send := range []struct{ number, flags uint32 }{{unix.SYS_SENDTO, dataArg3}, {unix.SYS_SENDMSG, dataArg2}, {unix.SYS_SENDMMSG, dataArg3}} {
			program = append(program, jump(unix.BPF_JEQ, send.number, 0, 4), load(send.flags),
				jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1), fail(uint32(unix.EOPNOTSUPP)), give(unix.SECCOMP_RET_ALLOW))
		}
	}
	for _, number := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		check := checkSocket(sockets)
		program = append(program, jump(unix.BPF_JEQ, number, 0, uint8(len(check))))
		program = append(program, check...)
	}
	return append(program, give(unix.SECCOMP_RET_ALLOW))
}

// onCall adds what decides on a call to a program. If it does not refuse the call, the
// call is allowed.
func onCall(program []unix.SockFilter, number uint32, refuse []unix.SockFilter) []unix.SockFilter {
	program = append(program, jump(unix.BPF_JEQ, number, 0, uint8(len(refuse)+1)))
	return append(append(program, refuse...), give(unix.SECCOMP_RET_ALLOW))
}

// checkSocket decides on a call whose arguments are the family, the type and the
// protocol of a socket.
func checkSocket(rules socketRules) []unix.SockFilter {
	const typeBits = 0xf // the rest are flags
	check := []unix.SockFilter{
		load(dataArg0),
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1), give(unix.SECCOMP_RET_ALLOW),
	}
	if rules.askRoutes {
		// Chromium asks for addresses and routes. Other protocols of this family lead to audit, firewall, devices …
		check = append(check, jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 4), load(dataArg2),
			jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 0, 1), give(unix.SECCOMP_RET_ALLOW), fail(uint32(unix.EPERM)))
	}
	check = append(check,
		jump(unix.BPF_JEQ, unix.AF_INET, 2, 0),
		jump(unix.BPF_JEQ, unix.AF_INET6, 1, 0),
		fail(uint32(unix.EAFNOSUPPORT)),
		load(dataArg1), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: typeBits},
	)
	if rules.tcpOnly {
		return append(check,
			jump(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0), fail(uint32(unix.EPERM)),
			load(dataArg2),
			jump(unix.BPF_JEQ, 0, 1, 0), // the default is TCP
			jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 0, 1), give(unix.SECCOMP_RET_ALLOW),
			fail(uint32(unix.EPERM)))
	}
	return append(check,
		jump(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 1), give(unix.SECCOMP_RET_ALLOW),
		jump(unix.BPF_JEQ, unix.SOCK_DGRAM, 0, 1), give(unix.SECCOMP_RET_ALLOW),
		fail(uint32(unix.EPERM)))
}

// filterCalls applies the filter to all threads of the launcher, and so to
// everything that it starts.
func filterCalls(sockets socketRules) error {
	program := filter(sockets)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("apply: %w", errno)
	}
	if thread != 0 {
		return errors.New("a thread could not be reached")
	}
	return nil
}
