package chromium

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// maxUnpacked bounds the files of a packed user data directory, in bytes.
	maxUnpacked = 2 << 30
	// maxPackedFiles bounds their number, with folders.
	maxPackedFiles = 100_000
)

// ErrUserData is returned for a user data directory that is too large, or cannot be
// unpacked.
var ErrUserData = errors.New("user data directory")

// unpackable are files and folders of a user data directory that are not packed:
// caches, locks, and what Chromium downloads or measures for itself. A name at the
// end of a path counts, too.
var unpackable = append([]string{
	"Cache", "Code Cache", "GPUCache", "GrShaderCache", "ShaderCache", "GraphiteDawnCache", "DawnGraphiteCache", "DawnWebGPUCache", "ScriptCache",
	"SingletonLock", "SingletonCookie", "SingletonSocket", "lockfile", "LOCK",
	"Crashpad", "Crash Reports", "BrowserMetrics", "DeferredBrowserMetrics", "component_crx_cache", "extensions_crx_cache",
	"Safe Browsing", "optimization_guide_model_store", "OptimizationHints", "segmentation_platform", "BudgetDatabase",
}, tabFiles...)

// PackUserData returns the user data directory of an ended Chromium as a
// compressed archive of at most limit bytes, without caches. The error is
// ErrUserData if it is larger, or if LaunchOptions.UserData, which takes the archive,
// would refuse it.
func (p *Process) PackUserData(limit int) ([]byte, error) {
	select {
	case <-p.done:
	default:
		return nil, fmt.Errorf("pack %w: Chromium still runs", ErrUserData)
	}
	return packFolder(p.folder.profile(), limit, maxUnpacked)
}

// packFolder packs the files of a folder, whose sum is at most sum bytes. An archive
// with more could not be unpacked, and a file with holes takes little room in it.
func packFolder(dir string, limit int, sum int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	out := &boundedBuffer{limit: limit}
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	files := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case slices.Contains(unpackable, d.Name()) && d.IsDir():
			return fs.SkipDir
		case slices.Contains(unpackable, d.Name()) || !d.IsDir() && !d.Type().IsRegular():
			return nil
		}
		if files++; files > maxPackedFiles {
			return fmt.Errorf("pack %w: more than %d files", ErrUserData, maxPackedFiles)
		}
		return packOne(root, archive, name, d, &sum)
	})
	if err = errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.data.Bytes(), nil
}

// packOne adds a file or a folder, and subtracts its size from left. It opens nothing but that: Chromium's processes
// have ended, but may have left links to anything.
func packOne(root *os.Root, archive *tar.Writer, name string, d fs.DirEntry, left *int64) error {
	if d.IsDir() {
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700})
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if *left -= info.Size(); *left < 0 {
		return fmt.Errorf("pack %w: its files are too large", ErrUserData)
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.CopyN(archive, file, info.Size())
	return err
}

// boundedBuffer keeps at most limit bytes.
type boundedBuffer struct {
	data  bytes.Buffer
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.data.Len()+len(p) > b.limit {
		return 0, fmt.Errorf("pack %w: more than %d bytes", ErrUserData, b.limit)
	}
	return b.data.Write(p)
}

// unpackUserData writes a packed user data directory into an empty folder. It
// takes only files and folders, and none that would lead elsewhere.
func unpackUserData(packed []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	compressed, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("unpack %w: %w", ErrUserData, err)
	}
	archive := tar.NewReader(compressed)
	var size int64
	for files := 0; ; files++ {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack %w: %w", ErrUserData, err)
		}
		name := path.Clean(strings.TrimSuffix(head.Name, "/"))
		if size += head.Size; size > maxUnpacked || files > maxPackedFiles || !fs.ValidPath(name) {
			return fmt.Errorf("unpack %w: it is too large, or %.64q is not a name in it", ErrUserData, name)
		}
		switch head.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o700)
		case tar.TypeReg:
			err = unpackOne(root, archive, name, head.Size)
		default:
			err = errors.New("neither a file nor a folder")
		}
		if err != nil {
			return fmt.Errorf("unpack %w: %.64q: %w", ErrUserData, name, err)
		}
	}
}

func unpackOne(root *os.Root, from io.Reader, name string, size int64) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.CopyN(file, from, size)
	return err
}
