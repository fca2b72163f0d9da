package main

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// link simulates a network link between a viewer and the server: a bandwidth in
// each direction, a delay, and a short queue in front, as in a router.
type link struct {
	bytesPerSec float64
	oneWay      time.Duration
	queueBytes  int
}

// slowLink is 1 Mbit/s with a round trip of 100 ms.
var slowLink = link{bytesPerSec: 125_000, oneWay: 50 * time.Millisecond, queueBytes: 64 << 10}

const packet = 1400 // bytes that are sent together

// dial connects to addr through the link. It keeps the kernel's buffers at both
// ends small, so that data waits only in the link's own queue.
func (l link) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	far, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	near, middle := net.Pipe()
	c := &linkedConn{Conn: near, far: far}
	c.loops.Go(func() { l.carry(far, middle); _ = middle.Close() })
	c.loops.Go(func() { l.carry(middle, far); _ = far.Close() })
	return c, nil
}

// carry moves bytes from one end to the other at the link's rate.
func (l link) carry(from io.Reader, to io.Writer) {
	type parcel struct {
		data []byte
		due  time.Time
	}
	queue := make(chan parcel, max(l.queueBytes/packet, 1))
	var writer sync.WaitGroup
	writer.Go(func() {
		failed := false
		for p := range queue {
			time.Sleep(time.Until(p.due))
			if !failed {
				_, err := to.Write(p.data)
				failed = err != nil
			}
		}
	})
	free := time.Now() // when the link is free again
	for {
		data := make([]byte, packet)
		n, err := from.Read(data)
		if n > 0 {
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			free = free.Add(time.Duration(float64(n) / l.bytesPerSec * float64(time.Second)))
			queue <- parcel{data[:n], free.Add(l.oneWay)}
		}
		if err != nil {
			break
		}
	}
	close(queue)
	writer.Wait()
}

type linkedConn struct {
	net.Conn
	far   net.Conn
	loops sync.WaitGroup
}

func (c *linkedConn) Close() error {
	err := c.Conn.Close()
	_ = c.far.Close()
	c.loops.Wait()
	return err
}
