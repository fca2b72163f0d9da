package automation

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"

	"github.com/chromedp/cdproto/dom"

	"takeover/cdp"
	"takeover/files"
)

// fileOperations are the operations of this file.
var fileOperations = table{
	"files.write":  op(false, opFilesWrite),  // {name,data(base64)} → {name,size}: replaces a file of the same name
	"files.read":   op(false, opFilesRead),   // {name,entry} → {data(base64)}: the whole file, or the first entry of a .zip whose name matches
	"files.copy":   op(false, opFilesCopy),   // {name,to} → {name,size}
	"files.delete": op(false, opFilesDelete), // {name}
}

// maxFileRead bounds a file that a client reads, in bytes, because it is sent to
// the script in one piece as base64.
const maxFileRead = 32 << 20

// folder returns the folder of files.
func (c *Client) folder() (*files.Folder, error) {
	if f := c.automation.options.Files; f != nil {
		return f, nil
	}
	return nil, errorf("this session has no folder of files")
}

// fileName converts a script's path to a file name.
func fileName(path string) (string, error) {
	if name := files.Name(path); name != "" {
		return name, nil
	}
	return "", errorf("%q is not a name of a file", path)
}

// fileError converts a file error to wording that scripts know.
func fileError(path string, err error) error {
	if errors.Is(err, files.ErrNotFound) {
		return errorf("ENOENT: no such file or directory, open '%s' (paths are names of the session's files)", path)
	}
	return err
}

type fileParams struct {
	Name string `json:"name"` // a name, or a path that ends in it
	To   string `json:"to"`
	Data string `json:"data"` // base64
}

// newFile returns the folder for a new file that a script writes at a path, and the file's
// name there.
func (c *Client) newFile(path string) (folder *files.Folder, name string, err error) {
	if folder, err = c.folder(); err != nil {
		return nil, "", err
	}
	name, err = fileName(path)
	return folder, name, err
}

type fileReadParams struct {
	Name  string `json:"name"`
	Entry string `json:"entry"` // of a .zip: a name, or a pattern as in path.Match
}

func opFilesWrite(_ context.Context, c *Client, p *fileParams) (any, error) {
	folder, name, err := c.newFile(p.Name)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil {
		return nil, errorf("data: %v", err)
	}
	info, err := folder.Write(name, bytes.NewReader(data))
	return info, err
}

func opFilesRead(ctx context.Context, c *Client, p *fileReadParams) (any, error) {
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	end, err := c.lockLarge(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var data []byte
	if p.Entry != "" {
		data, err = readEntry(folder, p.Name, p.Entry)
	} else {
		data, err = folder.Read(files.Name(p.Name), maxFileRead)
	}
	if err != nil {
		return nil, fileError(p.Name, err)
	}
	return map[string]string{"data": base64.StdEncoding.EncodeToString(data)}, nil
}

func opFilesCopy(_ context.Context, c *Client, p *fileParams) (any, error) {
	folder, to, err := c.newFile(p.To)
	if err != nil {
		return nil, err
	}
	info, err := folder.Copy(files.Name(p.Name), to)
	if err != nil {
		return nil, fileError(p.Name, err)
	}
	return info, nil
}

func opFilesDelete(_ context.Context, c *Client, p *fileParams) (any, error) {
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	if err := folder.Remove(files.Name(p.Name)); err != nil {
		return nil, fileError(p.Name, err)
	}
	return emptyJSON, nil
}

// setNamedFiles puts files of the folder into an input. Chromium reads them.
func (c *Client) setNamedFiles(ctx context.Context, t *filesParams) (any, error) {
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(t.Names))
	for i, path := range t.Names {
		if paths[i], err = folder.Path(files.Name(path)); err != nil {
			return nil, fileError(path, err)
		}
	}
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, _, err := c.retry(p, &t.target, "fileInput", callParams{Count: len(paths)})
	if err == nil {
		err = c.giveFiles(p, pl, paths)
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

// giveFiles puts files into the input that the last operation kept. Chromium
// itself dispatches the input's events.
func (c *Client) giveFiles(ctx context.Context, pl *searchRoot, paths []string) error {
	input, err := pl.layer.reference(ctx, "take", pl.task)
	if err != nil {
		return err
	}
	defer release(pl.layer.world, input.ObjectID)
	_, err = cdp.Call(ctx, pl.layer.world.Session(), dom.SetFileInputFiles, dom.SetFileInputFilesParams{ObjectID: input.ObjectID, Files: paths})
	return err
}
