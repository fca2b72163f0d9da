package widget

import (
	"context"
	"encoding/json"
	"fmt"

	"takeover/browser"
)

// Refusal is a permission that a page does not have any more.
type Refusal struct {
	Name  string // one of Permissions
	world *browser.World
}

// Page is the page that was refused.
func (r *Refusal) Page() *browser.Page { return r.world.Page() }

// Stands reports whether it is refused still. Others than the page may have caused
// it for a moment, such as a script's grants, which refuse everything else.
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
