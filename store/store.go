package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"takeover/limits"
)

const (
	// DefaultMaxMemory bounds what the embedded server keeps in memory streams,
	// in bytes.
	DefaultMaxMemory = 64 << 20

	// OpenTimeout bounds the start of the embedded server, and then the time for
	// opening and reading its tables and streams.
	OpenTimeout = 20 * time.Second

	// syncInterval is how often files are flushed to disk. If the machine fails,
	// changes within that time may be lost. If only the process is killed,
	// nothing is lost, because the kernel has its writes.
	syncInterval = 5 * time.Second
	// anyStorage is the storage that tables and streams may reserve on the embedded
	// server, in bytes. NATS counts what each may take, not what it takes, and
	// refuses to open those beyond. It never refuses here: each has a limit of its
	// own, and those of an earlier start may be larger than the present ones.
	anyStorage = 1 << 60
	// clusterCopies is how many servers of a NATS cluster keep each table and stream, so that
	// one of them may fail. A cluster with fewer servers keeps one copy.
	clusterCopies = 3
	// leaderWait is how long a NATS cluster may take to say whether it has a leader, and
	// leaderPause the pause before asking again.
	leaderWait, leaderPause = 2 * time.Second, 250 * time.Millisecond
	// pingInterval is how often an external server is asked whether it is there. After
	// maxPings without an answer, the client connects to another one: a machine that is gone
	// does not close its connections.
	pingInterval, maxPings = time.Second, 3
	// maxPayload is the largest message of the embedded server, in bytes. An
	// external server has its own limit, 1 MiB by default.
	maxPayload = 8 << 20
)

// Options configures a Store. The zero value of each field is its default.
type Options struct {
	Dir       string       // the embedded server's folder; required without URL
	URL       string       // URL of an external server, "nats://host:4222,…"; default: embedded
	MaxMemory int64        // bytes in memory streams of the embedded server; default DefaultMaxMemory
	Logger    *slog.Logger // default: discard
	Limits    *limits.Hits
}

// Store is a connection to JetStream, and the embedded server behind it if
// there is one. Its methods may be called from any goroutine. End it with Close.
type Store struct {
	embedded *server.Server // nil for an external server
	conn     *nats.Conn
	js       jetstream.JetStream
	ordered  *nats.Conn // for events; it does not send late messages, see connectOrdered
	disk     *disk      // nil for an external server
	copies   int        // servers that keep each table and stream; set by Open

	mu      sync.Mutex // guards what follows
	away    bool
	changed chan struct{} // closed and replaced when away changes
}

// ErrLeaderless is returned while no server of NATS takes what is written, as long as a NATS
// cluster chooses a leader. Nothing was written.
var ErrLeaderless = errors.New("no server of NATS takes it now")

// ErrAway is returned while the external server is not connected, or the embedded
// one cannot write.
var ErrAway = errors.New("NATS is away")

// ErrReserved is returned when an external server has less storage left than a
// table or a stream must reserve.
var ErrReserved = errors.New("the NATS server has too little storage")

// Codes of NATS for a stream that reserves more than is left: on one server, and
// in a cluster.
const (
	codeNoStorage = 10047
	codeNoPeers   = 10005
)

// Codes of NATS for a cluster without a leader, and for copies on a server that is in no
// cluster.
const (
	codeUnavailable = 10008
	codeNoCopies    = 10074
)

// openError returns the error of opening a table or a stream that reserves so many
// bytes.
func openError(what string, bytes int64, err error) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && (api.ErrorCode == codeNoStorage || api.ErrorCode == codeNoPeers) {
		return fmt.Errorf("open %s: %w: it reserves %d MiB: %w", what, ErrReserved, bytes>>20, err)
	}
	return fmt.Errorf("open %s: %w", what, err)
}

// Away reports whether the connection to an external server is broken or the
// embedded server cannot write, and returns a channel that is closed when that
// changes. Both end by themselves.
func (s *Store) Away() (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away, s.changed
}

func (s *Store) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	close(s.changed)
	s.changed = make(chan struct{})
}

// Open starts the embedded server, or connects to the external one, and returns
// once it responds.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{changed: make(chan struct{})}
	opts := []nats.Option{
		nats.Name("takeover"),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			s.setAway(true)
			if err != nil {
				o.Logger.Warn("NATS is away", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			s.setAway(false)
			o.Logger.Info("NATS is back")
		}),
	}
	if o.URL == "" {
		if err := s.embed(o); err != nil {
			return nil, err
		}
	}
	var err error
	if s.conn, err = nats.Connect(o.URL, append(opts, s.server()...)...); err != nil {
		return nil, errors.Join(notConnected(err), s.Close())
	}
	if s.js, err = jetstream.New(s.conn); err != nil {
		return nil, errors.Join(fmt.Errorf("use JetStream: %w", err), s.Close())
	}
	if err := s.awaitJetStream(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("use JetStream: %w", err), s.Close())
	}
	if s.copies = 1; o.URL != "" && len(s.conn.Servers()) >= clusterCopies {
		s.copies = clusterCopies
	}
	if err := s.connectOrdered(o.URL); err != nil {
		return nil, errors.Join(notConnected(err), s.Close())
	}
	return s, nil
}

// awaitJetStream returns when JetStream responds. A cluster of NATS that has just started
// needs some seconds to choose its leader.
func (s *Store) awaitJetStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	for {
		once, end := context.WithTimeout(ctx, leaderWait)
		_, err := s.js.AccountInfo(once)
		end()
		api, ok := errors.AsType[*jetstream.APIError](err)
		if later := ok && api.ErrorCode == codeUnavailable || errors.Is(err, context.DeadlineExceeded); !later {
			return err
		}
		select {
		case <-time.After(leaderPause):
		case <-ctx.Done():
			return err
		}
	}
}

// keptBy calls open with the number of servers that should keep a table or a stream, and
// once more with one if the server has no others.
func (s *Store) keptBy(open func(copies int) error) error {
	err := open(s.copies)
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == codeNoCopies && s.copies > 1 {
		return open(1)
	}
	return err
}

// notConnected wraps why NATS is not connected. Text that is no address is not
// quoted, because a password may stand in it.
func notConnected(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		err = errors.New("the text is no address such as nats://user:password@host:4222")
	}
	return fmt.Errorf("connect to NATS: %w", err)
}

// server returns the options of connections to the server, which each connection keeps up.
func (s *Store) server() []nats.Option {
	opts := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(time.Second)}
	if s.embedded != nil {
		return append(opts, nats.InProcessServer(s.embedded))
	}
	return append(opts, nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPings))
}

// connectOrdered opens the connection for messages that are sent before earlier
// ones are acknowledged. When a connection breaks, messages on their way are
// lost. By default, the client would buffer later messages and send them after
// reconnecting, so that the stream would get those but not the lost ones. So this
// connection refuses messages while it is broken.
func (s *Store) connectOrdered(url string) (err error) {
	opts := append(s.server(), nats.Name("takeover events"), nats.ReconnectBufSize(-1))
	s.ordered, err = nats.Connect(url, opts...)
	return err
}

// embed starts the server in the process.
func (s *Store) embed(o Options) error {
	if o.Dir == "" {
		return errors.New("open store: a folder is required")
	}
	// The store's files are private, like the keys beside them.
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	embedded, err := server.NewServer(&server.Options{
		ServerName: "takeover", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Clean(o.Dir), SyncInterval: syncInterval,
		JetStreamMaxStore: anyStorage, JetStreamMaxMemory: o.MaxMemory, MaxPayload: maxPayload, MaxPending: 8 * maxPayload,
		DisableJetStreamBanner: true,
	})
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	broken := make(chan struct{}, 1)
	embedded.SetLoggerV2(natsLog{o.Logger, broken}, false, false, false)
	embedded.Start()
	s.embedded = embedded
	if !embedded.ReadyForConnections(OpenTimeout) {
		return errors.Join(errors.New("open store: the embedded NATS did not start in time"), s.Close())
	}
	if !embedded.JetStreamEnabled() {
		return errors.Join(errors.New("open store: JetStream did not start; does another server use the folder?"), s.Close())
	}
	s.disk = watchDisk(s, o, broken)
	return nil
}

// Close closes the connections, stops the embedded server, and waits for its
// end.
func (s *Store) Close() error {
	for _, conn := range []*nats.Conn{s.ordered, s.conn} {
		if conn != nil {
			conn.Close()
		}
	}
	if s.disk != nil {
		s.disk.close()
	}
	if s.embedded != nil {
		s.embedded.Shutdown()
		s.embedded.WaitForShutdown()
	}
	return nil
}
