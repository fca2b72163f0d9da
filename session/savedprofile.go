package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/capture"
	"takeover/chromium"
	"takeover/invalid"
	"takeover/limits"
	"takeover/profiles"
	"takeover/storagestate"
)

const (
	// saveInterval is how often the state of a session with Persist is saved while
	// it lives. A save that takes long is followed by a pause saveShare times as
	// long.
	saveInterval = time.Minute
	saveShare    = 20
	// saveTimeout bounds saving at the end of a session.
	saveTimeout = time.Minute
)

// savedProfile is the profile with which a session starts.
type savedProfile struct {
	id     string
	whole  bool                // it has a user data directory
	state  *storagestate.State // nil for a new profile, and once the first browser has it
	folder []byte              // its packed user data directory, likewise
}

// ProfileOf returns the id of the saved profile with which a session began, or "".
func ProfileOf(s *Session) string {
	if s.opts.saved == nil {
		return ""
	}
	return s.opts.saved.id
}

// saving saves what a session's browser has stored. All methods may be called from
// any goroutine.
type saving struct {
	session *Session

	mu     sync.Mutex // held while the state is read and written; across I/O
	last   [sha256.Size]byte
	failed bool // the last save failed, so that the log says it once

	foldersMu sync.Mutex
	folders   []string // ids of the profiles that get the user data directory at the end

	originsMu sync.Mutex
	origins   []string               // with storage, known from earlier Chromiums of the session
	passkeys  []storagestate.Passkey // likewise
}

// openProfile reads the profile of a new session, or makes it.
func (m *Manager) openProfile(ctx context.Context, o *CreateOptions) error {
	if o.Profile == "" {
		return nil
	}
	found, err := m.settings.profiles.Find(ctx, o.Profile)
	if errors.Is(err, profiles.ErrNotFound) && o.Persist {
		found, err = m.createProfile(ctx, o.Profile)
	}
	if errors.Is(err, profiles.ErrNotFound) {
		return invalid.Field("profile", "%v; with persist: true, it is made", err)
	}
	if err != nil {
		return fmt.Errorf("open profile: %w", err)
	}
	o.saved = &savedProfile{id: found.ID}
	raw, err := m.settings.profiles.State(ctx, found.ID)
	if err != nil {
		return fmt.Errorf("open profile: %w", err)
	}
	if o.saved.state, err = storagestate.Parse(raw); err != nil {
		return fmt.Errorf("open profile: %w", err)
	}
	if o.saved.whole = found.UserData; o.saved.whole {
		if o.saved.folder, err = m.settings.profiles.Folder(ctx, found.ID); err != nil {
			return fmt.Errorf("open profile: %w", err)
		}
	}
	return nil
}

// createProfile makes an empty profile.
func (m *Manager) createProfile(ctx context.Context, name string) (profiles.Profile, error) {
	p, err := m.settings.profiles.Create(ctx, name, profiles.State{JSON: json.RawMessage(`{"cookies":[],"origins":[]}`)})
	if wrong, ok := errors.AsType[*invalid.Error](err); ok {
		return p, invalid.Field("profile", "%s", wrong.Fields[0].Error)
	}
	if errors.Is(err, profiles.ErrTooMany) {
		m.settings.limits.Add(limits.Profiles, 1)
	}
	return p, err
}

// restore gives a started browser the state with which the session begins.
// After a crash, Chromium's folder still has it; only the list of origins and the
// passkeys are lost.
func (v *saving) restore(ctx context.Context, eng *engine, first bool) error {
	s := v.session
	if !first {
		v.originsMu.Lock()
		defer v.originsMu.Unlock()
		eng.model.DefaultContext().Remember(v.origins)
		return eng.auto.SetPasskeys(ctx, v.passkeys)
	}
	if s.opts.saved != nil { // sites may register passkeys, which are saved
		if err := eng.auto.SetPasskeys(ctx, []storagestate.Passkey{}); err != nil {
			return fmt.Errorf("restore profile: %w", err)
		}
	}
	if saved := s.opts.saved; saved != nil && saved.state != nil {
		if err := eng.auto.SetStorageState(ctx, saved.state); err != nil {
			return fmt.Errorf("restore profile: %w", err)
		}
	}
	if saved := s.opts.saved; saved != nil { // they may be large, and no later browser needs them
		saved.state, saved.folder = nil, nil
	}
	if s.opts.State == nil {
		return nil
	}
	if err := eng.auto.SetStorageState(ctx, s.opts.State); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("restore session context: %w", err)
		}
		return invalid.Field("sessionContext", "Chromium refuses it: %v", err)
	}
	return nil
}

// remember keeps the origins and the passkeys of a browser that ends, for the next one.
func (v *saving) remember(eng *engine) {
	if eng.model == nil {
		return
	}
	v.originsMu.Lock()
	defer v.originsMu.Unlock()
	v.origins = eng.model.DefaultContext().Origins()
	if eng.auto != nil {
		v.passkeys, _ = eng.auto.Passkeys() // keys that this server made or has checked
	}
}

// regularly saves the state while the browser lives, so that little is lost if
// the server or Chromium dies.
func (v *saving) regularly(eng *engine) {
	s := v.session
	if !s.opts.Persist {
		return
	}
	for pause := s.services.saveEvery; ; {
		select {
		case <-time.After(pause):
		case <-eng.proc.Done():
			return
		case <-s.ctx.Done():
			return
		}
		began := time.Now()
		v.state(s.ctx, eng)
		pause = max(s.services.saveEvery, saveShare*time.Since(began))
	}
}

// atEnd saves the state of a session that ends, while its browser still runs.
func (v *saving) atEnd(eng *engine) {
	s := v.session
	if !s.opts.Persist {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), saveTimeout)
	defer cancel()
	v.state(ctx, eng)
}

// state writes the state to the session's profile if it has changed.
func (v *saving) state(ctx context.Context, eng *engine) {
	s := v.session
	v.mu.Lock()
	defer v.mu.Unlock()
	state, err := readState(ctx, eng)
	sum := sha256.Sum256(state.JSON)
	if err == nil && sum == v.last {
		return
	}
	if err == nil {
		_, err = s.services.settings.profiles.SetState(ctx, s.opts.saved.id, state)
	}
	if err == nil {
		v.last, v.failed = sum, false
		return
	}
	if errors.Is(err, profiles.ErrTooLarge) {
		s.hit(limits.ProfileSize)
	}
	if ctx.Err() == nil && !v.failed || s.ctx.Err() != nil {
		v.failed = true
		s.log.Warn("save profile", "profile", s.opts.saved.id, "error", err)
		noteNotSaved(s, s.opts.saved.id, err)
	}
}

func noteNotSaved(s *Session, profile string, why error) {
	s.note(capture.TypeProfileNotSaved, map[string]any{"profile": profile, "reason": why.Error()})
}

// readState reads the state of a browser in the form of profiles.
func readState(ctx context.Context, eng *engine) (profiles.State, error) {
	state, err := eng.auto.StorageState(ctx)
	if err != nil {
		return profiles.State{}, err
	}
	return ProfileState(state)
}

// Choices are what the creator of a session chose, as far as Info does not say it.
type Choices struct {
	OwnProxy  bool   // requests go through the creator's proxy
	Persist   bool   // the profile is saved at the end
	ProfileID string // empty without a profile
}

// ChoicesOf returns the choices of a session. They are empty for a session of an
// earlier process.
func ChoicesOf(s *Session) Choices {
	c := Choices{OwnProxy: s.opts.ProxyURL != "", Persist: s.opts.Persist}
	if s.opts.saved != nil {
		c.ProfileID = s.opts.saved.id
	}
	return c
}

// ProfileState returns a state in the form in which profiles keep it, without
// session storage, which belongs to tabs.
func ProfileState(state *storagestate.State) (profiles.State, error) {
	kept := *state
	kept.Origins = nil
	for _, o := range state.Origins {
		if !o.Empty() {
			o = cloneWithout(o, "sessionStorage")
			kept.Origins = append(kept.Origins, o)
		}
	}
	if kept.Origins == nil {
		kept.Origins = []storagestate.Origin{}
	}
	slices.SortFunc(kept.Origins, func(a, b storagestate.Origin) int { return strings.Compare(a.Name(), b.Name()) })
	raw, err := json.Marshal(&kept)
	if err != nil {
		return profiles.State{}, fmt.Errorf("write storage state: %w", err)
	}
	return profiles.State{JSON: raw, Summary: profiles.Summary{Cookies: len(kept.Cookies), Origins: kept.OriginNames(), Passkeys: len(kept.Credentials)}}, nil
}

func cloneWithout(o storagestate.Origin, name string) storagestate.Origin {
	clone := storagestate.Origin{}
	for k, v := range o {
		if k != name {
			clone[k] = v
		}
	}
	return clone
}

// Profiles returns the saved profiles.
func (m *Manager) Profiles(ctx context.Context) ([]profiles.Profile, error) {
	return m.settings.profiles.List(ctx)
}

// SaveProfile keeps the state of a session under a new name. With userData, the
// profile also gets the whole user data directory when the session ends, because
// Chromium writes to it until then. The error is one of package profiles, or of
// StorageState.
func (m *Manager) SaveProfile(ctx context.Context, s *Session, name string, userData bool) (profiles.Profile, error) {
	if err := m.settings.profiles.Ready(); err != nil {
		return profiles.Profile{}, err
	}
	eng, err := s.ready()
	if err != nil {
		return profiles.Profile{}, err
	}
	state, err := readState(ctx, eng)
	if err != nil {
		return profiles.Profile{}, err
	}
	saved, err := m.settings.profiles.Create(ctx, name, state)
	if err == nil && userData {
		s.saving.foldersMu.Lock()
		defer s.saving.foldersMu.Unlock()
		s.saving.folders = append(s.saving.folders, saved.ID)
	}
	return saved, err
}

// folder writes the user data directory of an ended Chromium to the profiles
// that get it: those of SaveProfile, and with Persist the session's own, if it has
// one already.
func (v *saving) folder(proc *chromium.Process) {
	s := v.session
	v.foldersMu.Lock()
	ids := v.folders
	v.foldersMu.Unlock()
	if saved := s.opts.saved; s.opts.Persist && saved.whole {
		ids = append(ids, saved.id)
	}
	if len(ids) == 0 {
		return
	}
	packed, err := proc.PackUserData(profiles.MaxFolderBytes)
	if errors.Is(err, chromium.ErrUserData) {
		s.hit(limits.ProfileSize)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), saveTimeout)
	defer cancel()
	for _, id := range ids {
		failed := err
		if failed == nil {
			_, failed = s.services.settings.profiles.SetFolder(ctx, id, packed)
		}
		if failed != nil {
			s.log.Warn("save user data directory", "profile", id, "error", failed)
			noteNotSaved(s, id, failed)
		}
	}
}
