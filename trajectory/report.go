package trajectory

import "time"

// Report is report.json: what a bundle contains.
type Report struct {
	ID        string    `json:"trajectory_id"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Events    int       `json:"total_events"`
	ToolCalls int       `json:"tool_calls"`
	Failures  int       `json:"failures"` // calls that failed, and errors
	Progress  struct {
		Stalling int `json:"stalling_events"`
		Stuck    int `json:"stuck_events"`
	} `json:"progress"`
	Contracts struct {
		Pass         int `json:"pass"`
		Fail         int `json:"fail"`
		Inconclusive int `json:"inconclusive"`
	} `json:"contracts"`
	Artifacts struct {
		Events      int `json:"events"`
		Screenshots int `json:"screenshots"`
		Checkpoints int `json:"checkpoints"`
		Contracts   int `json:"contracts"`
	} `json:"artifacts"`
	// Lost counts events and files that could not be written, and Recovery says
	// why. Both are empty for a whole bundle.
	Lost     int      `json:"lost,omitempty"`
	Recovery []string `json:"recovery,omitempty"`
	LeakScan LeakScan `json:"leak_scan"`
}

// LeakScan is the verdict on whether a bundle contains a registered secret.
type LeakScan struct {
	State ScanState  `json:"state"`
	At    *time.Time `json:"at,omitempty"`
	Files []string   `json:"files,omitempty"` // that contain one
}

// ScanState is the outcome of a leak scan.
type ScanState string

// The outcomes. A bundle whose server died before the scan is NotScanned, because
// nobody knows the secrets any more.
const (
	Clean      ScanState = "clean"
	Found      ScanState = "found"
	NotScanned ScanState = "not_scanned"
)

// Verdict is the outcome of a contract.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

// verdict is the part of an event's result that tells a contract's outcome.
type verdict struct {
	Verdict Verdict `json:"verdict"`
}

// count adds an event to the report.
func (r *Report) count(e Event, v Verdict) {
	r.Events++
	r.Artifacts.Events++
	failed := e.OK != nil && !*e.OK
	switch e.Kind {
	case ToolCallStart:
		r.ToolCalls++
	case ToolCallEnd:
		if failed {
			r.Failures++
		}
	case Failure:
		r.Failures++
	case CheckpointOf:
		if e.Refs != nil && e.Refs.Checkpoint != "" {
			r.Artifacts.Checkpoints++
		}
	case ContractOf:
		if e.Refs != nil && e.Refs.Contract != "" {
			r.Artifacts.Contracts++
		}
		switch v {
		case Pass:
			r.Contracts.Pass++
		case Fail:
			r.Contracts.Fail++
		case Inconclusive:
			r.Contracts.Inconclusive++
		}
	case Hint, Recovery, TakeoverStart, TakeoverEnd: // events only
	}
	if e.Progress != nil {
		switch e.Progress.Status {
		case "stalling":
			r.Progress.Stalling++
		case "stuck":
			r.Progress.Stuck++
		}
	}
}
