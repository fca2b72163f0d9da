//go:build !race

package scripting

// raceEnabled tells that this binary carries the race detector, which some
// limits do not go with.
const raceEnabled = false
