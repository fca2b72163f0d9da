package files

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
)

// Add writes r to a new file, without replacing another. If a file of that name
// has the same content, Add writes nothing and returns that file. If its
// content differs, the new file gets a number in its name.
func (f *Folder) Add(suggested string, r io.Reader) (File, error) {
	f.mu.Lock()
	f.parts++
	part := fmt.Sprintf(".part-%d", f.parts) // no safe file name begins like this
	f.mu.Unlock()
	size, err := f.fill(part, r)
	if err != nil {
		return File{}, fmt.Errorf("add %q: %w", suggested, err)
	}
	if info, err := f.Stat(Safe(suggested)); err == nil && info.Size == size && f.same(part, info.Name) {
		f.drop(part, size)
		return info, nil
	}
	f.take(0, -size) // Adopt counts it again
	info, err := f.Adopt(filepath.Join(f.dir, part), suggested)
	if err != nil {
		_ = f.root.Remove(part) // removed with the folder at the latest
	}
	return info, err
}

// same reports whether two files of the folder have the same content.
func (f *Folder) same(part, name string) bool {
	a, err := f.root.Open(part)
	if err != nil {
		return false
	}
	defer a.Close()
	b, _, err := f.Open(name)
	if err != nil {
		return false
	}
	defer b.Close()
	const piece = 64 << 10
	left, right := make([]byte, piece), make([]byte, piece)
	for {
		n, endA := io.ReadFull(a, left)
		m, endB := io.ReadFull(b, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if endA != nil || endB != nil {
			return endA != nil && endB != nil
		}
	}
}
