package takeover_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestOneWayIn checks that only one file outside package automation runs
// operations of a client, so that each goes through Session.do. It does not look at
// commands of CDP clients, which are no operations.
func TestOneWayIn(t *testing.T) {
	const wayIn, call = "session/actions.go", "(*takeover/automation.Client).Do"
	if callers := usersOf(t, "takeover/automation", call); !slices.Equal(callers, []string{wayIn}) {
		t.Errorf("%s is used in %v, want %s alone", call, callers, wayIn)
	}
}

// usersOf returns the files, tests aside, that use a function of a package from
// outside, by its full name.
func usersOf(t *testing.T, pkg, function string) (files []string) {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,ImportMap"}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race") // what the tests were built from, so that nothing is compiled again
	}
	out, err := exec.Command("go", append(args, "./...")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, Imports        []string
		ImportMap               map[string]string
	}
	exports := map[string]string{}
	var users []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if slices.Contains(p.Imports, pkg) {
			users = append(users, p)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range users {
		set := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
			if mapped := p.ImportMap[path]; mapped != "" {
				path = mapped
			}
			return os.Open(exports[path])
		})}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		if _, err := config.Check(p.ImportPath, set, parsed, info); err != nil {
			t.Fatal(err)
		}
		for name, object := range info.Uses {
			if f, ok := object.(*types.Func); ok && f.FullName() == function {
				file, err := filepath.Rel(root, set.Position(name.Pos()).Filename)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, filepath.ToSlash(file))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// maxSessionFields and maxSessionMethods bound session.Session. State that belongs
// together goes into a part with its own lock, and so does a method that needs only
// that part.
const (
	maxSessionFields  = 32
	maxSessionMethods = 160
)

// TestSessionIsBounded checks the bounds.
func TestSessionIsBounded(t *testing.T) {
	fields, methods := 0, 0
	for _, file := range sourcesOf(t, "session") {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && n.Name.Name == "Session" {
					fields += s.Fields.NumFields()
				}
			case *ast.FuncDecl:
				if n.Recv != nil && types.ExprString(n.Recv.List[0].Type) == "*Session" {
					methods++
				}
			}
			return true
		})
	}
	if fields == 0 || fields > maxSessionFields {
		t.Errorf("session.Session has %d fields, want 1 to %d", fields, maxSessionFields)
	}
	if methods == 0 || methods > maxSessionMethods {
		t.Errorf("session.Session has %d methods, want 1 to %d", methods, maxSessionMethods)
	}
}
