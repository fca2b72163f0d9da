package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	proto "github.com/chromedp/cdproto/cdp"
	protoio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/page"
)

// PrintToPDF prints the page and returns the reply of Page.printToPDF. To the
// page's documents, it looks as if somebody had called window.print(); see
// Printing.
func (p *Page) PrintToPDF(ctx context.Context, params page.PrintToPDFParams) (json.RawMessage, error) {
	p.printing.Add(1)
	defer p.printing.Add(-1)
	var out json.RawMessage
	err := p.Session().Call(ctx, page.PrintToPDF.Method, params, &out)
	return out, err
}

// Printing reports whether PrintToPDF is running.
func (p *Page) Printing() bool { return p.printing.Load() > 0 }

// PDF prints the page as if on a person's printer. The result is fetched from
// Chromium in parts, while it is read. The caller must close it.
func (p *Page) PDF(ctx context.Context) (io.ReadCloser, error) {
	yes := true
	answer, err := p.PrintToPDF(ctx, page.PrintToPDFParams{
		PreferCSSPageSize: &yes, TransferMode: page.PrintToPDFTransferModeReturnAsStream,
	})
	if err != nil {
		return nil, fmt.Errorf("print: %w", p.explain(err))
	}
	var out struct {
		Stream protoio.StreamHandle `json:"stream"`
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("print: %w", err)
	}
	return &stream{ctx: ctx, page: p, handle: out.Stream}, nil
}

// streamPart is the size of one read from a stream, in bytes.
const streamPart = 256 << 10

// stream reads a stream of Chromium's IO domain.
type stream struct {
	ctx    context.Context // of the reading caller
	page   *Page
	handle protoio.StreamHandle
	part   bytes.Reader // the part that was read from Chromium but not yet returned
	end    bool
}

// Read returns bytes of the current part, or of the next one.
func (s *stream) Read(b []byte) (int, error) {
	for s.part.Len() == 0 {
		if s.end {
			return 0, io.EOF
		}
		var out struct {
			Data   string `json:"data"`
			Base64 bool   `json:"base64Encoded"`
			EOF    bool   `json:"eof"`
		}
		params := protoio.ReadParams{Handle: s.handle, Size: streamPart}
		if err := s.page.Session().Call(s.ctx, protoio.Read.Method, params, &out); err != nil {
			return 0, fmt.Errorf("read a stream: %w", s.page.explain(err))
		}
		data := []byte(out.Data)
		if out.Base64 {
			var err error
			if data, err = base64.StdEncoding.DecodeString(out.Data); err != nil {
				return 0, fmt.Errorf("read a stream: %w", err)
			}
		}
		s.part.Reset(data)
		s.end = out.EOF
	}
	return s.part.Read(b)
}

// Close lets Chromium remove the stream.
func (s *stream) Close() error {
	return s.page.Session().Call(context.WithoutCancel(s.ctx), protoio.Close.Method, protoio.CloseParams{Handle: s.handle}, new(proto.Empty))
}
