//go:build linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"takeover/session"
	"takeover/web"
)

// closeTimeout is how long sessions may take to end when the server stops.
const closeTimeout = 20 * time.Second

// drainTime returns how long whoever works in a session may go on, by the cause of the
// server's end: after a SIGTERM, people may finish; Ctrl-C ends everything at once.
func (s *serveCommand) drainTime(cause error) time.Duration {
	if stopped, ok := errors.AsType[*stopSignal](cause); ok && stopped.Signal == syscall.SIGTERM {
		return s.DrainTimeout
	}
	return 0
}

// drain returns when nobody works at a server any more, after the timeout, or when another
// signal comes.
func drain(server *web.Server, timeout time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	until := time.Now().Add(timeout)
	if timeout > 0 {
		log.Warn("whoever works in a session may finish; another signal ends the sessions at once", "until", until.UTC().Truncate(time.Second))
	}
	if err := server.Drain(ctx, until); err != nil && timeout > 0 {
		log.Warn("sessions end although somebody may work in them", "cause", err)
	}
}

// closeManager ends the sessions. Those that do not end in time end with the
// process.
func closeManager(ctx context.Context, manager *session.Manager) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	return manager.Close(ctx)
}
