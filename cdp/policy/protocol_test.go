package policy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"takeover/cdp/policy"
	"takeover/chromium"
)

var update = flag.Bool("update", false, "write what the installed Chromium's debugging port says of its protocol into door/cdp")

// writeProtocol writes Chromium's description of the protocol, compressed.
func writeProtocol(t *testing.T, raw []byte) {
	t.Helper()
	var short, zipped bytes.Buffer
	if err := json.Compact(&short, raw); err != nil {
		t.Fatal(err)
	}
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(short.Bytes())
	}
	if err := errors.Join(err, w.Close(), os.WriteFile("../../door/cdp/protocol.json.gz", zipped.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// commandName finds the names of CDP commands in the source of cdproto.
var commandName = regexp.MustCompile(`(?m)^\s*Command\w+\s*= "(\w+\.\w+)"`)

// otherVersions are commands that only other versions of Chromium understand.
var otherVersions = []string{
	"Audits.checkContrast", "Emulation.setPressureDataOverride", "Network.clearAcceptedEncodingsOverride", "Network.setAcceptedEncodings", "Page.getCookies",
}

// TestEveryCommandIsClassified compares methods.txt and events.txt with cdproto and
// with what the installed Chromium says. For a new command, think about what it
// reaches and changes, and add a line.
func TestEveryCommandIsClassified(t *testing.T) {
	wanted, events := ofChromium(t)
	for _, name := range ofCdproto(t) {
		wanted[name] = true
	}
	if len(wanted) < 650 || len(events) < 200 {
		t.Fatalf("read %d commands and %d events", len(wanted), len(events))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if _, ok := policy.Find(name); !ok {
			t.Errorf("%s is not classified", name)
		}
	}
	for m := range policy.All() {
		if !wanted[m.Name] && !slices.Contains(otherVersions, m.Name) {
			t.Errorf("%s is classified, and not a command of the protocol", m.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if !slices.Contains(policy.Events(), name) {
			t.Errorf("the event %s is not in events.txt", name)
		}
	}
}

// ofCdproto returns the commands that cdproto knows.
func ofCdproto(t *testing.T) (names []string) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/chromedp/cdproto").Output()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		raw, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandName.FindAllStringSubmatch(string(raw), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// listening is the line in which Chromium says where its port is.
var listening = regexp.MustCompile(`DevTools listening on ws://([^/]+)/`)

// ofChromium asks a Chromium with a debugging port for its protocol.
func ofChromium(t *testing.T) (commands, events map[string]bool) {
	t.Helper()
	path, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+home, "about:blank")
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
	}()
	address := ""
	for lines := bufio.NewScanner(stderr); address == "" && lines.Scan(); {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/json/protocol", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var protocol struct {
		Domains []struct {
			Domain           string
			Commands, Events []struct{ Name string }
		}
	}
	raw, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(raw, &protocol)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeProtocol(t, raw)
	}
	commands, events = map[string]bool{}, map[string]bool{}
	for _, d := range protocol.Domains {
		for _, c := range d.Commands {
			commands[d.Domain+"."+c.Name] = true
		}
		for _, e := range d.Events {
			events[d.Domain+"."+e.Name] = true
		}
	}
	return commands, events
}
