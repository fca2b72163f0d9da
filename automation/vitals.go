package automation

import (
	"context"
	"encoding/json"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// vitalsOperations are the operations of this file.
var vitalsOperations = table{
	// {frame,timeout} → {value: the Vitals of automation/page/vitals.ts, heapUsed: bytes}
	"frame.vitals": op(false, opVitals),
}

// vitalsResult are figures of a frame's document.
type vitalsResult struct {
	Value    json.RawMessage `json:"value"`
	HeapUsed float64         `json:"heapUsed"`
}

// opVitals reads how quickly a frame's document loaded, and how much memory its page
// uses. It collects no garbage, which would slow the page down.
func opVitals(ctx context.Context, c *Client, p *frameParams) (any, error) {
	value, err := c.read(ctx, p, "vitals")
	if err != nil {
		return nil, err
	}
	frame, err := c.frame(p.Frame)
	if err != nil {
		return nil, err
	}
	heap, err := cdp.Call(ctx, frame.Page().Session(), runtime.GetHeapUsage, proto.Empty{})
	if err != nil {
		return nil, err
	}
	return vitalsResult{value, heap.UsedSize}, nil
}
