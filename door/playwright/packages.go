package playwright

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// packageName is the package with Playwright's protocol.
const packageName = "playwright-core"

// maxPackageFile bounds a package.json, in bytes. Playwright's has 5 KB.
const maxPackageFile = 1 << 20

// Causes why no client can be served.
var (
	// ErrNoPackage is returned when playwright-core is not installed.
	ErrNoPackage = errors.New("playwright-core is not installed on this server: run npm install playwright-core in a folder, and name the folder with --playwright")

	// ErrNoNode is returned when Node is not installed.
	ErrNoNode = errors.New("Node.js is not installed on this server: install it, or name it with --node") //nolint:staticcheck // a name
)

// Package is an installed playwright-core.
type Package struct {
	Folder  string
	Version string // as in "1.65.1"

	number [3]int
}

// minor returns the part of the version that the client's must equal.
func (p Package) minor() string { return fmt.Sprintf("%d.%d", p.number[0], p.number[1]) }

// Check returns the packages that clients can use, or why there are none: ErrNoNode,
// ErrNoPackage. The parameters are those of Options.
func Check(node string, folders []string) ([]Package, error) {
	if _, err := findNode(node); err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		folders = DefaultFolders()
	}
	packages := FindPackages(folders)
	if len(packages) == 0 {
		return nil, ErrNoPackage
	}
	return packages, nil
}

// FindPackages returns the packages in folders, the newest first. A folder may be the
// package, a node_modules with it, a folder with such a node_modules, or a folder of
// these, for several versions.
func FindPackages(folders []string) []Package {
	var found []Package
	for _, folder := range folders {
		candidates := []string{folder, filepath.Join(folder, packageName), filepath.Join(folder, "node_modules", packageName)}
		several, _ := filepath.Glob(filepath.Join(folder, "*", "node_modules", packageName)) // a folder with a strange name has none
		for _, candidate := range append(candidates, several...) {
			if p, ok := readPackage(candidate); ok && !slices.ContainsFunc(found, func(other Package) bool { return other.Folder == p.Folder }) {
				found = append(found, p)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Package) int { return slices.Compare(b.number[:], a.number[:]) })
	return found
}

// DefaultFolders returns where packages are looked for by default: beside the program,
// and where npm installs globally.
func DefaultFolders() []string {
	folders := []string{"/usr/local/lib/node_modules", "/usr/lib/node_modules"}
	if program, err := os.Executable(); err == nil {
		folders = append([]string{filepath.Dir(program), filepath.Dir(filepath.Dir(program))}, folders...)
	}
	return folders
}

func readPackage(folder string) (Package, bool) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return Package{}, false
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return Package{}, false
	}
	file, err := os.Open(filepath.Join(folder, "package.json"))
	if err != nil {
		return Package{}, false
	}
	defer file.Close()
	var says struct{ Name, Version string }
	if err := json.NewDecoder(io.LimitReader(file, maxPackageFile)).Decode(&says); err != nil || says.Name != packageName {
		return Package{}, false
	}
	number, ok := numberOf(says.Version)
	return Package{Folder: folder, Version: says.Version, number: number}, ok
}

// numberOf parses a version. A suffix, as in "1.65.0-beta", does not count.
func numberOf(version string) (number [3]int, ok bool) {
	version, _, _ = strings.Cut(version, "-")
	parts := strings.Split(version, ".")
	if len(parts) != len(number) {
		return number, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return number, false
		}
		number[i] = n
	}
	return number, true
}

// clientVersion finds the version in the header User-Agent of Playwright's clients, in
// all languages.
var clientVersion = regexp.MustCompile(`^Playwright/(\d{1,5}\.\d{1,5})\.\d`)

// VersionError is returned when no installed package serves a client of a version.
type VersionError struct {
	Client    string   // as in "1.64"
	Installed []string // likewise
}

// Error explains what to do. Playwright's clients show it as it is.
func (e *VersionError) Error() string {
	return fmt.Sprintf("Playwright version mismatch: the client is version %s, and this server has %s. Use a client of the same version, or install playwright-core@%s on the server.",
		e.Client, strings.Join(e.Installed, ", "), e.Client)
}

// choose returns the package for a client: the newest of the same minor version, or
// the newest of all for a client that does not say its version.
func choose(packages []Package, userAgent string) (Package, error) {
	if len(packages) == 0 {
		return Package{}, ErrNoPackage
	}
	wanted := clientVersion.FindStringSubmatch(userAgent)
	if wanted == nil {
		return packages[0], nil
	}
	var installed []string
	for _, p := range packages {
		if p.minor() == wanted[1] {
			return p, nil
		}
		installed = append(installed, p.minor())
	}
	return Package{}, &VersionError{Client: wanted[1], Installed: slices.Compact(installed)}
}
