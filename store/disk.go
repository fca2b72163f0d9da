package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"takeover/limits"
)

const (
	// DefaultFree is how many bytes of the disk the embedded server leaves free. On a
	// full disk its streams break.
	DefaultFree = 8 << 20
	// repairPause is the time between two attempts to repair the streams.
	repairPause = time.Second
)

// ErrFull is returned while the disk has no room for more data.
var ErrFull = errors.New("the disk with the data directory is full")

// disk watches the embedded server's disk, and starts its streams again after
// they broke. A stream that could not write once refuses everything after that.
type disk struct {
	store  *Store
	dir    string
	free   atomic.Uint64 // DefaultFree
	config *server.JetStreamConfig
	limits *limits.Hits
	log    *slog.Logger
	broken chan struct{} // one token
	work   sync.WaitGroup
	cancel context.CancelFunc
}

// watchDisk starts to watch. store.embedded runs.
func watchDisk(s *Store, o Options, broken chan struct{}) *disk {
	ctx, cancel := context.WithCancel(context.Background())
	d := &disk{store: s, dir: o.Dir, limits: o.Limits, config: s.embedded.JetStreamConfig(), log: o.Logger, broken: broken, cancel: cancel}
	d.free.Store(DefaultFree)
	d.work.Go(func() {
		for {
			select {
			case <-d.broken:
				d.repair(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return d
}

func (d *disk) close() {
	d.cancel()
	d.work.Wait()
}

// room returns ErrFull while data must not be written.
func (s *Store) room() error {
	if s.disk == nil {
		return nil
	}
	err := s.disk.room(s.disk.free.Load())
	if away, _ := s.Away(); away {
		err = ErrFull
	}
	if err != nil {
		s.disk.limits.Add(limits.Disk, 1)
	}
	return err
}

func (d *disk) room(free uint64) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(d.dir, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) < free {
		return ErrFull
	}
	return nil
}

// repair starts the streams again as soon as there is room. Until then the store
// is away.
func (d *disk) repair(ctx context.Context) {
	d.store.setAway(true)
	d.log.Error("nothing can be stored until the disk has room again", "folder", d.dir)
	for {
		if d.room(DefaultFree) == nil {
			err := d.restart()
			if err == nil {
				break
			}
			d.log.Error("start the store again", "error", err)
		}
		select {
		case <-time.After(repairPause):
		case <-ctx.Done():
			return
		}
	}
	d.store.setAway(false)
	d.log.Info("the store works again")
}

func (d *disk) restart() error {
	if err := d.store.embedded.ShutdownJetStream(); err != nil {
		return err
	}
	select {
	case <-d.broken: // said by streams that are gone now
	default:
	}
	config := *d.config
	config.StoreDir = filepath.Clean(d.dir) // without the folder that NATS adds
	return d.store.embedded.EnableJetStream(&config)
}

// natsLog writes the embedded server's log to ours: warnings and errors as such,
// everything else at level debug.
type natsLog struct {
	log    *slog.Logger
	broken chan<- struct{} // gets a token when a stream cannot write
}

func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }

// Errorf also notices that a stream cannot write. NATS has no other sign of it.
func (l natsLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.log.Error(text)
	if strings.Contains(text, unix.ENOSPC.Error()) || strings.Contains(text, unix.EDQUOT.Error()) {
		select {
		case l.broken <- struct{}{}:
		default:
		}
	}
}
