package confine

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Calls  = 0x40000000 // numbers from here on are calls with 32-bit pointers
)

// refusedArchCalls are the refused calls that only this architecture has.
var refusedArchCalls = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS__SYSCTL}
