package main

import (
	"context"
	"errors"
	"net/http"
)

// recordRows are the operations that are measured while a session is recorded:
// repetitions per round.
var recordRows = map[string]int{"textContent": 100, "fill": 30, "click": 15, "login": 4}

// benchRecord measures the cost of a recording with a bundle and without pictures:
// scripts in a session that is recorded, against the same in one that is not,
// alternating between the two.
func benchRecord(ctx context.Context, e *env) (rows []row, err error) {
	var ids [2]string // with a recording, and without
	for i := range ids {
		if ids[i], err = e.server.create(ctx, ""); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, e.server.release(ctx, ids[i])) }()
	}
	start := map[string]any{"action": "start", "trajectoryBundle": true, "screenshots": "none"}
	if err := e.server.call(ctx, http.MethodPost, "/v1/sessions/"+ids[0]+"/recording", start, nil); err != nil {
		return nil, err
	}
	for _, op := range []string{"textContent", "fill", "click", "login"} {
		args := map[string]any{"op": op, "n": e.times(recordRows[op]), "url": e.page, "form": e.page + formPath, "apart": frameTime}
		var times [2][]float64
		for range e.times(scriptRounds) {
			for i, id := range ids {
				var took []float64
				if err := e.server.script(ctx, id, operationsCode, args, &took); err != nil {
					return rows, err
				}
				times[i] = append(times[i], took...)
			}
		}
		what := op
		if op == "login" {
			what = "a login flow"
		}
		rows = append(rows, row{what: "recorded script: " + what, ours: median(times[0]), reference: median(times[1]), unit: "ms", target: atMostTimes(1.15)})
	}
	rows[0].note = "a bundle without pictures; reference of all rows of recorded scripts: the same code in a session that is not recorded"
	return rows, nil
}
