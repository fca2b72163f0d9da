package mcp

import (
	"encoding/json"
	"fmt"
	"time"

	"takeover/control"
	"takeover/session"
)

// assertTools are the tools of this file.
var assertTools = []tool{
	row("assert", setRecord, "Check a contract", reads,
		`Check what must be true of the page: {"url": {"equals" or "matches"}}, {"dom_text": {"selector", "contains", "equals" or "matches"}}, {"dom_count": {"selector", "eq", "gte" or "lte"}}, {"network": {"url", "status_in"}}, {"console": {"level", "max"}}, {"no_dialog": {}}, {"performance": {"metric", "lte"}}; and, or, not combine them. Answers pass, fail or inconclusive.`,
		`{"contract": {"dom_text": {"selector": "h1", "contains": "Welcome"}}}`, (*call).assert),
}

type assertArgs struct {
	where
	Contract map[string]any `json:"contract" jsonschema:"an object with one key"`
	Timeout  float64        `json:"timeout,omitempty" jsonschema:"how long it may take until it is true, in ms; default 0"`
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
