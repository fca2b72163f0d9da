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
		"Check the page: url (equals, matches), dom_text (selector, contains…), dom_count (selector, eq, gte, lte), network (url, status_in), console (level, max), no_dialog, performance (metric, lte), or and, or, not of these.",
		`{"contract": {"dom_text": {"selector": "h1", "contains": "Welcome"}}}`, (*call).assert),
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
