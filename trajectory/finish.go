package trajectory

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Manifest is manifest.json: every other file of a bundle.
type Manifest struct {
	Version int            `json:"version"`
	Files   []ManifestFile `json:"files"` // by path
}

// ManifestFile is a file of a bundle.
type ManifestFile struct {
	Path   string `json:"path" doc:"The file's path in the bundle."` // in the bundle
	SHA256 string `json:"sha256" doc:"Its hash."`
	Bytes  int    `json:"bytes" doc:"Its size."`
}

func describe(name string, content []byte) ManifestFile {
	return ManifestFile{Path: name, SHA256: hashOf(content), Bytes: len(content)}
}

// finish reads every file of a bundle once, and writes the report and the manifest.
// With a redactor, it looks for registered secrets in the files; without one, the
// verdict that the report has already stays.
func finish(root *os.Root, r *BundleReport, secrets Redactor) error {
	list, err := filesOf(root)
	if err != nil {
		return err
	}
	var secret func(content []byte) bool
	switch {
	case secrets != nil:
		r.LeakScan = LeakScan{State: Clean, At: new(time.Now().UTC())}
		secret = secrets.Finder()
	case r.LeakScan.State == "":
		r.LeakScan = LeakScan{State: NotScanned}
	}
	m := Manifest{Version: Version, Files: []ManifestFile{}}
	for _, name := range list {
		content, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, describe(name, content))
		if secret != nil && leaks(secret, name, content) {
			r.LeakScan.State, r.LeakScan.Files = Found, append(r.LeakScan.Files, name)
		}
	}
	report, err := writeJSON(root, reportFile, r)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, describe(reportFile, report))
	slices.SortFunc(m.Files, func(a, b ManifestFile) int { return strings.Compare(a.Path, b.Path) })
	_, err = writeJSON(root, manifestFile, m)
	return err
}

// leaks reports whether a registered secret is in a file. What the server writes by
// itself is not searched: a short secret would be found by chance in hashes, times and
// pictures.
func leaks(secret func(content []byte) bool, name string, content []byte) bool {
	switch {
	case name == metaFile || path.Ext(name) == ".png":
		return false
	case name == SessionEventsFile: // whole values, because a short secret is in many numbers
		for line := range bytes.Lines(content) {
			if secret(bytes.TrimSpace(line)) {
				return true
			}
		}
		return false
	case name != eventsFile:
		return secret(content)
	}
	for line := range bytes.Lines(content) {
		var e struct {
			Args   json.RawMessage `json:"argsSummary"`
			Result json.RawMessage `json:"resultSummary"`
			State  struct{ URL, Title string }
		}
		if json.Unmarshal(line, &e) != nil {
			return true // nobody can say
		}
		for _, part := range [][]byte{e.Args, e.Result, []byte(e.State.URL), []byte(e.State.Title)} {
			if secret(part) {
				return true
			}
		}
	}
	return false
}

// filesOf returns the paths of a bundle's files, without the report, the manifest,
// and files that were being written.
func filesOf(root *os.Root) (list []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && name != manifestFile && name != reportFile && path.Ext(name) != part {
			list = append(list, name)
		}
		return err
	})
	return list, err
}

// part is the extension of a file that is being written.
const part = ".part"

// writeFile writes a file as a whole, or not at all.
func writeFile(root *os.Root, name string, content []byte) error {
	if err := root.WriteFile(name+part, content, 0o600); err != nil {
		return errors.Join(err, root.Remove(name+part))
	}
	return root.Rename(name+part, name)
}

// writeJSON writes a value as a file, and returns the file's content.
func writeJSON(root *os.Root, name string, v any) ([]byte, error) {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	content = append(content, '\n')
	return content, writeFile(root, name, content)
}
