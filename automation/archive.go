package automation

import (
	"archive/zip"
	"fmt"
	"io"
	"path"

	"takeover/files"
)

// readEntry reads the first entry whose name matches a pattern, from a .zip in the
// folder.
func readEntry(folder *files.Folder, name, pattern string) ([]byte, error) {
	file, info, err := folder.Open(files.Name(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	archive, err := zip.NewReader(file, info.Size)
	if err != nil {
		return nil, errorf("%s: %v", name, err)
	}
	for _, entry := range archive.File {
		if fits, err := path.Match(pattern, entry.Name); !fits && entry.Name != pattern || err != nil {
			continue
		}
		data, err := inflate(entry)
		if err != nil {
			return nil, errorf("%s: %s: %v", name, entry.Name, err)
		}
		return data, nil
	}
	return nil, errorf("%s: there is no %s in it", name, pattern)
}

// inflate reads an entry, whose declared size may be too small.
func inflate(entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFileRead+1))
	if err == nil && len(data) > maxFileRead {
		err = fmt.Errorf("it has more than %d bytes", maxFileRead)
	}
	return data, err
}
