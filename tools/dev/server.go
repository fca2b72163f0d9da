package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// stopTime is how long a server may take to end its sessions. The next server
// cleans up what is left.
const stopTime = time.Second

// server is the Takeover server that dev starts and restarts.
type server struct {
	args []string

	cmd  *exec.Cmd     // nil while none runs
	done chan struct{} // closed when its output has ended
}

// start starts a program as the server and returns its address once it responds.
func (s *server) start(program string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "./"+program, s.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must reach only dev, which stops the server
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start the server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start the server: %w", err)
	}
	s.cmd, s.done = cmd, make(chan struct{})
	address := make(chan string, 1)
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if listening, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				address <- listening
				continue
			}
			fmt.Println(lines.Text())
		}
	}()
	select {
	case listening := <-address:
		return listening, nil
	case <-s.done:
		s.stop()
		return "", errors.New("the server ended at once")
	}
}

// stop ends the server, if one runs, and waits for it.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	kill := time.AfterFunc(stopTime, func() { _ = s.cmd.Process.Kill() })
	<-s.done
	kill.Stop()
	_ = s.cmd.Wait()
	s.cmd = nil
}
