package mcp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"path/filepath"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxFile bounds a file that a model reads, in bytes.
const maxFile = 16 << 20

type filesArgs struct {
	where
	Action  string  `json:"action,omitempty" jsonschema:"list (default), read, write or delete"`
	Name    string  `json:"name,omitempty" jsonschema:"the file, for all but list"`
	Content *string `json:"content,omitempty" jsonschema:"what to write"`
	Base64  bool    `json:"base64,omitempty" jsonschema:"the content is base64, read or written"`
	From    int64   `json:"from,omitempty" jsonschema:"first byte to read; default 0"`
	Length  int64   `json:"length,omitempty" jsonschema:"how many bytes to read; default: as many as fit into the answer"`
}

// fileTools reach the files of a session.
var fileTools = []tool{
	row("session_files", setCore, "Files", acts,
		"List, read, write or delete files of the session: downloads, long results of other tools, files for browser_file_upload.",
		`{"action": "read", "name": "result.json", "from": 0} or {"action": "write", "name": "cv.txt", "content": "…"}`, (*call).files),
}

func (c *call) files(in filesArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	if in.Name == "" && in.Action != "" && in.Action != "list" {
		return nil, errors.New("name: is required")
	}
	switch in.Action {
	case "", "list":
		return s.listFiles()
	case "read":
		return c.readFile(in)
	case "write":
		return s.writeFile(in)
	case "delete":
		folder, err := s.session.Files()
		if err != nil {
			return nil, err
		}
		if err := folder.Remove(in.Name); err != nil {
			return nil, err
		}
		return say("%s is deleted.", in.Name), nil
	}
	return nil, errors.New("action: must be list, read, write or delete")
}

func (s *conversation) listFiles() (*answer, error) {
	folder, err := s.session.Files()
	if err != nil {
		return nil, err
	}
	list, err := folder.List()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return say("The session has no files."), nil
	}
	a := &answer{}
	for i, f := range list {
		if i == maxListed {
			a.add("… %d more", len(list)-maxListed)
			break
		}
		a.add("- %s %d bytes", f.Name, f.Size)
	}
	return a, nil
}

// writeFile writes a file. One of the same name is replaced, as a model expects that
// writes what it has corrected.
func (s *conversation) writeFile(in filesArgs) (*answer, error) {
	if in.Content == nil {
		return nil, errors.New("content: is required")
	}
	folder, err := s.session.Files()
	if err != nil {
		return nil, err
	}
	var content io.Reader = strings.NewReader(*in.Content)
	if in.Base64 {
		raw, err := base64.StdEncoding.DecodeString(*in.Content)
		if err != nil {
			return nil, fmt.Errorf("content: is not base64: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	f, err := folder.Write(in.Name, content)
	if err != nil {
		return nil, err
	}
	return say("%s has %d bytes.", f.Name, f.Size), nil
}

// readFile answers with a part of a file: text, or a picture, or base64.
func (c *call) readFile(in filesArgs) (*answer, error) {
	folder, err := c.conversation.session.Files()
	if err != nil {
		return nil, err
	}
	file, info, err := folder.Open(in.Name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	kind := mime.TypeByExtension(filepath.Ext(in.Name))
	if strings.HasPrefix(kind, "image/") && !strings.HasPrefix(kind, "image/svg") && !in.Base64 && in.From == 0 && in.Length == 0 {
		return showPicture(file, in.Name, kind)
	}
	if info.Size > maxFile {
		return nil, fmt.Errorf("%s has %d bytes, more than a model can read. A script can: browser_run_code", in.Name, info.Size)
	}
	whole, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	whole = c.conversation.session.Monitor().Redactor().Bytes(whole) // before it is cut, because a part of a secret is not recognized
	size := int64(len(whole))
	if in.From < 0 || in.From > size {
		return nil, fmt.Errorf("from: must be between 0 and %d", size)
	}
	part := whole[in.From:]
	if in.Length > 0 {
		part = part[:min(int64(len(part)), in.Length)]
	}
	var text string
	var read int
	if in.Base64 {
		fit := part[:min(len(part), maxAnswer*2)] // base64 has about two bytes in a token
		text, read = base64.StdEncoding.EncodeToString(fit), len(fit)
	} else {
		cut := wholeCharacters(part)
		if !utf8.Valid(cut) {
			return nil, fmt.Errorf("%s is no text (%s, %d bytes): pass base64:true", in.Name, kind, size)
		}
		if len(cut) == 0 && len(part) > 0 {
			return nil, errors.New("length: is shorter than a character")
		}
		part = cut
		short, _ := clip(string(part), maxAnswer)
		text, read = short, len(short)
	}
	a := say("%s", text)
	if end := in.From + int64(read); end < size {
		a.add("… bytes %d to %d of %d: pass from %d to go on.", in.From, end, size, end)
	}
	return a, nil
}

// wholeCharacters leaves out the beginning of a character at the end of a text.
func wholeCharacters(part []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut <= len(part); cut++ {
		if last := part[len(part)-cut:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return part[:len(part)-cut]
			}
			break
		}
	}
	return part
}

// maxPicture bounds the bytes of a picture that is shown to a model.
const maxPicture = 32 << 20

func showPicture(file io.Reader, name, kind string) (*answer, error) {
	raw, err := io.ReadAll(io.LimitReader(file, maxPicture+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxPicture {
		return nil, fmt.Errorf("%s is too large to show", name)
	}
	small, kind, about := forModel(raw, kind)
	a := say("%s", name)
	if about != "" {
		a.add("The picture is %s.", about)
	}
	if small != nil {
		a.more = append(a.more, &sdk.ImageContent{Data: small, MIMEType: kind})
	}
	return a, nil
}
