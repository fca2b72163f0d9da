package widget

import (
	"context"
	"encoding/json"
	"fmt"

	"takeover/browser"
)

// Refusal is a permission that was refused to a page.
type Refusal struct {
	Name  string // one of Permissions
	world *browser.World
}

// Page returns the page that was refused.
func (r *Refusal) Page() *browser.Page { return r.world.Page() }

// Stands reports whether the permission is still refused. For example, a script's
// grants refuse all other permissions for a moment.
func (r *Refusal) Stands(ctx context.Context) (bool, error) {
	raw, err := call(ctx, r.world, false, "(name) => navigator.permissions.query({ name }).then(({ state }) => state === 'denied')", r.Name)
	if err != nil {
		return false, err
	}
	var stands bool
	if err := json.Unmarshal(raw, &stands); err != nil {
		return false, fmt.Errorf("state of a permission: %w", errReport)
	}
	return stands, nil
}
