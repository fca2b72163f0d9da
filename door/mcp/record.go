package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"takeover/checkpoints"
	"takeover/control"
	"takeover/session"
	"takeover/trajectory"
)

// recordTools are the tools of this file.
var recordTools = []tool{
	row("assert", setRecord, "Check a contract", reads,
		"Check the page: url (equals, matches), dom_text (selector, contains…), dom_count (selector, eq, gte, lte), network (url, status_in), console (level, max), no_dialog, performance (metric, lte), or and, or, not of these.",
		`{"contract": {"dom_text": {"selector": "h1", "contains": "Welcome"}}}`, (*call).assert),
	row("checkpoint", setRecord, "Keep or load a checkpoint", acts,
		"Keep how far a task has come (save), list what was kept, open its tabs again (load), or remove it (delete).",
		`{"action": "save", "taskDescription": "Order the parts", "completedSteps": ["signed in"], "pendingSteps": ["check out"]} or {"action": "load", "id": "cp_…"}`, (*call).checkpoint),
	row("recording", setRecord, "Record the session", repeats,
		"Start, stop or look at the recording of what is done in the session; trajectoryBundle writes a folder of evidence.",
		`{"action": "start", "trajectoryBundle": true}`, (*call).recording),
}

type assertArgs struct {
	where
	Contract map[string]any `json:"contract" jsonschema:"one key"`
	Timeout  float64        `json:"timeout,omitempty" jsonschema:"ms until it must be true; default 0"`
}

// assert judges the shown page.
func (c *call) assert(in assertArgs) (*answer, error) {
	c.record = func(any, error) {} // it is recorded as a contract, not as a call
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(in.Contract)
	if err != nil {
		return nil, err
	}
	out, err := session.Assert(c.ctx, s.session, control.Client(clientID(c.caller)), raw, time.Duration(in.Timeout*float64(time.Millisecond)))
	if err != nil {
		return nil, fmt.Errorf("the contract: %w", err)
	}
	return &answer{lines: []string{string(out.Verdict), string(out.Evidence)}, structured: out}, nil
}

type checkpointArgs struct {
	where
	Action         string         `json:"action" jsonschema:"save, list, load or delete"`
	ID             string         `json:"id,omitempty"`
	Task           string         `json:"taskDescription,omitempty"`
	CompletedSteps []string       `json:"completedSteps,omitempty"`
	PendingSteps   []string       `json:"pendingSteps,omitempty"`
	ExtractedData  map[string]any `json:"extractedData,omitempty"`
	IncludeStorage bool           `json:"includeStorage,omitempty" jsonschema:"cookies and storage, too"`
}

// checkpoint keeps, lists, loads and removes checkpoints.
func (c *call) checkpoint(in checkpointArgs) (*answer, error) {
	c.record = func(any, error) {} // what it does is recorded by its own events
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	kept, one := c.door.o.Manager.Checkpoints(), s.session
	switch in.Action {
	case "save":
		return c.saveCheckpoint(one, in)
	case "list":
		list, err := kept.List(c.ctx, one.ID())
		if err != nil {
			return nil, err
		}
		a := say("%d checkpoints", len(list))
		for _, p := range list {
			a.add("%s %s: %s, %d steps done, %d left", p.ID, p.Timestamp.Format(time.RFC3339), p.Task, len(p.CompletedSteps), len(p.PendingSteps))
		}
		return a, nil
	case "load":
		p, err := kept.Get(c.ctx, "", in.ID)
		if err != nil {
			return nil, err
		}
		return loadCheckpoint(c.ctx, one, p)
	case "delete":
		return say("Removed %s.", in.ID), kept.Delete(c.ctx, one.ID(), in.ID)
	}
	return nil, errors.New("action: must be save, list, load or delete")
}

func (c *call) saveCheckpoint(one *session.Session, in checkpointArgs) (*answer, error) {
	o := session.CheckpointOptions{Task: in.Task, CompletedSteps: in.CompletedSteps, PendingSteps: in.PendingSteps, IncludeStorage: in.IncludeStorage}
	if in.ExtractedData != nil {
		var err error
		if o.ExtractedData, err = json.Marshal(in.ExtractedData); err != nil {
			return nil, err
		}
	}
	saved, _, err := session.SaveCheckpoint(c.ctx, one, control.Client(clientID(c.caller)), o)
	if err != nil {
		return nil, err
	}
	a := say("Kept as %s.", saved.ID)
	a.structured = saved
	return a, nil
}

func loadCheckpoint(ctx context.Context, one *session.Session, p checkpoints.Checkpoint) (*answer, error) {
	problems, err := session.LoadCheckpoint(ctx, one, p)
	if err != nil {
		return nil, err
	}
	a := say("Loaded %s: %s", p.ID, p.Task)
	for _, step := range p.CompletedSteps {
		a.add("done: %s", step)
	}
	for _, step := range p.PendingSteps {
		a.add("left: %s", step)
	}
	for _, problem := range problems {
		a.add("not opened: %s", problem)
	}
	return a, nil
}

type recordingArgs struct {
	where
	Action      string `json:"action" jsonschema:"start, status or stop"`
	Bundle      bool   `json:"trajectoryBundle,omitempty"`
	Screenshots string `json:"screenshots,omitempty" jsonschema:"none, after or both (default)"`
}

// maxTold bounds the events of a recording without a bundle that its end tells a model.
const maxTold = 50

// recording starts and stops the recording of a session, and tells its state.
func (c *call) recording(in recordingArgs) (*answer, error) {
	c.record = func(any, error) {}
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	var now session.Recording
	switch in.Action {
	case "start":
		now, err = session.StartRecording(s.session, session.RecordingOptions{Bundle: in.Bundle, Screenshots: trajectory.Screenshots(in.Screenshots)})
	case "stop":
		now, err = session.StopRecording(s.session)
	case "status":
		now = session.RecordingOf(s.session)
	default:
		return nil, errors.New("action: must be start, status or stop")
	}
	if err != nil {
		return nil, err
	}
	a := say("Not recording.")
	switch {
	case in.Action == "stop" && now.Report == nil:
		a = say("Stopped: %d events, the newest of which are in structuredContent. A bundle keeps them: trajectoryBundle.", len(now.Timeline))
		now.Timeline = now.Timeline[max(0, len(now.Timeline)-maxTold):]
	case now.Recording:
		a = say("Recording.")
	case now.Report != nil:
		a = say("Stopped: %d calls, %d failed; contracts: %d passed, %d failed.", now.Report.ToolCalls, now.Report.Failures, now.Report.Contracts.Pass, now.Report.Contracts.Fail)
	}
	if now.Bundle.Enabled {
		a.add("trajectory_id: %s", now.Bundle.ID)
	}
	a.structured = now
	return a, nil
}
