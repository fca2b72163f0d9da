package playwright

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// nest makes folders in each other, with a file in the innermost.
func nest(t *testing.T, in *os.Root, name string, depth int) {
	t.Helper()
	at, err := in.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot(name)
		if err = errors.Join(err, at.Close()); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	if err := errors.Join(at.WriteFile("f", nil, 0o600), at.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestHostileFolders fills folders in ways that would keep the server busy or cost it
// descriptors: each is found to be too large at once, and can be removed.
func TestHostileFolders(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		fill  func(*folder)
		bytes int64
		ctx   context.Context
		want  error
	}{
		"allowed": {func(f *folder) { nest(t, f.root, "a", maxDepth) }, DefaultFiles, t.Context(), nil},
		"deep":    {func(f *folder) { nest(t, f.root, "a", maxDepth+1) }, DefaultFiles, t.Context(), errDepth},
		"deeper": {func(f *folder) {
			for i := range 5 {
				nest(t, f.root, fmt.Sprint(i), 2000) // longer than a path may be
			}
		}, DefaultFiles, t.Context(), errDepth},
		"names in the way": {func(f *folder) {
			nest(t, f.root, "moved-1", 2)
			nest(t, f.root, "a", maxDepth+1)
		}, DefaultFiles, t.Context(), errDepth},
		"many": {func(f *folder) {
			for i := range maxEntries {
				if err := f.root.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, DefaultFiles, t.Context(), errEntries},
		"empty files": {func(f *folder) { nest(t, f.root, "a", 3) }, 4 * fileBytes, t.Context(), errBytes},
		"large":       {func(f *folder) { _ = f.root.WriteFile("f", make([]byte, 10<<10), 0o600) }, 15 << 10, t.Context(), errBytes},
		"over":        {func(f *folder) { nest(t, f.root, "a", 3) }, DefaultFiles, over, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := newFolder(os.Getuid())
			if err != nil {
				t.Fatal(err)
			}
			c.fill(f)
			if err := f.check(c.ctx, c.bytes); !errors.Is(err, c.want) {
				t.Errorf("checked: %v, want %v", err, c.want)
			}
			if err := f.remove(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(f.path); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
		})
	}
}
