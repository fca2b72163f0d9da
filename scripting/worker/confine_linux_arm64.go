package worker

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// archCalls are the allowed system calls that only this architecture has.
var archCalls []uint32
