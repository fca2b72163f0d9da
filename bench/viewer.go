package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const pictureHeader = 28

// picture is a picture that a viewer received.
type picture struct {
	arrived time.Time
	seq     uint32
	sharp   bool
	jpeg    []byte
}

// viewer is the open WebSocket of a viewer.
type viewer struct {
	conn   *websocket.Conn
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	loops  sync.WaitGroup
	wire   atomic.Int64 // received bytes, WebSocket framing included

	mu    sync.Mutex // guards what follows
	show  func(picture)
	epoch uint64
	mine  chan struct{} // closed when the viewer is in control
	taken bool
	err   error
}

// viewOptions describe a viewer. The zero value is a prompt viewer.
type viewOptions struct {
	ackAfter time.Duration // delay of each ack
	stalled  bool          // sends hello, then neither reads nor acks
	dialer   func(ctx context.Context, network, addr string) (net.Conn, error)
	show     func(picture) // gets every picture, on the read loop
}

// view opens a viewer's WebSocket for a session.
func (s *server) view(ctx context.Context, session string, o viewOptions) (*viewer, error) {
	v := &viewer{mine: make(chan struct{}), show: o.show}
	dial := o.dialer
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: c, n: &v.wire}, nil
	}}
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.address, "http")+"/v1/sessions/"+session+"/view", &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPClient:   &http.Client{Transport: transport},
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + s.key}},
		Subprotocols: []string{"takeover.v1"},
	})
	if err != nil {
		return nil, fmt.Errorf("open view: %w", err)
	}
	conn.SetReadLimit(64 << 20)
	v.conn = conn
	v.ctx, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := v.send(map[string]any{"type": "hello", "width": width, "height": height, "dpr": 1}); err != nil {
		v.close()
		return nil, err
	}
	if !o.stalled {
		v.loops.Go(func() { v.read(o.ackAfter) })
	}
	return v, nil
}

func (v *viewer) close() {
	v.cancel()
	_ = v.conn.CloseNow()
	v.loops.Wait()
}

// onPicture replaces the function that receives pictures.
func (v *viewer) onPicture(show func(picture)) {
	v.mu.Lock()
	v.show = show
	v.mu.Unlock()
}

func (v *viewer) send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return v.conn.Write(v.ctx, websocket.MessageText, b)
}

func (v *viewer) read(ackAfter time.Duration) {
	acks := make(chan delayedAck, 4096)
	v.loops.Go(func() { v.acknowledge(acks) })
	defer close(acks)
	for {
		kind, b, err := v.conn.Read(v.ctx)
		arrived := time.Now()
		if err != nil {
			v.mu.Lock()
			v.err = err
			v.mu.Unlock()
			return
		}
		if kind == websocket.MessageText {
			v.message(b)
			continue
		}
		if len(b) < pictureHeader || b[0] != 1 {
			continue
		}
		p := picture{arrived: arrived, seq: binary.BigEndian.Uint32(b[4:]), sharp: b[2]&1 != 0, jpeg: b[pictureHeader:]}
		if ackAfter == 0 {
			_ = v.ack(p.seq)
		} else {
			acks <- delayedAck{p.seq, arrived.Add(ackAfter)}
		}
		v.mu.Lock()
		show := v.show
		v.mu.Unlock()
		if show != nil {
			show(p)
		}
	}
}

type delayedAck struct {
	seq uint32
	at  time.Time
}

func (v *viewer) acknowledge(acks <-chan delayedAck) {
	for a := range acks {
		time.Sleep(time.Until(a.at))
		if v.ack(a.seq) != nil {
			return
		}
	}
}

func (v *viewer) ack(seq uint32) error {
	return v.conn.Write(v.ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"ack","seq":%d}`, seq))
}

func (v *viewer) message(b []byte) {
	var m struct {
		Type    string
		Epoch   uint64
		Mine    bool
		Message string
	}
	if json.Unmarshal(b, &m) != nil || m.Type != "control" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.epoch = m.Epoch
	if m.Mine && !v.taken {
		v.taken = true
		close(v.mine)
	}
}

// control takes control and waits for it.
func (v *viewer) control(ctx context.Context) error {
	if err := v.send(map[string]any{"type": "control", "action": "take"}); err != nil {
		return err
	}
	select {
	case <-v.mine:
		return nil
	case <-time.After(startTimeout):
		return errors.New("the viewer did not get control")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *viewer) mouse(event, button string, buttons, clicks int) error {
	v.mu.Lock()
	epoch := v.epoch
	v.mu.Unlock()
	return v.conn.Write(v.ctx, websocket.MessageText, fmt.Appendf(nil,
		`{"type":"mouse","event":%q,"x":%d,"y":%d,"button":%q,"buttons":%d,"clickCount":%d,"modifiers":0,"deltaX":0,"deltaY":0,"epoch":%d}`,
		event, markX, markY, button, buttons, clicks, epoch))
}

func (v *viewer) press() error {
	return errors.Join(v.mouse("down", "left", 1, 1), v.mouse("up", "left", 0, 1))
}

// countedConn counts the bytes that it reads.
type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}
