package files

import (
	"strings"
	"unicode"

	"takeover/text"
)

// maxName bounds a name in bytes; file systems allow 255.
const maxName = 200

// forbidden are characters with a meaning in some file system or shell.
const forbidden = `/\:*?"<>|`

// Safe turns any text, such as a server's suggestion for a download, into a file
// name. The name is empty if all characters have to be removed. A name that is
// already safe does not change.
func Safe(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(forbidden, r):
			return '_'
		case !unicode.IsPrint(r): // also characters that change the direction of text
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

// Name returns the file name that a script's path means: the last part of the
// path, because there are no folders. It is empty if the path ends without a
// name.
func Name(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "." || name == ".." {
		return ""
	}
	return Safe(name)
}
