package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/capture"
	"takeover/chromium"
	"takeover/invalid"
	"takeover/limits"
	"takeover/liveview"
	"takeover/questions"
	"takeover/trajectory"
	"takeover/widget"
)

const (
	startTimeout     = 30 * time.Second // from Chromium's start to its first page
	firstPageTimeout = 5 * time.Second  // how long create waits for the first document, and a recovery for the shown one
	reopenedTimeout  = time.Second      // how long a recovery waits for the addresses of the other tabs
)

// engine is one Chromium process of a session, with everything that is attached
// to it.
type engine struct {
	proc    *chromium.Process
	model   *browser.Browser
	auto    *automation.Automation
	live    *liveview.View
	tracker *widget.Tracker
	probe   *focusProbe
}

// supervise keeps the session's Chromium running until the session ends. It
// returns why it gave up, or nil if the session's context ended.
func (s *Session) supervise() error {
	var deaths []time.Time
	var last *chromium.Process // the next process reuses its folder
	defer func() {
		if last == nil {
			return
		}
		s.saving.folder(last)
		s.closeFiles()
		if err := last.RemoveDir(); err != nil {
			s.log.Warn("remove profile", "error", err)
		}
	}()
	for {
		reason := s.runBrowser(&last)
		asleep := s.Hibernates() // also if the browser could not be started again: the next use tries once more
		if asleep {
			if !errors.Is(reason, errHibernates) {
				s.log.Error("wake the session", "error", reason)
				wakeAgain(s)
			}
			awaitUse(s)
		}
		if s.ctx.Err() != nil {
			return nil
		}
		if asleep {
			continue
		}
		if refused, ok := errors.AsType[*invalid.Error](reason); ok && last == nil {
			return refused
		}
		if last == nil { // the first process did not start
			s.log.Error("start browser", "error", reason)
			return fmt.Errorf("%w: Chromium did not start", ErrNotReady)
		}
		now := time.Now()
		deaths = append(deaths, now)
		for now.Sub(deaths[0]) > restartWindow {
			deaths = deaths[1:]
		}
		if len(deaths) >= maxRestarts {
			s.hit(limits.Restarts)
			s.monitor.ReconnectFailed(reason, len(deaths))
			return fmt.Errorf("browser died %d times within a minute, last: %w", len(deaths), reason)
		}
	}
}

// runBrowser runs one Chromium until it dies or the session ends, and returns why
// it died, or errHibernates. last points to the previous process, and is set to this one.
func (s *Session) runBrowser(last **chromium.Process) error {
	dir, again := "", *last != nil
	if again {
		dir = (*last).Dir()
	}
	eng, err := s.startEngine(dir)
	_, refused := errors.AsType[*invalid.Error](err)
	s.services.startFailed.Store(err != nil && s.ctx.Err() == nil && !refused)
	if err != nil {
		return err
	}
	*last = eng.proc
	defer s.stopEngine(eng)
	s.life.spawn(func() { watchProfile(s, eng.proc) })
	s.life.spawn(func() { watchMemory(s, eng.proc) })
	s.goLive(eng, again)
	followAgain(s)
	s.life.spawn(func() { s.saving.regularly(eng) })
	for dead := false; !dead; {
		select {
		case <-s.ctx.Done():
			s.keepLastPicture()
			s.saving.atEnd(eng)
			return nil
		case <-s.tabs.hibernation.wish:
			if fallAsleep(s, eng) {
				return errHibernates
			}
		case <-eng.proc.Done():
			dead = true
		}
	}
	reason := orUnknown(eng.proc.Err())
	s.crashed(reason)
	return reason
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("unknown reason")
	}
	return err
}

// startEngine starts a Chromium and attaches the clients. dir is the folder of
// the session's former Chromium, or empty for the first one.
func (s *Session) startEngine(dir string) (*engine, error) {
	ctx, cancel := context.WithTimeout(s.ctx, startTimeout)
	defer cancel()
	proc, err := s.services.browsers.Get(ctx, s.launchOptions(dir))
	if err != nil {
		return nil, err
	}
	bindProxy(proc, s.traffic)
	eng := &engine{proc: proc}
	err = s.attachEngine(ctx, eng)
	if err == nil {
		err = s.saving.restore(ctx, eng, dir == "")
	}
	if err != nil {
		s.stopEngine(eng)
		if dir == "" {
			err = errors.Join(err, proc.RemoveDir())
		}
		return nil, err
	}
	return eng, nil
}

func (s *Session) launchOptions(dir string) chromium.LaunchOptions {
	o := chromium.LaunchOptions{ExecPath: s.services.settings.chromiumPath, Dir: dir, Logger: s.services.settings.logger}
	if s.opts.DeviceScaleFactor > 1 {
		o.DeviceScaleFactor = s.opts.DeviceScaleFactor
	}
	o.Locale = s.opts.Locale
	if dir == "" && s.opts.saved != nil {
		o.UserData = s.opts.saved.folder
	}
	return o
}

func (s *Session) attachEngine(ctx context.Context, eng *engine) error {
	if err := s.openFiles(eng.proc); err != nil {
		return err
	}
	eng.probe = newFocusProbe(s)
	size := s.tabs.size.get()
	var err error
	eng.model, err = browser.Attach(ctx, eng.proc.Conn(), &browser.Options{
		Viewport: &browser.Viewport{
			Width: size.Width, Height: size.Height,
			DeviceScaleFactor: s.opts.DeviceScaleFactor, IsMobile: s.opts.IsMobile, HasTouch: s.opts.IsMobile,
		},
		Density: s.launchOptions("").DeviceScaleFactor, UserAgent: s.opts.UserAgent, Locale: s.opts.Locale, Timezone: s.opts.Timezone,
		ExtraHeaders: s.opts.ExtraHTTPHeaders, Downloads: eng.proc.DownloadsDir(), RefuseDownloads: s.opts.NoDownloads,
		JavaScriptDisabled: s.opts.NoJavaScript, Network: s.traffic, Logger: s.log,
	})
	if err != nil {
		return fmt.Errorf("attach to browser: %w", err)
	}
	eng.live, err = liveview.New(ctx, eng.proc.Conn(), liveview.Options{
		Counter: &s.pictures, Width: size.Width, Height: size.Height,
		Density: max(s.opts.DeviceScaleFactor, 1), Copied: s.copied, Logger: s.log,
	})
	if err != nil {
		return fmt.Errorf("attach live view: %w", err)
	}
	eng.tracker, err = widget.New(ctx, eng.model, widget.Options{
		Changed: s.widgetChanged, Secret: s.secretTyped, Opened: s.questions.Pickers.Opened, Gone: s.questions.Pickers.Gone,
		Refused: s.questions.Permissions.Refused, Printed: s.printed, Menu: s.menuWanted, Fields: &s.tabs.fields, Logger: s.log,
		Doubted: func(p *browser.Page) { eng.probe.press(p) },
	})
	if err != nil {
		return err
	}
	eng.probe.start(eng.tracker)
	folder, err := s.Files()
	if err != nil {
		return err
	}
	eng.auto = automation.New(eng.model, automation.Options{
		OnDialog: s.questions.Dialogs.ForPerson, OnFront: func(p *browser.Page) { showPage(s, eng, p) }, CheckURL: s.traffic.CheckURL, CheckBehind: s.traffic.CheckURLBehind, Dial: s.traffic.DialContext, DialProxy: s.traffic.DialProxy, OpenProxy: openProxy(eng.proc), Files: folder, Proxy: s.opts.ProxyURL, Logger: s.log,
	})
	return nil
}

// stopEngine ends a Chromium and everything attached to it. Its folder stays.
func (s *Session) stopEngine(eng *engine) {
	s.tabs.leave(eng)
	s.saving.remember(eng)
	if eng.live != nil {
		eng.live.Close()
	}
	if eng.auto != nil {
		eng.auto.Close()
	}
	if eng.probe != nil {
		eng.probe.close()
	}
	if eng.tracker != nil {
		eng.tracker.Close()
	}
	if s.ctx.Err() != nil && eng.proc.Conn().Err() == nil { // the session ends, and its browser lives
		s.monitor.Leave()
	}
	errs := []error{eng.proc.Close()}
	if eng.model != nil {
		errs = append(errs, eng.model.Close())
	}
	if err := errors.Join(errs...); err != nil {
		s.log.Warn("stop browser", "error", err)
	}
}

// forgetBrowser forgets what a session that has ended knows of its browser. The session
// stays in lists for long, and each of these holds the browser's whole model.
func (s *Session) forgetBrowser() {
	s.tabs.close()
	s.gestures.forget()
	s.transfers.forget()
	s.capture.forget()
	s.stills.shy.forget()
}

// goLive makes a started browser the session's browser. After a crash, the former
// tabs return with their numbers and their last addresses.
func (s *Session) goLive(eng *engine, again bool) {
	ctx, cancel := context.WithTimeout(s.ctx, startTimeout)
	defer cancel()
	former, _, _ := s.tabs.active()
	tabs, _ := s.tabs.list()
	woken := s.Hibernates()
	if state := s.tabs.keptState(); state != nil {
		if err := eng.auto.RestoreTabState(ctx, state); err != nil {
			s.log.Warn("restore what Chromium did not keep", "error", err)
		}
	}
	s.tabs.enter(eng)
	if !s.tabs.size.fits(eng) { // it has changed since Chromium was started
		if err := s.tabs.size.fit(ctx, eng); err != nil {
			s.log.Warn("resize pages", "error", err)
		}
	}
	s.mu.Lock()
	s.userAgent = eng.model.UserAgent()
	if s.opts.UserAgent != "" {
		s.userAgent = s.opts.UserAgent
	}
	s.mu.Unlock()
	s.questions.Attach(questions.Browser{Model: eng.model, Tracker: eng.tracker, Scripts: eng.auto})
	eng.model.Subscribe(func(ev browser.Event) { s.onModelEvent(eng, ev) })
	if err := eng.model.Do(ctx, func() {
		for _, p := range eng.model.Pages() {
			s.addPage(eng, p, nil)
		}
	}); err != nil {
		s.log.Warn("take over pages", "error", err)
	}
	if err := s.questions.Permissions.AllowAgain(ctx); err != nil {
		s.log.Warn("allow again", "error", err)
	}
	if err := s.reopen(ctx, eng); err != nil {
		s.log.Warn("reopen tabs", "error", err)
	}
	s.keepCapturing(ctx, eng)
	if !again && s.captures() {
		if _, err := s.StartCapture(ctx, s.services.settings.capture); err != nil {
			s.log.Warn("start capture", "error", err)
		}
	}
	if !again && s.opts.URL != "" {
		s.openFirst(ctx, eng)
	}
	if again && former.URL != "" && former.URL != emptyPage {
		if err := s.tabs.awaitShown(ctx); err != nil {
			s.log.Info("shown page after a crash", "error", err)
		}
	}
	if again {
		s.tabs.awaitReopened(ctx, tabs)
	}
	s.life.enter(StatusLive)
	s.tabs.serve(eng)
	s.archive()
	if again {
		if woken {
			s.note(capture.TypeHibernated, map[string]any{"hibernates": false})
		} else {
			recordBrowser(s, trajectory.Recovery, nil, "a new browser has the tabs and the stored state of the one that crashed")
		}
		s.broadcast("", StateMessage{Type: "recovered"})
		s.sendTabs()
		return
	}
	close(s.life.started)
}

// reopen opens as many pages as the browser had before it died. addPage gives
// each of them the number and the address of a lost one.
func (s *Session) reopen(ctx context.Context, eng *engine) error {
	for {
		if s.tabs.lost() == 0 {
			return nil
		}
		if _, err := eng.model.DefaultContext().NewPage(ctx); err != nil {
			return err
		}
		// When Do returns, the event of the new page has been handled.
		if err := eng.model.Do(ctx, func() {}); err != nil {
			return err
		}
	}
}

// openFirst opens the session's first address and waits until its document has
// begun, so that a script that starts next finds it. If that fails, the browser
// shows the error, as for any other navigation.
func (s *Session) openFirst(ctx context.Context, eng *engine) {
	url, err := parseAddress(s.opts.URL, s.traffic.CheckURL)
	pages := eng.model.Pages()
	if err != nil || len(pages) == 0 { // invalid addresses were refused earlier
		return
	}
	ctx, cancel := context.WithTimeout(ctx, firstPageTimeout)
	defer cancel()
	if _, err := pages[0].MainFrame().Navigate(ctx, url, browser.NavigateOptions{WaitUntil: browser.LifecycleCommit}); err != nil {
		s.log.Info("first page", "error", err)
	}
}

// crashed notifies everybody that the browser has died.
func (s *Session) crashed(reason error) {
	s.log.Warn("browser died", "error", reason)
	s.services.stats.crashes.Add(1)
	s.life.enter(StatusCrashed)
	s.tabs.crash()
	s.archive()
	recordBrowser(s, trajectory.Failure, nil, "the browser crashed")
	s.broadcast("", StateMessage{Type: "crashed"})
	s.sendWidgets()
	s.loseDownloads()
	s.questions.BrowserDied()
}
