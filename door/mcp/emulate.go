package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type resizeArgs struct {
	where
	Width  int `json:"width" jsonschema:"CSS pixels"`
	Height int `json:"height" jsonschema:"CSS pixels"`
	view
}

type geolocation struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Accuracy  float64 `json:"accuracy,omitempty" jsonschema:"metres"`
}

type emulateArgs struct {
	where
	ColorScheme   string       `json:"colorScheme,omitempty" jsonschema:"light, dark or no-preference"`
	ReducedMotion string       `json:"reducedMotion,omitempty" jsonschema:"reduce or no-preference"`
	Media         string       `json:"media,omitempty" jsonschema:"screen or print"`
	Network       string       `json:"network,omitempty" jsonschema:"Slow 3G, Fast 3G, Slow 4G, Fast 4G, Offline, or none"`
	CPU           float64      `json:"cpu,omitempty" jsonschema:"how many times slower than this machine: 1 to 20"`
	Geolocation   *geolocation `json:"geolocation,omitempty" jsonschema:"where the browser is; the page may read it then"`
	Headers       []string     `json:"headers,omitempty" jsonschema:"headers of each request, as Name: value"`
	view
}

// emulationTools change what the page runs on.
var emulationTools = []tool{
	row("browser_resize", setEmulate, "Resize the page", repeats,
		"Give the page another size.", `{"width": 390, "height": 844}`, (*call).resize),
	row("browser_emulate", setEmulate, "Emulate", repeats,
		"Change what the page runs on: colours, motion, media, the speed of the network and of the machine, the place. What is left out stays.",
		`{"colorScheme": "dark", "network": "Slow 3G"}`, (*call).emulate),
}

func (c *call) resize(in resizeArgs) (*answer, error) {
	const least, most = 50, 4096
	if in.Width < least || in.Width > most || in.Height < least || in.Height > most {
		return nil, fmt.Errorf("width and height: must be between %d and %d", least, most)
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.run(ctx, "page.setViewportSize", params{"page": t.names.Page, "width": in.Width, "height": in.Height}, nil)
	})
}

// line is a connection: milliseconds, and bytes in a second.
type line struct{ latency, down, up float64 }

// lines are the conditions that Puppeteer names (PredefinedNetworkConditions), which
// developers know from Chromium's tools.
var lines = map[string]line{
	"slow 3g": {2000, 50_000, 50_000},
	"fast 3g": {562.5, 180_000, 84_375},
	"slow 4g": {562.5, 180_000, 84_375},
	"fast 4g": {165, 1_012_500, 168_750},
	"none":    {0, -1, -1},
	"offline": {0, 0, 0},
}

func (c *call) emulate(in emulateArgs) (*answer, error) {
	network, known := lines[strings.ToLower(in.Network)]
	if in.Network != "" && !known {
		return nil, fmt.Errorf("network: must be one of %s", strings.Join(slices.Sorted(maps.Keys(lines)), ", "))
	}
	if in.CPU != 0 && (in.CPU < 1 || in.CPU > 20) {
		return nil, errors.New("cpu: must be between 1 and 20")
	}
	list, err := parseHeaders(in.Headers)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for _, h := range list {
		headers[h.Name] = h.Value
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		media := params{"page": t.names.Page}
		for name, value := range map[string]string{"colorScheme": in.ColorScheme, "reducedMotion": in.ReducedMotion, "media": in.Media} {
			if value != "" {
				media[name] = value
			}
		}
		if len(media) > 1 {
			if err := t.run(ctx, "page.emulateMedia", media, nil); err != nil {
				return err
			}
		}
		if in.Headers != nil {
			if err := t.run(ctx, "page.setExtraHTTPHeaders", params{"page": t.names.Page, "headers": headers}, nil); err != nil {
				return err
			}
		}
		if g := in.Geolocation; g != nil {
			at := params{"latitude": g.Latitude, "longitude": g.Longitude, "accuracy": g.Accuracy}
			err := t.run(ctx, "context.setGeolocation", params{"geolocation": at}, nil)
			if err == nil {
				err = t.run(ctx, "context.grantPermissions", params{"permissions": []string{"geolocation"}}, nil)
			}
			if err != nil {
				return err
			}
		}
		if in.Network != "" {
			if err := c.conversation.devtools(ctx, t, "Network.emulateNetworkConditions", params{
				"offline": network.down == 0, "latency": network.latency, "downloadThroughput": network.down, "uploadThroughput": network.up,
			}); err != nil {
				return err
			}
		}
		if in.CPU != 0 {
			return c.conversation.devtools(ctx, t, "Emulation.setCPUThrottlingRate", params{"rate": in.CPU})
		}
		return nil
	})
}

// devtools sends a command of the protocol on the conversation's own session with a page. What
// the command sets lasts as long as the conversation.
func (s *conversation) devtools(ctx context.Context, t tab, method string, with params) error {
	s.mu.Lock()
	at := s.attached[t.names.Page]
	s.mu.Unlock()
	if at == "" {
		var opened struct{ Session string }
		if err := t.run(ctx, "cdp.attach", params{"page": t.names.Page}, &opened); err != nil {
			return err
		}
		at = opened.Session
		s.mu.Lock()
		s.attached[t.names.Page] = at
		s.mu.Unlock()
	}
	return t.run(ctx, "cdp.send", params{"session": at, "method": method, "params": with, "timeout": t.Timeout.Milliseconds()}, nil)
}
