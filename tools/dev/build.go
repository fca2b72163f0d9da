package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is the server that dev builds.
const program = "bin/takeover-dev"

// parts maps the parts of build.mjs to the folders with their TypeScript and
// styles.
var parts = map[string]string{
	"static":     "static/src/",
	"automation": "automation/page/",
	"capture":    "capture/page/",
	"widget":     "widget/page/",
	"scripting":  "scripting/api/",
}

// work is what has to be done after a change.
type work struct {
	assets    []string // the parts of build.mjs to build
	templates bool
	program   bool
}

func (w work) none() bool { return w.assets == nil && !w.templates && !w.program }

// everything returns the work of the first start.
func everything() work {
	return work{assets: slices.Sorted(maps.Keys(parts)), templates: true, program: true}
}

// workFor returns the work that changes to some files require.
func workFor(files []string) work {
	var w work
	for _, file := range files {
		file = filepath.ToSlash(filepath.Clean(file))
		part := partOf(file)
		switch {
		case strings.HasSuffix(file, "_test.go"), strings.HasSuffix(file, "_templ.go"), strings.HasSuffix(file, ".test.ts"):
		case part == "static":
			w.add(part)
		case part == "capture": // the others import from it
			w.add("automation")
			w.add("capture")
			w.add("widget")
			w.program = true
		case part != "":
			w.add(part)
			w.program = true // the program embeds these assets
		case strings.HasSuffix(file, ".templ"):
			w.templates, w.program = true, true
		case strings.HasSuffix(file, ".go"), strings.HasPrefix(file, "web/demo/site/"), file == "go.mod", file == "clipboard/page.js":
			w.program = true
		}
	}
	return w
}

func (w *work) add(part string) {
	if !slices.Contains(w.assets, part) {
		w.assets = append(w.assets, part)
	}
}

// partOf returns the part of build.mjs that a file belongs to, or "".
func partOf(file string) string {
	if strings.HasPrefix(file, "clients/viewer/") {
		return "static" // serves it to other sites
	}
	for part, folder := range parts {
		if strings.HasPrefix(file, folder) {
			return part
		}
	}
	return ""
}

// builder builds the parts. It keeps a Node process that remembers what has not
// changed.
type builder struct {
	templ string // path of the templ program
	node  *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
}

func newBuilder(ctx context.Context) (*builder, error) {
	templ, err := exec.CommandContext(ctx, "go", "tool", "-n", "templ").Output()
	if err != nil {
		return nil, fmt.Errorf("find templ: %w", err)
	}
	node := exec.CommandContext(context.WithoutCancel(ctx), "node", "build.mjs", "--follow")
	node.Stderr = os.Stderr
	in, inErr := node.StdinPipe()
	out, outErr := node.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	if err := node.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	return &builder{templ: strings.TrimSpace(string(templ)), node: node, in: in, out: bufio.NewScanner(out)}, nil
}

// close ends Node and waits for it.
func (b *builder) close() {
	_ = b.in.Close()
	_ = b.node.Wait()
}

// assets builds parts of build.mjs.
func (b *builder) assets(ctx context.Context, parts []string) error {
	for _, part := range parts {
		if _, err := fmt.Fprintln(b.in, part); err != nil {
			return fmt.Errorf("build %s: %w", part, err)
		}
	}
	for _, part := range parts {
		if !b.out.Scan() {
			return fmt.Errorf("build %s: Node has ended", part)
		}
		if strings.HasPrefix(b.out.Text(), "failed") {
			return fmt.Errorf("%s does not build", part)
		}
	}
	return ctx.Err()
}

// templates generates the Go code of the templates.
func (b *builder) templates(ctx context.Context) error {
	return command(ctx, b.templ, "generate", "-log-level", "error")
}

// program builds the server. It reads its pages from disk.
func (b *builder) program(ctx context.Context) error {
	return command(ctx, "go", "build", "-tags", "dev", "-ldflags", "-s -w", "-o", program, "./cmd/takeover")
}

// command runs a program that prints its own errors.
func command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), args[0], err)
	}
	return nil
}
