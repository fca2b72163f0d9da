package session

import (
	"errors"
	"testing"

	"takeover/browser/browsertest"
)

// asking has buttons that request permissions, one below the other. Its title
// shows what it got.
const asking = `<title>asking</title><style>*{margin:0}button{display:block;width:200px;height:50px}</style>
	<button id=place>place</button><button id=notes>notes</button><button id=display>display</button><button id=device>device</button><script>
	const tell = text => document.title = text
	place.onclick = () => navigator.geolocation.getCurrentPosition(p => tell('at ' + p.coords.latitude), e => tell('no place ' + e.code))
	notes.onclick = () => Notification.requestPermission().then(tell)
	display.onclick = () => navigator.mediaDevices.getDisplayMedia().then(() => tell('a screen'), e => tell(e.name))
	device.onclick = () => navigator.usb.requestDevice({ filters: [] }).then(() => tell('a device'), e => tell(e.name))</script>`

// TestPermissions checks that pages are refused permissions at once, and that
// people can allow them afterwards.
func TestPermissions(t *testing.T) {
	url := widgetSite(t, map[string]string{"/": asking})
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: url})
	onlooker, other, v := join(t, s, RoleView), join(t, s, RoleControl), join(t, s, RoleControl)
	v.titled("asking")
	epoch := v.take()
	refused := func(who *viewer, what string) PermissionMessage {
		t.Helper()
		return await(who, what, func(m PermissionMessage) bool { return !m.Closed })
	}
	answer := func(who *viewer, id string, allow bool, place *Geolocation) error {
		return who.Permission(browsertest.Context(t, "answer"), id, allow, place)
	}

	v.click(100, 75, epoch)
	v.titled("denied")
	notes := refused(other, "notifications")
	if notes.Name != "notifications" || notes.Origin != url {
		t.Errorf("refused %+v", notes)
	}
	if late := join(t, s, RoleControl); refused(late, "what was refused before") != notes {
		t.Error("who comes later is told of something else")
	}
	if err := answer(onlooker, notes.ID, true, nil); !errors.Is(err, ErrRole) {
		t.Errorf("an onlooker allows: %v", err)
	}
	if err := answer(other, notes.ID, true, nil); !errors.Is(err, ErrNotController) {
		t.Errorf("somebody who is not in control allows: %v", err)
	}
	if err := answer(v, notes.ID, true, nil); err != nil {
		t.Fatal(err)
	}
	await(other, "the question's end", func(m PermissionMessage) bool { return m.Closed && m.ID == notes.ID })
	if err := answer(v, notes.ID, true, nil); err == nil {
		t.Error("a question was answered twice")
	}
	v.titled("asking") // loaded again
	v.click(100, 75, epoch)
	v.titled("granted")

	// Without a known position, the page gets an error at once instead of
	// waiting.
	v.click(100, 25, epoch)
	v.titled("no place 1")
	place := refused(other, "place")
	if err := answer(v, place.ID, true, &Geolocation{Latitude: 91}); err == nil {
		t.Error("a place beyond the pole was taken")
	}
	if err := answer(v, place.ID, true, nil); err != nil {
		t.Fatal(err)
	}
	v.titled("asking")
	v.click(100, 25, epoch)
	v.titled("no place 2")

	// Permissions that people are never asked about are refused at once, too.
	v.click(100, 125, epoch)
	v.titled("NotAllowedError")
	v.click(100, 175, epoch)
	v.titled("NotFoundError")

	// When a script has granted permissions, Chromium refuses the others without
	// a question for people.
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	endOf(t, startRun(t, s, `await context.grantPermissions(['geolocation']); await context.clearPermissions()`))
	epoch = v.take()
	if open := s.questions.Messages(true); len(open) != 0 {
		t.Errorf("after a script's grants people are asked for %+v", open)
	}
	v.click(100, 75, epoch)
	v.titled("granted")

	// A restarted browser has the same permissions.
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	v.titled("asking")
	v.click(100, 75, epoch)
	v.titled("granted")
}
