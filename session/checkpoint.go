package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"takeover/checkpoints"
	"takeover/control"
	"takeover/id"
	"takeover/invalid"
	"takeover/storagestate"
	"takeover/trajectory"
)

// CheckpointOptions describe a checkpoint.
type CheckpointOptions struct {
	Task           string
	CompletedSteps []string
	PendingSteps   []string
	ExtractedData  json.RawMessage // JSON; may be nil
	IncludeStorage bool            // keep cookies and storage, too
}

// SaveCheckpoint keeps how far a task has come in a session, and which tabs are open.
// If the session is being recorded with a bundle, the checkpoint is in it, too, without
// the browser's state. seq is the number of its event, or 0.
func SaveCheckpoint(ctx context.Context, s *Session, by control.Holder, o CheckpointOptions) (saved checkpoints.Checkpoint, seq uint64, err error) {
	if _, err := s.ready(); err != nil {
		return saved, 0, err
	}
	s.Touch()
	p := checkpoints.Checkpoint{
		SessionID: s.id, Task: o.Task, CompletedSteps: o.CompletedSteps, PendingSteps: o.PendingSteps, ExtractedData: o.ExtractedData,
	}
	tabs, active := s.tabs.list()
	for _, t := range tabs {
		p.Tabs = append(p.Tabs, checkpoints.TabState{TabID: t.Tab, URL: t.URL, Title: t.Title})
		if t.Tab == active {
			p.CurrentURL = t.URL
		}
	}
	if o.IncludeStorage {
		state, err := s.StorageState(ctx)
		if err == nil {
			p.StorageState, err = json.Marshal(state)
		}
		if err != nil {
			return saved, 0, fmt.Errorf("read the browser's state: %w", err)
		}
	}
	if saved, err = s.services.settings.checkpoints.Save(ctx, p); err != nil {
		return saved, 0, err
	}
	saved.StorageState = nil
	seq = s.recording.now.Load().Checkpoint(trajectory.Event{Actor: kindOfActor(by), Tool: "checkpoint", Args: map[string]any{"id": saved.ID}}, saved)
	return saved, seq, nil
}

// Checkpoints returns the checkpoints that sessions of this server have made.
func (m *Manager) Checkpoints() *checkpoints.Checkpoints { return m.settings.checkpoints }

// LoadCheckpoint opens the tabs of a checkpoint in a session, and gives the browser the
// state of the checkpoint, if it has one. Tabs that were open before are closed. What
// it does waits while a person is in control, as other programs do. problems says which
// tabs could not be opened.
func LoadCheckpoint(ctx context.Context, s *Session, p checkpoints.Checkpoint) (problems []string, err error) {
	program, err := OpenProgram(s, control.Client(id.New("api")), ProgramOptions{})
	if err != nil {
		return nil, err
	}
	defer program.Close()
	ctx, recorded := program.Record(ctx, "checkpoint_load", json.RawMessage(fmt.Sprintf(`{"id":%q}`, p.ID)), true)
	defer func() { recorded(nil, err) }()
	client, err := program.Client(ctx)
	if err != nil {
		return nil, err
	}
	if len(p.StorageState) > 0 {
		state, err := storagestate.Parse(p.StorageState)
		if err != nil {
			return nil, fmt.Errorf("read the checkpoint's state: %w", err)
		}
		if err := client.call(ctx, "context.setStorageState", map[string]any{"state": state}, nil); err != nil {
			return nil, err
		}
	}
	return client.replaceTabs(ctx, p)
}

// loadTimeout bounds the loading of one tab of a checkpoint.
const loadTimeout = 30 * time.Second

// replaceTabs opens the tabs of a checkpoint, closes those that were open before, and
// shows the one that was shown.
func (c *Client) replaceTabs(ctx context.Context, p checkpoints.Checkpoint) (problems []string, err error) {
	before, _ := c.program.session.tabs.list()
	var show uint32
	for _, tab := range p.Tabs {
		opened, err := c.OpenTab(ctx)
		if err != nil {
			return problems, err
		}
		if tab.URL == p.CurrentURL || show == 0 {
			show = opened.Tab
		}
		err = c.call(ctx, "frame.goto", map[string]any{"frame": opened.Frame, "url": tab.URL, "waitUntil": "domcontentloaded", "timeout": loadTimeout.Milliseconds()}, nil)
		switch {
		case err == nil || tab.URL == emptyPage:
		case ctx.Err() != nil:
			return problems, err
		default:
			problems = append(problems, fmt.Sprintf("%s: %s", tab.URL, failureOf(err, nil)))
		}
	}
	if show == 0 {
		return problems, nil
	}
	for _, tab := range before {
		if err := c.CloseTab(ctx, tab.Tab); err != nil && !errors.Is(err, ErrNotFound) {
			return problems, err
		}
	}
	return problems, c.Show(ctx, show)
}

// openCheckpoint fills in what a new session takes from a checkpoint.
func (m *Manager) openCheckpoint(ctx context.Context, o *CreateOptions) error {
	if o.Checkpoint == "" {
		return nil
	}
	p, err := m.settings.checkpoints.Get(ctx, "", o.Checkpoint)
	switch {
	case errors.Is(err, checkpoints.ErrNotFound):
		return invalid.Field("checkpoint", "there is no such checkpoint")
	case err != nil:
		return err
	case o.URL != "":
		return invalid.Field("checkpoint", "cannot be combined with url: the checkpoint has the tabs")
	case len(p.StorageState) > 0 && o.State != nil:
		return invalid.Field("checkpoint", "has a state of its own, and cannot be combined with sessionContext")
	}
	o.checkpoint = &p
	return nil
}
