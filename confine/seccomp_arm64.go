package confine

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Calls  = 0x40000000 // there are none
)

// refusedArchCalls are the refused calls that only this architecture has.
var refusedArchCalls = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_LOOKUP_DCOOKIE}
