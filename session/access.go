package session

import (
	"errors"

	"takeover/control"
)

// These methods say who may do what. A viewer's role says what it may ever do;
// takeovers and control say what it may do now.

// may returns an error if the viewer may not act. A viewer with the role view
// never may. A guest with a takeover's link may while the takeover is open.
func (v *Viewer) may() error {
	if v.role == RoleView {
		return ErrRole
	}
	if err := v.session.life.alive(); err != nil {
		return err
	}
	if v.role != RoleTakeover {
		return nil
	}
	if t := v.session.openTakeover(); t == nil || v.takeover != "" && v.takeover != t.ID() {
		return ErrTakeoverState
	}
	return nil
}

// maySee reports whether the viewer may see the page. A guest with a takeover's
// link may while the takeover is open.
func (v *Viewer) maySee() bool {
	if v.takeover == "" {
		return true
	}
	t := v.session.openTakeover()
	return t != nil && t.ID() == v.takeover
}

// mayAnswer returns an error unless the viewer may answer questions of pages:
// nobody else changes a page under the person or the program in control.
func (v *Viewer) mayAnswer() error {
	if err := v.may(); err != nil {
		return err
	}
	if holder := v.session.control.Holder(); holder != control.Nobody && holder != v.holder() {
		return ErrNotController
	}
	return nil
}

var errStale = errors.New("old epoch")

// holds returns nil when the viewer is in control under epoch, ErrNotController
// when it is not in control, and errStale for an old epoch.
func (v *Viewer) holds(epoch uint64) error {
	holds, current := v.session.control.Check(v.holder(), epoch)
	switch {
	case !current:
		v.session.services.stats.staleInput.Add(1)
		return errStale
	case !holds:
		v.session.services.stats.rejectedInput.Add(1)
		return ErrNotController
	}
	return nil
}

// controls returns an error unless the viewer is in control now, for acts without
// an epoch.
func (v *Viewer) controls() error {
	if err := v.may(); err != nil {
		return err
	}
	if holder := v.session.control.Holder(); holder != v.holder() {
		v.session.services.stats.rejectedInput.Add(1)
		return ErrNotController
	}
	return nil
}
