package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/store"
	"takeover/store/storetest"
)

// TestDoctorNATS looks at real NATS servers: one with enough storage, one that has
// the tables already, one with too little storage, one without JetStream, and none.
func TestDoctorNATS(t *testing.T) {
	enough := storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 8 << 30})
	full := storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 7 << 30})
	kept, err := store.Open(t.Context(), store.Options{URL: full})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Events(t.Context(), store.EventsOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables() {
		if _, err := kept.Bucket(t.Context(), table, store.BucketOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		doctor       doctorCommand
		status, want string
	}{
		"enough":            {doctorCommand{NATSURL: enough}, "ok", "with JetStream, 0 MiB used of the 6400 MiB that the limits allow"},
		"twice":             {doctorCommand{NATSURL: enough}, "ok", "6400 MiB"},
		"with the tables":   {doctorCommand{NATSURL: full}, "ok", "6400 MiB"},
		"more than allowed": {doctorCommand{NATSURL: full, EventsBytes: 4 << 30}, "failed", "it has less storage"},
		"little":            {doctorCommand{NATSURL: storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 1 << 30})}, "failed", "it has less storage"},
		"no JetStream":      {doctorCommand{NATSURL: storetest.NATS(t, server.Options{})}, "failed", "jetstream not enabled"},
		"none":              {doctorCommand{NATSURL: "nats://me:secret@127.0.0.1:1"}, "failed", "nats://127.0.0.1:1: connect to NATS: "},
		"no address":        {doctorCommand{NATSURL: "nats://me:secret%zz@127.0.0.1:1"}, "failed", "is no address"},
		"no port":           {doctorCommand{NATSURL: "nats://me:secret/@127.0.0.1:1"}, "failed", "is no address"},
		"embedded":          {doctorCommand{DataDir: t.TempDir(), EventsBytes: 1}, "", "with JetStream, 0 MiB used of the 4352 MiB"},
		"embedded, small":   {doctorCommand{DataDir: t.TempDir(), EventsBytes: 1 << 60}, "warning", "MiB free"},
		"no folder":         {doctorCommand{DataDir: "/proc/none"}, "failed", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.doctor.nats(t.Context())
			if c.status != "" && f.Status != c.status || !strings.Contains(f.Detail, c.want) || strings.Contains(f.Detail, "secret") || (f.Status == "ok") != (f.Fix == "") {
				t.Errorf("%+v", f)
			}
			if left, err := filepath.Glob(filepath.Join(c.doctor.DataDir, ".doctor-*")); err != nil || c.doctor.DataDir != "" && len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

// TestServeLittleStorage starts servers on a NATS with too little storage. They say
// what to do.
func TestServeLittleStorage(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	t.Setenv("TAKEOVER_SECRET_KEY", strings.Repeat("0123456789abcdef", 4))
	url := storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 1 << 30})
	code, _, stderr := command(t, "", "serve", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--nats-url", url)
	if code != 1 || !strings.Contains(stderr, "the NATS server has too little storage: it reserves 2048 MiB") || !strings.Contains(stderr, "lower --events-bytes and --keep-bytes") {
		t.Errorf("%d, %s", code, stderr)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := startCommand(t, exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--data-dir", t.TempDir(), "--nats-url", url, "--events-bytes", "100000000", "--keep-bytes", "10000000"))
	p.do(t, "GET", "/v1/saved-scripts", nil, nil)
	err := p.call(ctx, "GET", "/v1/profiles", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "too little storage") {
		t.Errorf("profiles: %v", err)
	}
	if log := p.process.Stderr.(*output).String(); !strings.Contains(log, "profiles cannot be kept") { //nolint:forcetypeassert // startProcess made it
		t.Errorf("the log does not say so: %s", log)
	}
}
