package trajectory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Mend finishes the bundles whose server died while it wrote them: it drops half a
// line at the end and writes their reports. It returns the ids of these bundles, also
// of those that it could not finish.
func (l *Library) Mend() (mended []string, err error) {
	entries, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mend trajectories: %w", err)
	}
	var failures []error
	for _, e := range entries {
		if !e.IsDir() || !ValidID(e.Name()) {
			continue
		}
		was, err := l.mend(e.Name(), "the server ended while it recorded")
		if was {
			mended = append(mended, e.Name())
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return mended, errors.Join(failures...)
}

// mend finishes one bundle that nobody writes, and reports whether it had to. why is
// what its report says.
func (l *Library) mend(id, why string) (was bool, err error) {
	l.mending.Lock()
	defer l.mending.Unlock()
	if l.written(id) {
		return false, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("mend trajectory %s: %w", id, err)
		}
	}()
	root, err := os.OpenRoot(filepath.Join(l.dir, id))
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if _, err := root.Stat(manifestFile); err == nil {
		return false, nil
	}
	var earlier BundleReport // perhaps only the manifest is missing
	_ = readJSON(root, reportFile, &earlier)
	r := BundleReport{ID: id, Lost: earlier.Lost, Recovery: append(earlier.Recovery, why), LeakScan: earlier.LeakScan}
	if err := readBack(root, &r); err != nil {
		return true, err
	}
	pictures, err := fs.ReadDir(root.FS(), screenshots)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	for _, p := range pictures {
		if path.Ext(p.Name()) == ".png" {
			r.Artifacts.Screenshots++
		}
	}
	return true, finish(root, &r, nil) // nobody knows the secrets any more
}

// readBack counts the events of a bundle, and cuts off half a line at the end.
func readBack(root *os.Root, r *BundleReport) (err error) {
	if raw, err := root.ReadFile(metaFile); err == nil {
		var m Meta
		if json.Unmarshal(raw, &m) == nil {
			r.StartedAt, r.EndedAt = m.StartedAt, m.StartedAt
		}
	}
	f, err := root.OpenFile(eventsFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	whole := int64(0)
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the end, or half a line
		}
		whole += int64(len(line))
		var e struct {
			Event
			Result verdict `json:"resultSummary"`
		}
		if json.Unmarshal(line, &e) != nil {
			r.Lost++
			continue
		}
		r.count(e.Event, e.Result.Verdict)
		r.EndedAt = time.UnixMilli(e.TS).UTC()
	}
	return f.Truncate(whole)
}
