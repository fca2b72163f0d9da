package capture

import (
	"context"
	"strconv"
)

// AppendSSE writes the event as a server-sent event: its seq as id, its type
// as event, its JSON, which has no line breaks, as data.
func (e Event) AppendSSE(b []byte) []byte {
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = append(b, "\nevent: "...)
	b = append(b, e.Type...)
	b = append(b, "\ndata: "...)
	b = append(b, e.JSON()...)
	return append(b, '\n', '\n')
}

// Wait returns the first event with a seq over since that the filter passes.
// The error is io.EOF when the ring was closed, or ctx's cause.
func (r *Ring) Wait(ctx context.Context, since uint64, filter Filter) (Event, error) {
	reader := r.Read(since).Filter(filter)
	for {
		e, err := reader.Next(ctx)
		if err != nil || filter.Match(&e) {
			return e, err
		}
	}
}
