package files

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name in bytes; file systems allow 255.
const maxName = 200

// forbidden are characters that mean something to some file system or shell.
const forbidden = `/\:*?"<>|`

// Safe makes a name of a file of any text, such as the one that a server
// suggests for a download. It is empty when nothing of the text is left. A name
// that is safe stays as it is.
func Safe(text string) string {
	text = strings.ToValidUTF8(text, "_")
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(forbidden, r):
			return '_'
		case !unicode.IsPrint(r): // also what turns the direction of writing round
			return -1
		}
		return r
	}, text)
	text = strings.TrimRight(strings.TrimLeft(text, ". "), ". ")
	if len(text) <= maxName {
		return text
	}
	dot := strings.LastIndexByte(text, '.')
	if dot < 0 || len(text)-dot > maxName/2 {
		return strings.TrimRight(clip(text, maxName), ". ")
	}
	extension := text[dot:]
	return clip(text[:dot], maxName-len(extension)) + extension
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

// clip cuts text to n bytes, between two characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
