//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"takeover/archive"
	"takeover/checkpoints"
	"takeover/profiles"
	"takeover/savedscripts"
	"takeover/session"
	"takeover/store"
	"takeover/webhook"
)

// natsTime is how long NATS may take to answer.
const natsTime = 10 * time.Second

// tables returns the names of all tables in the store.
func tables() []string {
	return slices.Concat(archive.Tables(), profiles.Tables(), checkpoints.Tables(), []string{savedscripts.Table, webhook.Table})
}

// storage returns how many bytes the store may need for everything that it keeps.
func (d *doctorCommand) storage() int64 {
	return cmp.Or(d.EventsBytes, store.DefaultEventsBytes) + archive.StoreBytes(cmp.Or(d.KeepBytes, session.DefaultKeepBytes)) +
		savedscripts.StoreBytes + profiles.StoreBytes + webhook.StoreBytes
}

// nats looks at the NATS server that would store the data: whether it answers, has
// JetStream, and has room for what the limits allow.
func (d *doctorCommand) nats(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, natsTime)
	defer cancel()
	if d.NATSURL == "" {
		return d.embeddedNATS(ctx)
	}
	shown := withoutPassword(d.NATSURL)
	s, err := store.Open(ctx, store.Options{URL: d.NATSURL})
	if err != nil {
		return good("nats", "%s: %v", shown, err).as("failed", "Start a NATS server with JetStream (nats-server -js), or name another with --nats-url.")
	}
	defer func() { _ = s.Close() }()
	used, err := s.CheckStorage(ctx, tables(), d.storage())
	f := good("nats", "%s: NATS %s with JetStream, %d MiB used of the %d MiB that the limits allow", shown, s.Version(), used>>20, d.storage()>>20)
	if errors.Is(err, store.ErrReserved) {
		f.Detail += "; it has less storage"
		return f.as("failed", lessStorage+".")
	}
	if err != nil {
		return good("nats", "%s: NATS %s: %v", shown, s.Version(), err).as("failed", "Let the user of --nats-url make and delete streams.")
	}
	return f
}

// embeddedNATS starts an embedded server in a folder of its own, because a server
// that runs may use the one of the data.
func (d *doctorCommand) embeddedNATS(ctx context.Context) finding {
	const fix = "Use --data-dir to choose a writable folder, or --nats-url for a NATS server elsewhere."
	dir, err := os.MkdirTemp(d.DataDir, ".doctor-")
	if err != nil {
		return good("nats", "%v", err).as("failed", fix)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return good("nats", "%v", err).as("failed", fix)
	}
	version := s.Version()
	if err := s.Close(); err != nil {
		return good("nats", "%v", err).as("failed", fix)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(d.DataDir, &st); err != nil {
		return good("nats", "embedded %s with JetStream; %v", version, err).as("warning", "")
	}
	used, free := folderSize(filepath.Join(d.DataDir, "store")), int64(st.Bavail)*st.Bsize
	f := good("nats", "embedded %s with JetStream, %d MiB used of the %d MiB that the limits allow, %d MiB free", version, used>>20, d.storage()>>20, free>>20)
	if used+free < d.storage() {
		return f.as("warning", "The disk may become full before these limits are reached: make room, or lower --events-bytes and --keep-bytes.")
	}
	return f
}

// folderSize returns the size of all files under a folder. What cannot be read
// does not count.
func folderSize(dir string) (size int64) {
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// withoutPassword returns the addresses of NATS servers without the secrets in
// them.
func withoutPassword(servers string) string {
	var shown []string
	for server := range strings.SplitSeq(servers, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil {
			return "--nats-url"
		}
		shown = append(shown, fmt.Sprintf("%s://%s", cmp.Or(u.Scheme, "nats"), u.Host))
	}
	return strings.Join(shown, ",")
}
