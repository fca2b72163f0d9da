package trajectory

import (
	"time"

	"takeover/contract"
)

// BundleReport is report.json: what a bundle contains.
type BundleReport struct {
	ID        string    `json:"trajectory_id" doc:"The bundle's id."`
	StartedAt time.Time `json:"started_at" doc:"When the recording began."`
	EndedAt   time.Time `json:"ended_at" doc:"When it ended."`
	Events    int       `json:"total_events" doc:"Events in events.jsonl."`
	ToolCalls int       `json:"tool_calls" doc:"Calls that began."`
	Failures  int       `json:"failures" doc:"Calls that failed, and errors."` // calls that failed, and errors
	Progress  struct {
		Stalling int `json:"stalling_events" doc:"Hints with the status stalling."`
		Stuck    int `json:"stuck_events" doc:"Hints with the status stuck."`
	} `json:"progress" doc:"How often the calls led nowhere."`
	Contracts struct {
		Pass         int `json:"pass" doc:"Passed."`
		Fail         int `json:"fail" doc:"Failed."`
		Inconclusive int `json:"inconclusive" doc:"Neither."`
	} `json:"contracts" doc:"The verdicts of contracts."`
	Artifacts struct {
		Events      int `json:"events" doc:"Lines of events.jsonl."`
		Screenshots int `json:"screenshots" doc:"Pictures."`
		Checkpoints int `json:"checkpoints" doc:"Checkpoints."`
		Contracts   int `json:"contracts" doc:"Evidence of contracts."`
	} `json:"artifacts" doc:"The files, by kind."`
	// Lost counts events and files that could not be written, and Recovery says
	// why. Both are empty for a whole bundle.
	Lost     int      `json:"lost,omitempty" doc:"Events and files that are missing."`
	Recovery []string `json:"recovery,omitempty" doc:"Why something is missing."`
	LeakScan LeakScan `json:"leak_scan" doc:"Whether a registered secret is in the bundle."`
}

// LeakScan is the verdict on whether a bundle contains a registered secret.
type LeakScan struct {
	State ScanState  `json:"state" doc:"clean, found or not_scanned."`
	At    *time.Time `json:"at,omitempty" doc:"When the files were searched."`
	Files []string   `json:"files,omitempty" doc:"The files that contain one."` // that contain one
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

// verdict is the part of an event's result that tells a contract's outcome.
type verdict struct {
	Verdict contract.Verdict `json:"verdict"`
}

// count adds an event to the report.
func (r *BundleReport) count(e Event, v contract.Verdict) {
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
		case contract.Pass:
			r.Contracts.Pass++
		case contract.Fail:
			r.Contracts.Fail++
		case contract.Inconclusive:
			r.Contracts.Inconclusive++
		}
	case Hint: // the calls themselves repeat their status
		switch {
		case e.Progress == nil:
		case e.Progress.Status == stalling:
			r.Progress.Stalling++
		case e.Progress.Status == stuck:
			r.Progress.Stuck++
		}
	case Recovery, TakeoverStart, TakeoverEnd: // events only
	}
}
