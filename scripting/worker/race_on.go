//go:build race

package worker

// RaceEnabled reports whether this binary has the race detector, under which some
// limits cannot be kept.
const RaceEnabled = true
