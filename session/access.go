package session

import (
	"errors"

	"takeover/control"
)

// These methods decide who may do what. A viewer's role limits what it may ever
// do; takeovers and control limit what it may do now.

// may returns an error if the viewer may not act. A viewer with the role view may
// never act. A guest with a takeover's link may act while the takeover is open.
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
// link may see it while the takeover is open.
func (v *Viewer) maySee() bool {
	if v.takeover == "" {
		return true
	}
	t := v.session.openTakeover()
	return t != nil && t.ID() == v.takeover
}

// mayAnswer returns an error unless the viewer may answer pages' questions.
// While another person or a program is in control, it may not.
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

// holds returns nil if the viewer is in control under epoch, ErrNotController if
// it is not in control, and errStale if the epoch is old.
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

// controls returns an error unless the viewer is in control now. It is for
// actions without an epoch, and for a first check before an action is prepared.
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
