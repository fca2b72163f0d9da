package scripting

import (
	"cmp"
	"time"

	"takeover/scripting/wire"
)

// Defaults of [Limits].
const (
	DefaultScriptSize   = 1 << 20
	DefaultRunTime      = 5 * time.Minute
	DefaultTurnTime     = 5 * time.Second
	DefaultKillDelay    = 2 * time.Second
	DefaultCallDepth    = 2000
	DefaultMemory       = 256 << 20
	DefaultAddressSpace = 3 << 30
	DefaultResultSize   = 5 << 20
	DefaultLogSize      = 5 << 20
	DefaultPending      = 10_000
	DefaultNesting      = 500
	DefaultSteps        = 20_000
	DefaultTests        = 10_000
	DefaultBacklog      = 64 << 20
	DefaultUnderWay     = 64 << 20
)

// Limits bounds what one run may use. Zero fields get their defaults.
type Limits = wire.Limits

// withDefaults returns the limits with defaults for the fields that are zero.
func withDefaults(l Limits) Limits {
	l.ScriptSize = cmp.Or(l.ScriptSize, DefaultScriptSize)
	l.RunTime = cmp.Or(l.RunTime, DefaultRunTime)
	l.TurnTime = cmp.Or(l.TurnTime, DefaultTurnTime)
	l.KillDelay = cmp.Or(l.KillDelay, DefaultKillDelay)
	l.CallDepth = cmp.Or(l.CallDepth, DefaultCallDepth)
	l.Memory = cmp.Or(l.Memory, DefaultMemory)
	l.AddressSpace = cmp.Or(l.AddressSpace, DefaultAddressSpace)
	l.ResultSize = cmp.Or(l.ResultSize, DefaultResultSize)
	l.LogSize = cmp.Or(l.LogSize, DefaultLogSize)
	l.Pending = cmp.Or(l.Pending, DefaultPending)
	l.Nesting = cmp.Or(l.Nesting, DefaultNesting)
	l.Steps = cmp.Or(l.Steps, DefaultSteps)
	l.Tests = cmp.Or(l.Tests, DefaultTests)
	l.Backlog = cmp.Or(l.Backlog, DefaultBacklog)
	l.UnderWay = cmp.Or(l.UnderWay, DefaultUnderWay)
	return l
}
