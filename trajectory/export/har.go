// Package export writes the bundles of trajectories in the forms of other programs: as HAR
// files and as traces for Playwright's trace viewer.
package export

import (
	"bufio"
	"fmt"
	"io"

	"takeover/capture"
	"takeover/trajectory"
)

// WriteHAR writes the captured requests of a recording's time as a HAR file. version is the
// server's.
func WriteHAR(a *trajectory.Archive, to io.Writer, version string) error {
	out := bufio.NewWriter(to)
	file := capture.NewHARWriter(out, version, capture.Range{})
	if err := eachSessionEvent(a, file.Add); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write HAR: %w", err)
	}
	return out.Flush()
}

// eachSessionEvent calls each with every event of the session in the bundle.
func eachSessionEvent(a *trajectory.Archive, each func(*capture.Event) error) error {
	return a.EachSessionLine(func(line []byte) error {
		e, err := capture.DecodeEvent(line)
		if err != nil {
			return nil //nolint:nilerr // a crash cut it off
		}
		return each(&e)
	})
}
