// Dev is the program of `make dev`: when a source file changes, it rebuilds
// Takeover, starts it again, and makes open pages reload themselves.
//
// Browsers use the address of dev itself. It forwards requests to the server,
// holds them back while the server restarts, and adds a script to each page that
// waits for the next build. The server does not know about dev.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address of the pages")
	dataDir := flag.String("data-dir", "data/dev", "data directory of the server")
	flag.Parse()
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *dataDir); err != nil {
		log.Fatal(err)
	}
}

// run works until ctx ends, starting in the root folder of the repository.
func run(ctx context.Context, addr, dataDir string) error {
	changes, err := watch(ctx, ".")
	if err != nil {
		return err
	}
	build, err := newBuilder(ctx)
	if err != nil {
		return err
	}
	defer build.close()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	pages := newProxy()
	front := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = front.Serve(ln) }()
	defer front.Close()

	server := &server{args: []string{"serve", "--addr", "127.0.0.1:0", "--public-url", "http://" + ln.Addr().String(), "--data-dir", dataDir, "--warm", "0", "--allow-networks", "127.0.0.0/8,::1", "--log-format", "text"}}
	defer server.stop()
	for todo := everything(); ; {
		started := time.Now()
		if err := update(ctx, build, server, pages, todo); err != nil {
			log.Printf("%v; the pages stay as they were", err)
		} else {
			log.Printf("http://%s is up to date, %v after the change", ln.Addr(), time.Since(started).Round(10*time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return nil
		case files := <-changes:
			todo = workFor(files)
		}
	}
}

// update builds the parts in todo, restarts the server if necessary, and reloads
// the pages.
func update(ctx context.Context, build *builder, server *server, pages *proxy, todo work) error {
	if err := build.assets(ctx, todo.assets); err != nil {
		return err
	}
	if todo.templates {
		if err := build.templates(ctx); err != nil {
			return err
		}
	}
	if todo.program {
		if err := build.program(ctx); err != nil {
			return err
		}
		pages.hold()
		server.stop()
		address, err := server.start(program)
		if err != nil {
			return err
		}
		pages.forward(address)
	}
	if todo.assets != nil || todo.program {
		pages.reload()
	}
	return nil
}
