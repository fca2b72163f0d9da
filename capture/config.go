package capture

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"takeover/invalid"
)

// The triggers of screenshots.
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

// Config says what to capture. All groups are off by default.
type Config struct {
	Console             bool     `json:"console" doc:"Console lines and uncaught errors."`
	Network             bool     `json:"network" doc:"Requests and responses."`
	NetworkResponseBody bool     `json:"network_response_body" doc:"Bodies of responses that are texts. Needs network."`
	Navigation          bool     `json:"navigation" doc:"Navigations, loads, dialogs, downloads, crashes."`
	DOM                 bool     `json:"dom" doc:"Changes of the document."`
	LayoutShifts        bool     `json:"layout_shifts" doc:"Shifts of the layout."`
	Screenshots         bool     `json:"screenshots" doc:"Pictures at the moments that screenshot_triggers names."`
	Targets             bool     `json:"targets" doc:"Tabs and workers that come and go."`
	Interactions        bool     `json:"interactions" doc:"Clicks, keys without their text, scrolling."`
	Actions             bool     `json:"actions" doc:"What programs do."`
	ComputedEvents      bool     `json:"computed_events" doc:"Events that follow from others, such as network_idle. Turns on what they need."`
	ScreenshotTriggers  []string `json:"screenshot_triggers" doc:"When pictures are taken. Default: error and navigation_settled."`
}

// DefaultConfig captures what is cheap: console output, requests and navigations.
// Sessions without a configuration of their own use it.
func DefaultConfig() Config { return Config{Console: true, Network: true, Navigation: true} }

// PanelConfig returns the capture that the operator's page starts for its panel.
func PanelConfig() Config {
	return Config{Console: true, Network: true, Navigation: true, Targets: true, LayoutShifts: true, Interactions: true, ComputedEvents: true}
}

// With returns the union of two configurations.
func (c Config) With(other Config) Config {
	on := c.switches() // of this copy
	for name, also := range other.switches() {
		*on[name] = *on[name] || *also
	}
	c.ScreenshotTriggers = append(slices.Clone(c.ScreenshotTriggers), other.ScreenshotTriggers...)
	return c
}

// ParseConfig returns the configuration with the given switches on. The error names
// the first one that does not exist, and all that do.
func ParseConfig(names []string) (c Config, err error) {
	on := c.switches()
	for _, name := range names {
		if on[name] == nil {
			return Config{}, fmt.Errorf("%q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(on)), ", "))
		}
		*on[name] = true
	}
	return c, nil
}

// switches returns the boolean fields by their names.
func (c *Config) switches() map[string]*bool {
	return map[string]*bool{
		"console": &c.Console, "network": &c.Network, "network_response_body": &c.NetworkResponseBody,
		"navigation": &c.Navigation, "dom": &c.DOM, "layout_shifts": &c.LayoutShifts, "screenshots": &c.Screenshots,
		"targets": &c.Targets, "interactions": &c.Interactions, "actions": &c.Actions, "computed_events": &c.ComputedEvents,
	}
}

// Normalize returns the effective configuration: with defaults, and with
// everything that a switch or trigger needs. It returns a warning for each switch
// that it turned on, and one if screenshots are on but have no trigger. The error
// is an *invalid.Error.
func (c Config) Normalize() (Config, []string, error) {
	if c.ScreenshotTriggers == nil {
		c.ScreenshotTriggers = []string{TriggerError, TriggerNavigationSettled}
	} else {
		c.ScreenshotTriggers = slices.Clone(c.ScreenshotTriggers)
		slices.Sort(c.ScreenshotTriggers)
		c.ScreenshotTriggers = slices.Compact(c.ScreenshotTriggers)
	}
	var wrong []invalid.FieldError
	if c.NetworkResponseBody && !c.Network && !c.ComputedEvents && !c.picturesComputed() {
		wrong = append(wrong, invalid.FieldError{Field: "network_response_body", Error: "needs network"})
	}
	for _, t := range c.ScreenshotTriggers {
		if !slices.Contains(triggers, t) {
			wrong = append(wrong, invalid.FieldError{Field: "screenshot_triggers", Error: fmt.Sprintf("%.64q is not one of %s", t, strings.Join(triggers, ", "))})
		}
	}
	if len(wrong) > 0 {
		return Config{}, nil, &invalid.Error{Fields: wrong}
	}
	return c, c.turnOnNeeded(), nil
}

// needs maps each screenshot trigger to the switch that it needs.
var needs = map[string]string{
	TriggerError: "console", TriggerPageLoad: "navigation",
	TriggerNavigationSettled: computedEvents, TriggerScrollSettled: computedEvents,
	TriggerNetworkIdle: computedEvents, TriggerLayoutSettled: computedEvents,
}

const computedEvents = "computed_events"

// picturesComputed reports whether computed events trigger screenshots.
func (c *Config) picturesComputed() bool {
	return c.Screenshots && slices.ContainsFunc(c.ScreenshotTriggers, func(t string) bool { return needs[t] == computedEvents })
}

// turnOnNeeded turns on what the triggers and the computed events need, and
// returns the warnings of Normalize.
func (c *Config) turnOnNeeded() (warnings []string) {
	warnings = []string{}
	switches := c.switches()
	turnOn := func(name, because string) {
		if on := switches[name]; !*on {
			*on = true
			warnings = append(warnings, fmt.Sprintf("%s was turned on because %s needs it", name, because))
		}
	}
	if c.Screenshots {
		for _, trigger := range c.ScreenshotTriggers {
			turnOn(needs[trigger], "the screenshot trigger "+trigger)
		}
		if len(c.ScreenshotTriggers) == 0 {
			warnings = append(warnings, "no screenshot will be taken because screenshot_triggers is empty")
		}
	}
	if c.ComputedEvents {
		for _, name := range []string{"network", "navigation", "layout_shifts", "interactions"} {
			turnOn(name, computedEvents)
		}
	}
	return warnings
}
