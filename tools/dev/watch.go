package main

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quietTime is how long files must stay unchanged before a build begins, because
// editors and version control write several files at once.
const quietTime = 50 * time.Millisecond

// watch sends the paths of files that change below root until ctx ends. Files
// that change at about the same time are sent together. A batch grows until it is
// received.
func watch(ctx context.Context, root string) (<-chan []string, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	if err := addFolders(watcher, root); err != nil {
		_ = watcher.Close()
		return nil, err
	}
	batches := make(chan []string)
	go func() {
		defer watcher.Close()
		collect(ctx, watcher, batches)
	}()
	return batches, nil
}

func collect(ctx context.Context, watcher *fsnotify.Watcher, batches chan<- []string) {
	var batch []string
	quiet := time.NewTimer(0)
	<-quiet.C
	var out chan<- []string // nil until the batch is complete
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors:
			log.Printf("watch files: %v", err)
		case event := <-watcher.Events:
			if event.Has(fsnotify.Create) {
				_ = addFolders(watcher, event.Name) // it may be gone again
			}
			if workFor([]string{event.Name}).none() {
				continue
			}
			if !slices.Contains(batch, event.Name) {
				batch = append(batch, event.Name)
			}
			out = nil
			quiet.Reset(quietTime)
		case <-quiet.C:
			out = batches
		case out <- batch:
			batch, out = nil, nil
		}
	}
}

// addFolders watches root and the folders below it that may contain sources. It
// does nothing for a file.
func addFolders(watcher *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("watch files: %w", err)
		}
		if !entry.IsDir() {
			return nil
		}
		name := entry.Name()
		if path != "." && strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "dist", "bin", "data", "test-results"}, name) {
			return filepath.SkipDir
		}
		return watcher.Add(path)
	})
}
