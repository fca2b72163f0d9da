package session

import (
	"context"
	"errors"
	"time"

	"takeover/background"
	"takeover/browser"
	"takeover/capture"
)

// Log returns the console output and errors of pages and workers, and the results
// of scripts, as Markdown.
func (s *Session) Log() string {
	if s.earlier.info != nil {
		return s.recallLog()
	}
	running := s.runs.current()
	if running == nil {
		return s.said.Markdown(nil)
	}
	return s.said.Markdown(running.head)
}

// Log returns the console output of pages and workers during the run, and the
// run's result, as Markdown. For a running run, it returns the log so far.
func (r *Run) Log() string {
	if !r.archived {
		return r.said.Markdown(r.head())
	}
	head, detail := r.head(), r.recall()
	head.Result = string(detail.Result)
	return background.Markdown(head, detail.Said)
}

// head describes the run for its log. The result of a run from an earlier process
// is missing.
func (r *Run) head() background.Head {
	r.mu.Lock()
	info := r.info
	r.mu.Unlock()
	r.time(&info)
	h := background.Head{
		Target: r.session.tabs.target(), At: info.CreatedAt, Duration: time.Duration(info.DurationMS) * time.Millisecond,
		Running: !info.Status.Ended(), Result: string(info.Result),
	}
	if info.EndedAt != nil {
		h.At = *info.EndedAt
	}
	if e := info.Error; e != nil {
		if h.Error = e.Stack; h.Error == "" {
			h.Error = e.Name + ": " + e.Message
		}
	}
	return h
}

// atRest waits until a page has come to rest.
func (s *Session) atRest(ctx context.Context, p *browser.Page) error {
	err := s.monitor.Rest(ctx, string(p.ID()), func(ctx context.Context) capture.Earlier {
		activity := p.Activity(ctx)
		earlier := capture.Earlier{LoadedAt: activity.LoadedAt, RequestAt: activity.RequestAt}
		for _, u := range activity.UnderWay {
			earlier.UnderWay = append(earlier.UnderWay, capture.UnderWay(u))
		}
		return earlier
	})
	if errors.Is(err, capture.ErrTargetGone) {
		return browser.ErrPageClosed
	}
	return err
}
