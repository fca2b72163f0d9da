package browser_test

import (
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/confine"
)

var testLauncher = []string{"/proc/self/exe", confine.Command}

func TestConfined(t *testing.T) {
	p := browsertest.Launch(t, browser.LaunchOptions{Launcher: testLauncher})
	for _, m := range p.Confinement() {
		t.Logf("%+v", m)
	}
	page := browsertest.PageOf(t, p.Conn())
	page.HTML("<p>hello")
	for pid, command := range browsertest.Group(t, p.PID()) {
		t.Log(pid, status(t, pid, "Uid"), status(t, pid, "NSpid"), "seccomp", status(t, pid, "Seccomp"), status(t, pid, "Seccomp_filters"), status(t, pid, "NoNewPrivs"), status(t, pid, "CapEff"), command[:min(len(command), 120)])
	}
}
