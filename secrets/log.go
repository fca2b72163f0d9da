package secrets

import (
	"context"
	"log/slog"

	"takeover/redact"
)

// Handler returns a log handler that redacts the message and the values of each
// record before it passes the record to the next handler.
func Handler(next slog.Handler, r *redact.Redactor) slog.Handler { return handler{next, r} }

// handler redacts the records of a log.
type handler struct {
	slog.Handler
	redactor *redact.Redactor
}

// Handle redacts a record's message and values.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.redactor.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs keeps attributes, redacted with the secrets known at that time.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return handler{h.Handler.WithAttrs(clean), h.redactor}
}

// WithGroup opens a group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.redactor}
}

func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny:
		text := v.String()
		if clean := h.redactor.Text(text); clean != text {
			return slog.String(a.Key, clean)
		}
	case slog.KindGroup:
		group := make([]any, len(v.Group()))
		for i, inner := range v.Group() {
			group[i] = h.attr(inner)
		}
		return slog.Group(a.Key, group...)
	}
	return a
}
