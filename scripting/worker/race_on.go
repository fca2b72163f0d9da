//go:build race

package worker

// RaceEnabled tells that this binary carries the race detector, which some
// limits do not go with.
const RaceEnabled = true
