package demo

import (
	"errors"
	"math"
	"sync"
	"time"
)

const (
	// maxVisits bounds the remembered visitors. The oldest are forgotten.
	maxVisits = 1000
	visitLife = time.Hour
)

// stage is the step that a visitor has reached.
type stage int

const (
	atLogin stage = iota
	atCaptcha
	atCode
	atWelcome
)

// visits maps cookies to visitors.
type visits struct {
	mu  sync.Mutex // guards all
	all map[string]*visit
}

func newVisits() *visits { return &visits{all: map[string]*visit{}} }

func (vs *visits) get(id string) *visit {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.all[id]
	if v != nil && time.Since(v.since) > visitLife {
		delete(vs.all, id)
		return nil
	}
	return v
}

func (vs *visits) create() (string, *visit) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for len(vs.all) >= maxVisits {
		oldest := ""
		for id, v := range vs.all {
			if oldest == "" || v.since.Before(vs.all[oldest].since) {
				oldest = id
			}
		}
		delete(vs.all, oldest)
	}
	id, v := newID(), &visit{since: time.Now(), secret: newCode()}
	vs.all[id] = v
	return id, v
}

func (vs *visits) drop(id string) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	delete(vs.all, id)
}

// visit is one visitor.
type visit struct {
	since time.Time

	mu     sync.Mutex // guards what follows
	stage  stage
	last   *puzzle
	number int
	secret string

	name     string // the name with which the visitor signed in
	todos    []todo
	lastTodo int
}

func (v *visit) at() stage {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stage
}

func (v *visit) signIn() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stage = atCaptcha
}

func (v *visit) newPuzzle() *puzzle {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.number++
	v.last = newPuzzle(v.number)
	return v.last
}

func (v *visit) currentPuzzle() *puzzle {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last
}

func (v *visit) code() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.secret
}

// Reasons for refusing an answer.
var (
	errTooEarly  = errors.New("something has to be done first")
	errMissed    = errors.New("not quite, try again")
	errNotAHand  = errors.New("that was too fast for a hand, drag it slowly")
	errWrongCode = errors.New("wrong code")
)

// point is a position of the slider's handle in CSS pixels, with its time in ms
// since the start of the drag.
type point struct {
	T float64 `json:"t"`
	X float64 `json:"x"`
}

const (
	// tolerance is the permitted distance between piece and gap, in CSS pixels.
	tolerance = 6
	// A hand needs a moment, and passes through points on the way.
	minDrag   = 120 // ms
	minPoints = 5
	maxPoints = 5000
)

// solve checks a drag. If it is right, the visitor may continue.
func (v *visit) solve(trail []point) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stage < atCaptcha || v.last == nil {
		return errTooEarly
	}
	p := v.last
	v.last = nil // one try for each puzzle
	if len(trail) < minPoints || len(trail) > maxPoints {
		return errNotAHand
	}
	first, end := trail[0], trail[len(trail)-1]
	between := map[float64]bool{}
	for i, pt := range trail {
		if math.IsNaN(pt.X) || math.IsNaN(pt.T) || i > 0 && pt.T < trail[i-1].T {
			return errNotAHand
		}
		between[math.Round(pt.X)] = true
	}
	if first.X > tolerance || end.T-first.T < minDrag || len(between) < minPoints {
		return errNotAHand
	}
	if math.Abs(end.X-float64(p.gap)) > tolerance {
		return errMissed
	}
	v.stage = max(v.stage, atCode)
	return nil
}

// enter checks a code. A wrong code is replaced by a new one.
func (v *visit) enter(code string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stage < atCode {
		return errTooEarly
	}
	if !same(code, v.secret) {
		v.secret = newCode()
		return errWrongCode
	}
	v.stage = atWelcome
	return nil
}
