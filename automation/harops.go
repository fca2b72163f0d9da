package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"takeover/browser"
	"takeover/files"
	"takeover/har"
)

// recordingOperations record events into files of the session.
var recordingOperations = table{
	// {context|page,content: embed|attach|omit,minimal,urls: regular expression|absent} → {har}
	"har.start": op(false, opStartHAR),
	// {har,path}: writes the file. Bodies in separate files go beside it or, for
	// a .zip, into it.
	"har.stop": op(false, opStopHAR),

	// {context,screenshots,network} → {trace}: records calls that have a name in
	// the parameter tracedAs.
	"trace.start": op(false, opStartTrace),
	// {trace,path,events,stacks}: writes what was recorded since the last write,
	// all requests since the start, and the events from the script. Without a
	// path, what was recorded since the last write is dropped.
	"trace.write": op(false, opWriteTrace),
	"trace.stop":  op(false, opStopTrace), // {trace}
}

type harStartParams struct {
	Context string `json:"context"`
	Page    string `json:"page"`
	Content string `json:"content"`
	Minimal bool   `json:"minimal"`
	URLs    string `json:"urls"`
}

func opStartHAR(_ context.Context, c *Client, p *harStartParams) (any, error) {
	switch p.Content {
	case contentEmbed, contentAttach, contentOmit:
	default:
		return nil, errorf("content: expected one of (omit|embed|attach)")
	}
	var page *browser.Page
	bc, err := c.contextOf(p.Context)
	if p.Page != "" {
		if page, err = c.page(p.Page); err == nil {
			bc = page.Context()
		}
	}
	if err != nil {
		return nil, err
	}
	r := newRecorder(c, bc, page, p.Content, p.Minimal)
	if p.URLs != "" {
		pattern, err := regexp.Compile(p.URLs)
		if err != nil {
			return nil, errorf("urlFilter: this regular expression cannot be used here: %v", err)
		}
		r.wanted = pattern.MatchString
	}
	if err := c.recordings.add(r); err != nil {
		return nil, err
	}
	for _, known := range c.automation.browser.Pages() {
		r.addPage(known)
	}
	return map[string]string{"har": c.idOf("har", r)}, nil
}

type harStopParams struct {
	HAR  string `json:"har"`
	Path string `json:"path"`
}

func opStopHAR(ctx context.Context, c *Client, p *harStopParams) (any, error) {
	r, err := lookup[*recorder](c, "recording", p.HAR)
	if err != nil {
		return nil, err
	}
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	name, err := fileName(p.Path)
	if err != nil {
		return nil, err
	}
	c.forget(r)
	defer r.release()
	r.finishReading(ctx)
	r.end()
	r.hide()
	text, err := c.harText(r.order, r.entries)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".zip") {
		archive, err := archived(append([]attached{{"har.har", text}}, r.files...))
		if err != nil {
			return nil, err
		}
		return emptyJSON, write(folder, name, archive)
	}
	for _, a := range r.files {
		if err := write(folder, a.name, a.data); err != nil {
			return nil, err
		}
	}
	return emptyJSON, write(folder, name, text)
}

func write(folder *files.Folder, name string, data []byte) error {
	_, err := folder.Write(name, bytes.NewReader(data))
	return err
}

// harText returns a HAR as the text of its file.
func (c *Client) harText(pages []*harPage, entries []*harEntry) ([]byte, error) {
	if entries == nil {
		entries = []*harEntry{}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(harFile{harLog{
		Version: har.Version, Creator: har.Program{Name: "Takeover", Version: "1"}, Browser: c.describeBrowser(), Pages: pages, Entries: entries,
	}})
	return c.options.Hide(out.Bytes()), err
}
