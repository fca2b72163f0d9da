package recording

import (
	"archive/zip"
	"bytes"
)

// File is a file of a recording.
type File struct {
	Name string // slash-separated, relative to the recording's own file, or in its archive
	Data []byte
}

// Archive returns files as a .zip.
func Archive(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.Create(f.Name)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
