package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The things that can trigger a screenshot.
const (
	TriggerError             = "error"
	TriggerPageLoad          = "page_load"
	TriggerNavigationSettled = "navigation_settled"
	TriggerScrollSettled     = "scroll_settled"
	TriggerNetworkIdle       = "network_idle"
	TriggerLayoutSettled     = "layout_settled"
)

var triggers = []string{
	TriggerError, TriggerPageLoad, TriggerNavigationSettled, TriggerScrollSettled, TriggerNetworkIdle, TriggerLayoutSettled,
}

// Config says what to capture. Everything is off by default.
type Config struct {
	Console             bool     `json:"console"`
	Network             bool     `json:"network"`
	NetworkResponseBody bool     `json:"network_response_body"` // needs Network
	Navigation          bool     `json:"navigation"`            // navigation, load, dialogs, downloads, crashes
	DOM                 bool     `json:"dom"`
	LayoutShifts        bool     `json:"layout_shifts"`
	Screenshots         bool     `json:"screenshots"`
	Targets             bool     `json:"targets"`
	Interactions        bool     `json:"interactions"`
	ComputedEvents      bool     `json:"computed_events"` // turns on what it is computed from
	ScreenshotTriggers  []string `json:"screenshot_triggers"`
}

// FieldError is what is wrong with one field of a configuration.
type FieldError struct {
	Field string `json:"field"`
	Err   string `json:"error"`
}

// ConfigError is the error of a configuration that cannot be used. It names
// every field that is wrong.
type ConfigError []FieldError

// Error lists the fields.
func (e ConfigError) Error() string {
	parts := make([]string, len(e))
	for i, f := range e {
		parts[i] = f.Field + ": " + f.Err
	}
	return "capture configuration: " + strings.Join(parts, "; ")
}

// PanelConfig is what the operator's page starts for its panel.
func PanelConfig() Config {
	return Config{Console: true, Network: true, Navigation: true, Targets: true, LayoutShifts: true, Interactions: true, ComputedEvents: true}
}

// With returns the configuration with all that the other one captures, too.
func (c Config) With(other Config) Config {
	on := c.switches() // of this copy
	for name, also := range other.switches() {
		*on[name] = *on[name] || *also
	}
	c.ScreenshotTriggers = append(slices.Clone(c.ScreenshotTriggers), other.ScreenshotTriggers...)
	return c
}

// ParseConfig reads a configuration from JSON. Unknown fields and wrong types
// are refused by name, as a ConfigError; an empty body is the default
// configuration. It does not check what Start checks.
func ParseConfig(body []byte) (Config, error) {
	var c Config
	if body = bytes.TrimSpace(body); len(body) == 0 || string(body) == "null" {
		return c, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return c, ConfigError{{Field: "", Err: "is not a JSON object"}}
	}
	switches := c.switches()
	var wrong ConfigError
	for name, raw := range fields {
		if string(raw) == "null" && (switches[name] != nil || name == "screenshot_triggers") {
			continue // as if it were not there
		}
		switch on := switches[name]; {
		case on != nil:
			if json.Unmarshal(raw, on) != nil {
				wrong = append(wrong, FieldError{name, "must be true or false"})
			}
		case name == "screenshot_triggers":
			if json.Unmarshal(raw, &c.ScreenshotTriggers) != nil {
				wrong = append(wrong, FieldError{name, "must be a list of strings"})
			}
		default:
			wrong = append(wrong, FieldError{name, "is not a field of the configuration"})
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b FieldError) int { return strings.Compare(a.Field, b.Field) })
		return Config{}, wrong
	}
	return c, nil
}

// switches returns the on-or-off fields by their names.
func (c *Config) switches() map[string]*bool {
	return map[string]*bool{
		"console": &c.Console, "network": &c.Network, "network_response_body": &c.NetworkResponseBody,
		"navigation": &c.Navigation, "dom": &c.DOM, "layout_shifts": &c.LayoutShifts, "screenshots": &c.Screenshots,
		"targets": &c.Targets, "interactions": &c.Interactions, "computed_events": &c.ComputedEvents,
	}
}

// Normalize returns the configuration as it will run: with defaults filled in
// and with what one switch needs of the others turned on, and a warning for
// each of those. The error is a ConfigError.
func (c Config) Normalize() (Config, []string, error) {
	var wrong ConfigError
	if c.NetworkResponseBody && !c.Network && !c.ComputedEvents {
		wrong = append(wrong, FieldError{"network_response_body", "needs network"})
	}
	for _, t := range c.ScreenshotTriggers {
		if !slices.Contains(triggers, t) {
			wrong = append(wrong, FieldError{"screenshot_triggers", fmt.Sprintf("%.64q is not one of %s", t, strings.Join(triggers, ", "))})
		}
	}
	if len(wrong) > 0 {
		return Config{}, nil, wrong
	}
	if c.ScreenshotTriggers == nil {
		c.ScreenshotTriggers = []string{TriggerError, TriggerNavigationSettled}
	} else {
		c.ScreenshotTriggers = slices.Clone(c.ScreenshotTriggers)
		slices.Sort(c.ScreenshotTriggers)
		c.ScreenshotTriggers = slices.Compact(c.ScreenshotTriggers)
	}
	warnings := []string{}
	if c.ComputedEvents {
		for _, need := range []struct {
			name string
			on   *bool
		}{{"network", &c.Network}, {"navigation", &c.Navigation}, {"layout_shifts", &c.LayoutShifts}, {"interactions", &c.Interactions}} {
			if !*need.on {
				*need.on = true
				warnings = append(warnings, need.name+" was turned on because computed_events needs it")
			}
		}
	}
	return c, warnings, nil
}
