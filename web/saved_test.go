package web

import (
	"encoding/json"
	"strings"
	"testing"

	"takeover/savedscripts"
	"takeover/session"
)

func TestSavedScripts(t *testing.T) {
	s := startServer(t, nil)
	const code = "return args.n * 2"
	var saved, other savedscripts.Script
	s.call("POST", "/v1/saved-scripts", map[string]any{"name": " Double ", "code": code, "args": map[string]any{"n": 21}}, 201, &saved)
	if saved.Name != "Double" || saved.Code != code || string(saved.Args) != `{"n":21}` || saved.ID == "" {
		t.Errorf("saved %+v", saved)
	}
	s.call("POST", "/v1/saved-scripts", map[string]any{"name": "<b>Other</b>", "code": "return 1"}, 201, &other)
	one := "/v1/saved-scripts/" + saved.ID

	var list struct {
		Scripts []savedscripts.Script
		Next    *string
	}
	s.call("GET", "/v1/saved-scripts", nil, 200, &list)
	if len(list.Scripts) != 2 || list.Scripts[0].ID != other.ID || string(list.Scripts[0].Args) != "null" {
		t.Errorf("list is %+v", list)
	}
	s.call("PATCH", one, map[string]any{"name": "Twice"}, 200, &saved)
	if saved.Name != "Twice" || saved.Code != code {
		t.Errorf("renamed to %+v", saved)
	}
	page := s.do(request{method: "GET", path: "/scripts"})
	if text := string(page.body); !strings.Contains(text, "Twice") || !strings.Contains(text, "&lt;b&gt;Other&lt;/b&gt;") || strings.Contains(text, "<b>Other</b>") {
		t.Error("the page does not show the scripts, escaped")
	}

	// It runs by its id, with its own arguments or those of the run.
	id := s.create(map[string]any{}).ID()
	for args, want := range map[string]string{"": "42", `{"n":4}`: "8"} {
		body := map[string]any{"script": saved.ID, "wait": true}
		if args != "" {
			body["args"] = json.RawMessage(args)
		}
		var run session.RunInfo
		s.call("POST", "/v1/sessions/"+id+"/scripts", body, 200, &run)
		if string(run.Result) != want || run.Filename != "Twice.ts" {
			t.Errorf("args %q gave %s (%s, %+v)", args, run.Result, run.Filename, run.Error)
		}
		var given session.RunScript
		s.call("GET", "/v1/sessions/"+id+"/runs/"+run.ID+"/script", nil, 200, &given)
		if given.Code != code || given.Filename != "Twice.ts" {
			t.Errorf("the run was given %+v", given)
		}
	}

	page = s.do(request{method: "GET", path: "/scripts"})
	if text := string(page.body); !strings.Contains(text, "Succeeded <time") || !strings.Contains(text, "/sessions/"+id+"?run=") || strings.Count(text, "no recent run") != 1 {
		t.Error("the page does not show the last run of the script that ran, and only of that one")
	}

	for name, c := range map[string]struct {
		body  map[string]any
		field string
	}{
		"no name":       {map[string]any{"code": "x"}, "name"},
		"empty name":    {map[string]any{"code": "x", "name": "  "}, "name"},
		"long name":     {map[string]any{"code": "x", "name": strings.Repeat("n", 101)}, "name"},
		"no code":       {map[string]any{"name": "x"}, "code"},
		"too large":     {map[string]any{"name": "x", "code": strings.Repeat("\n", 600_000)}, "code"},
		"unknown field": {map[string]any{"name": "x", "code": "x", "kode": "x"}, "kode"},
	} {
		t.Run(name, func(t *testing.T) {
			p := s.do(request{method: "POST", path: "/v1/saved-scripts", body: c.body}).problem(400)
			if len(p.Errors) != 1 || p.Errors[0].Field != c.field {
				t.Errorf("errors %+v", p.Errors)
			}
		})
	}
	s.do(request{method: "POST", path: "/v1/sessions/" + id + "/scripts", body: map[string]any{"script": "script_none"}}).problem(400)
	s.do(request{method: "POST", path: "/v1/sessions/" + id + "/scripts", body: map[string]any{"script": saved.ID, "code": "1"}}).problem(400)
	s.call("DELETE", one, nil, 204, nil)
	s.do(request{method: "DELETE", path: one}).problem(404)
	s.do(request{method: "GET", path: one}).problem(404)
	s.do(request{method: "PATCH", path: one, body: map[string]any{"name": "x"}}).problem(404)
}
