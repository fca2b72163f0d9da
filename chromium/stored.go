package chromium

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// leastStored is what a file or folder counts at least, so that a page cannot
// store any number of empty ones.
const leastStored = 4 << 10

// Stored returns how many bytes Chromium's profile, home and temporary files take
// on disk. It stops counting when there are more than most.
func (p *Process) Stored(most int64) (int64, error) {
	var sum int64
	for _, dir := range []string{p.folder.profile(), p.folder.home(), p.folder.temp} {
		if err := countStored(dir, most, &sum); err != nil {
			return sum, err
		}
		if sum > most {
			break
		}
	}
	return sum, nil
}

// countStored adds what is in a folder to sum. It follows no links, because
// Chromium's processes may put any there.
func countStored(dir string, most int64, sum *int64) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return skipGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return skipGone(err)
		}
		size := info.Size()
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			size = st.Blocks * 512 // stat(2): st_blocks counts units of 512 bytes
		}
		if *sum += max(size, leastStored); *sum > most {
			return fs.SkipAll
		}
		return nil
	})
}

// skipGone ignores what was removed while the folder was read.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
