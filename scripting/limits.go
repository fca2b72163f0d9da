package scripting

import (
	"cmp"
	"time"
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

// Limits bound what one run may use. Zero fields get their defaults.
type Limits struct {
	ScriptSize   int           // bytes of source; default 1 MiB
	RunTime      time.Duration // of the run's clock, which takeovers stop; default 5 min
	TurnTime     time.Duration // without yielding to the event loop; default 5 s
	KillDelay    time.Duration // from an interrupt that did not help to the worker's end; default 2 s
	CallDepth    int           // nested calls; default 2,000
	Memory       int64         // resident bytes of the worker; default 256 MiB
	AddressSpace int64         // RLIMIT_AS of the worker in bytes; default 3 GiB
	ResultSize   int           // bytes of the result's JSON; default 5 MiB
	LogSize      int           // bytes of all log lines, each with lineCost more; default 5 MiB
	Pending      int           // timers, and operations under way; default 10,000 each
	Nesting      int           // brackets within brackets in the source; default 500
	Steps        int           // reported steps, further ones are dropped; default 20,000
	Tests        int           // reported tests, further ones are dropped; default 10,000
	Backlog      int           // bytes on their way to the worker; default 64 MiB
	UnderWay     int           // bytes of the parameters of all operations under way; default 64 MiB
}

func (l Limits) withDefaults() Limits {
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

// What bounds the small things that a worker tells; longer ones are cut.
const (
	lineCost      = 64       // bytes that a log line counts beyond its text
	maxStepTitle  = 4 << 10  // bytes of a step's title
	maxStepError  = 16 << 10 // bytes of a step's error
	maxErrorText  = 64 << 10 // bytes of an error's message, and of its stack
	maxErrorName  = 1 << 10  // bytes of an error's name
	maxResultTail = 1 << 20  // bytes of a worker's last frame beyond its result
)
