package automation_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
)

// TestTracesOfVeiledPages checks that a trace has pictures of a page, but none
// from the time when the page shows secrets.
func TestTracesOfVeiledPages(t *testing.T) {
	r := newRig(t, func(o *automation.Options) { o.Files = browsertest.Files(t) })
	var veiled atomic.Bool
	options := clientOptions(r)
	options.Veil = func(context.Context, *browser.Page) error {
		if veiled.Load() {
			return errors.New("somebody types a password")
		}
		return nil
	}
	r.client = r.automation.NewClient(options)
	t.Cleanup(r.client.Close)
	r.rename()
	var started struct{ Trace string }
	r.do("trace.start", params{"screenshots": true}, &started)
	for i, want := range []bool{true, false} {
		veiled.Store(!want)
		r.do("frame.evaluate", params{"expression": "1", "arg": params{"value": nil}, "tracedAs": "call@1"}, nil)
		name := []string{"seen.zip", "veiled.zip"}[i]
		r.do("trace.write", params{"trace": started.Trace, "path": name, "events": []any{}, "stacks": params{}}, nil)
		var file struct{ Data string }
		r.do("files.read", params{"name": name}, &file)
		raw, err := base64.StdEncoding.DecodeString(file.Data)
		if err != nil {
			t.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for _, f := range archive.File {
			if strings.HasPrefix(f.Name, "screencast/") {
				pictures++
			}
		}
		if (pictures > 0) != want {
			t.Errorf("%s has %d pictures", name, pictures)
		}
	}
	r.do("trace.stop", params{"trace": started.Trace}, nil)
}
