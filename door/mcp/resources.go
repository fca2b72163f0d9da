package mcp

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/session"
)

const (
	// maxResource bounds a file that a host reads as a resource, in bytes.
	// session_files reads parts of larger ones.
	maxResource = 4 << 20

	// maxResources bounds the list of a caller's files.
	maxResources = 200

	// fileTemplate is the form of the addresses of files.
	fileTemplate = "takeover://sessions/{session}/files/{name}"
)

// fileURI returns the address of a session's file.
func fileURI(session, name string) string {
	return "takeover://sessions/" + url.PathEscape(session) + "/files/" + url.PathEscape(name)
}

// parseFileURI returns the session and the name of a file.
func parseFileURI(uri string) (session, name string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "takeover://sessions/")
	if !ok {
		return "", "", false
	}
	session, name, ok = strings.Cut(rest, "/files/")
	if !ok {
		return "", "", false
	}
	session, err := url.PathUnescape(session)
	if err != nil {
		return "", "", false
	}
	name, err = url.PathUnescape(name)
	return session, name, err == nil
}

// addFiles offers the files of sessions as resources, which hosts show to people.
func (d *Door) addFiles(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: fileTemplate, Name: "session-file", Title: "File of a session", Description: "A download, or a long result of a tool."}, d.readFileResource)
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*sdk.ListResourcesResult); ok && err == nil && list.NextCursor == "" {
				list.Resources = append(list.Resources, d.fileResources(callerOf(ctx))...)
			}
			return result, err
		}
	})
}

// fileResources lists the files of the sessions that a caller has created.
func (d *Door) fileResources(caller Caller) (list []*sdk.Resource) {
	for _, s := range d.conversations.ownOf(caller) {
		folder, err := s.Files()
		if err != nil {
			continue // it has just ended
		}
		files, err := folder.List()
		if err != nil {
			continue // likewise
		}
		for _, f := range files {
			if len(list) == maxResources {
				return list
			}
			list = append(list, &sdk.Resource{
				URI: fileURI(s.ID(), f.Name), Name: f.Name, Size: f.Size, MIMEType: mime.TypeByExtension(filepath.Ext(f.Name)),
				Description: "File of the session " + s.ID() + ".",
			})
		}
	}
	return list
}

// readFileResource reads a file: text without what people typed into secret fields, and
// anything else as it is.
func (d *Door) readFileResource(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id, name, ok := parseFileURI(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	s, err := d.o.Manager.Get(id)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	contents, err := readResource(s, name)
	if err != nil {
		return nil, err
	}
	if contents == nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	contents.URI = uri
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// readResource returns a file's content, or nil if there is no such file.
func readResource(s *session.Session, name string) (*sdk.ResourceContents, error) {
	folder, err := s.Files()
	if err != nil {
		return nil, err
	}
	file, info, err := folder.Open(name)
	if err != nil {
		return nil, nil //nolint:nilnil // documented
	}
	defer file.Close()
	if info.Size > maxResource {
		return nil, fmt.Errorf("%s has %d bytes, more than %d: session_files reads parts of it", name, info.Size, maxResource)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxResource))
	if err != nil {
		return nil, err
	}
	contents := &sdk.ResourceContents{MIMEType: mime.TypeByExtension(filepath.Ext(name))}
	raw = s.Monitor().Redactor().Bytes(raw)
	if utf8.Valid(raw) {
		contents.Text = string(raw)
	} else {
		contents.Blob = raw
	}
	return contents, nil
}
