package takeover_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReferences checks the files and functions that the documents name. Each
// file in backquotes must exist. So must each name that a document gives to a
// file, in one of these forms:
//
//	`file.go` (`name`, `Type.method`)
//	`name` (`file.go`)
//	(`file.go`, `name`), in any order
//	`name` in `file.go`
func TestReferences(t *testing.T) {
	code := newSources(t)
	checked := 0
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range referencesIn(string(text), code.isFolder) {
			at := fmt.Sprintf("%s:%d", document, ref.line)
			file, err := code.find(ref)
			if err != nil {
				t.Errorf("%s: %v", at, err)
				continue
			}
			if file == "" {
				continue // perhaps a reader's file
			}
			checked++
			for _, name := range ref.names {
				if !code.declares(t, file, name.text) {
					t.Errorf("%s:%d: %s does not declare %s", document, name.line, file, name.text)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("the documents name %d files, want 100 at least", checked)
	}
}

// TestReferencesInText checks which references a text has.
func TestReferencesInText(t *testing.T) {
	const text = "# One\n`a/b.go` (`F`, then `T.m`) and `x.go` of `pkg`,\nas `G` (`y.go`) says (`h`, `z.ts`).\n" +
		"```\n`not.go`\n```\n## Two\nSee `w.go`, the table `rows` in `v.go`, and\n`u.go`\n(`F(x)`, a `V`)."
	want := []string{
		"2 a/b.go [F T.m] []", "2 x.go [] [a]", "3 y.go [G] [pkg a]", "3 z.ts [h] [pkg a]",
		"8 w.go [] []", "8 v.go [rows] []", "9 u.go [V] []",
	}
	var got []string
	for _, ref := range referencesIn(text, func(name string) bool { return name == "pkg" }) {
		names := []string{}
		for _, name := range ref.names {
			names = append(names, name.text)
		}
		got = append(got, fmt.Sprint(ref.line, " ", ref.file, " ", names, " ", ref.folders))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// documents returns the documents whose references are checked: all but the
// change log, which tells of code that is gone.
func documents(t *testing.T) []string {
	t.Helper()
	found := []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			found = append(found, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// reference is a file that a document names.
type reference struct {
	file  string // as the document writes it, perhaps without its folder
	line  int
	names []quotedName // what the document says the file declares
	// folders are those that the section has named before, the latest first. A
	// file without a folder is looked for there.
	folders []string
}

// quotedName is a name in backquotes.
type quotedName struct {
	text       string
	line       int
	start, end int // of the backquotes, in bytes
}

var (
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	isFile     = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)*\.(?:go|ts|mjs|cjs|js|css|templ|html|txt|json|md)$`)
	isName     = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$`)
	notNewline = regexp.MustCompile(`[^\n]`)
)

// referencesIn returns the files that a Markdown text names in backquotes,
// outside of its blocks of code. isFolder tells which names are folders.
func referencesIn(text string, isFolder func(name string) bool) []reference {
	text = fence.ReplaceAllStringFunc(text, func(block string) string { return notNewline.ReplaceAllString(block, " ") })
	var spans []quotedName
	prose := []byte(text) // with other signs for what is in backquotes, so that its brackets do not count
	for _, at := range quoted.FindAllStringSubmatchIndex(text, -1) {
		spans = append(spans, quotedName{text[at[2]:at[3]], 1 + strings.Count(text[:at[0]], "\n"), at[0], at[1]})
		copy(prose[at[0]:at[1]], strings.Repeat("`", at[1]-at[0]))
	}
	brackets := bracketsIn(string(prose))

	var refs []reference
	var folders []string
	section := 0
	for i, span := range spans {
		if heading := strings.LastIndex(text[:span.start], "\n#"); heading > section {
			section, folders = heading, nil
		}
		if isFolder(span.text) {
			folders = append([]string{span.text}, folders...)
		}
		if !isFile.MatchString(span.text) {
			continue
		}
		ref := reference{file: span.text, line: span.line, folders: slices.Clone(folders)}
		if i > 0 && isName.MatchString(spans[i-1].text) {
			between := strings.TrimSpace(string(prose[spans[i-1].end:span.start]))
			if before := spans[i-1]; between == "in" || between == "(" {
				ref.names = append(ref.names, before)
			}
		}
		for _, b := range brackets {
			inside := slices.DeleteFunc(slices.Clone(spans), func(s quotedName) bool { return s.start < b[0] || s.end > b[1] })
			files := 0
			for _, s := range inside {
				if isFile.MatchString(s.text) {
					files++
				}
			}
			follows := span.end <= b[0] && strings.TrimSpace(string(prose[span.end:b[0]])) == "" && files == 0
			holds := span.start > b[0] && span.end <= b[1] && files == 1
			if !follows && !holds {
				continue
			}
			for _, s := range inside {
				if isName.MatchString(s.text) && !isFile.MatchString(s.text) {
					ref.names = append(ref.names, s)
				}
			}
		}
		refs = append(refs, ref)
		if folder := path.Dir(span.text); folder != "." {
			folders = append([]string{folder}, folders...)
		}
	}
	return refs
}

// bracketsIn returns the pairs of round brackets of a text, by their offsets. A
// pair does not go beyond a paragraph.
func bracketsIn(text string) (pairs [][2]int) {
	var open []int
	for i := range len(text) {
		switch {
		case text[i] == '(':
			open = append(open, i)
		case text[i] == ')' && len(open) > 0:
			pairs = append(pairs, [2]int{open[len(open)-1], i})
			open = open[:len(open)-1]
		case strings.HasPrefix(text[i:], "\n\n"):
			open = nil
		}
	}
	return pairs
}

// sources are the files of the repository.
type sources struct {
	files    []string
	folders  map[string]bool
	declared map[string]map[string]bool // the names of each Go file that was asked for
}

func newSources(t *testing.T) *sources {
	t.Helper()
	s := &sources{folders: map[string]bool{}, declared: map[string]map[string]bool{}}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "dist") {
				return filepath.SkipDir
			}
			s.folders[filepath.ToSlash(path)] = true
			return nil
		}
		s.files = append(s.files, filepath.ToSlash(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sources) isFolder(name string) bool { return s.folders[name] }

// find returns the path of a file that a document names. If its folder is
// missing, it is the one in the latest of the section's folders that has it, or
// else the only one in the repository. It is "" for a name without a folder that is
// neither Go nor TypeScript: it may be that of a reader's file.
func (s *sources) find(ref reference) (string, error) {
	if slices.Contains(s.files, ref.file) {
		return ref.file, nil
	}
	for _, folder := range ref.folders {
		if file := path.Join(folder, ref.file); slices.Contains(s.files, file) {
			return file, nil
		}
	}
	var found []string
	for _, file := range s.files {
		if strings.HasSuffix(file, "/"+ref.file) {
			found = append(found, file)
		}
	}
	isCode := slices.Contains([]string{".go", ".ts"}, path.Ext(ref.file))
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && isCode:
		return "", fmt.Errorf("%s may be each of %v: name its folder", ref.file, found)
	case len(found) == 0 && (isCode || strings.Contains(ref.file, "/")):
		return "", fmt.Errorf("there is no file %s", ref.file)
	}
	return "", nil
}

// declares reports whether a file declares a name: for a Go file a function, a
// type, a constant, a variable, or a method or a field, with or without its type.
// In a TypeScript file the name must look like a declaration, in any other it
// must occur.
func (s *sources) declares(t *testing.T, file, name string) bool {
	t.Helper()
	if path.Ext(file) == ".go" {
		if s.declared[file] == nil {
			s.declared[file] = declarations(t, file)
		}
		return s.declared[file][name]
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	last := regexp.QuoteMeta(name[strings.LastIndex(name, ".")+1:])
	pattern := `\b` + last + `\b`
	if path.Ext(file) == ".ts" {
		pattern = `(?m)(?:\b(?:function\*?|class|interface|type|enum|const|let|var|get|set|async|static|readonly|private)\s+|^\s*#?)` + last + `\s*[(:=<?!{]`
	}
	return regexp.MustCompile(pattern).Match(text)
}

// declarations returns the names that a Go file declares. A method or a field is
// there as Type.name and as name, a name of the package also as package.Name.
func declarations(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	add := func(name string) { names[name], names[parsed.Name.Name+"."+name] = true, true }
	members := func(of string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			var list *ast.FieldList
			switch n := n.(type) {
			case *ast.StructType:
				list = n.Fields
			case *ast.InterfaceType:
				list = n.Methods
			default:
				return true
			}
			for _, field := range list.List {
				for _, name := range field.Names {
					names[name.Name] = true
					add(of + "." + name.Name)
				}
			}
			return true
		})
	}
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name.Name)
				continue
			}
			names[decl.Name.Name] = true
			add(receiver(decl.Recv.List[0].Type) + "." + decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name)
					members(spec.Name.Name, spec.Type)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name.Name)
						members(name.Name, spec)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
