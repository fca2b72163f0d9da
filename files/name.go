package files

import (
	"strings"
	"unicode"

	"takeover/text"
)

// maxName is the longest name in bytes; file systems allow 255.
const maxName = 200

// forbidden are characters that mean something to some file system or shell.
const forbidden = `/\:*?"<>|`

// Safe makes a name of a file of any text, such as the one that a server
// suggests for a download. It is empty when nothing of the text is left. A name
// that is safe stays as it is.
func Safe(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(forbidden, r):
			return '_'
		case !unicode.IsPrint(r): // also what turns the direction of writing round
			return -1
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, ". "), ". ")
	if len(name) <= maxName {
		return name
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || len(name)-dot > maxName/2 {
		return strings.TrimRight(text.Clip(name, maxName), ". ")
	}
	extension := name[dot:]
	return text.Clip(name[:dot], maxName-len(extension)) + extension
}

// Name is the name of the file that a script's path means: the path's last
// part, since there are no folders. It is empty for a path that ends in none.
func Name(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "." || name == ".." {
		return ""
	}
	return Safe(name)
}
