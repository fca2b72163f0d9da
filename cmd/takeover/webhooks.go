//go:build linux

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"takeover/egress"
	"takeover/limits"
	"takeover/store"
	"takeover/web"
	"takeover/webhook"
)

// webhookSecretFile is the file in the data directory with the secret that signs
// webhooks, unless TAKEOVER_WEBHOOK_SECRET is set.
const webhookSecretFile = "webhook-secret"

// webhookTime is how long the server, when it stops, waits for the last webhooks
// to be delivered. The others are sent after its next start.
const webhookTime = 3 * time.Second

// webhooks starts the sender of webhooks. It returns nil if no address is
// configured.
func (s *serveCommand) webhooks(ctx context.Context, kept *store.Store, policy *egress.Policy, hits *limits.Hits, log *slog.Logger) (*webhook.Sender, error) {
	if len(s.Webhooks) == 0 {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	server, err := store.ServerID(s.DataDir)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	traffic := egress.NewTraffic(egress.TrafficOptions{Policy: policy.ForOperator(), Limits: hits, Blocked: func(b *egress.BlockedError) {
		log.Warn("a webhook's address is refused", "host", b.Host, "address", b.Address, "reason", b.Reason)
	}})
	o := webhook.Options{Store: kept, Server: server, Secret: os.Getenv("TAKEOVER_WEBHOOK_SECRET"), UserAgent: "takeover/" + version(), Logger: log, Limits: hits, Dial: traffic.DialProxy}
	for i, address := range s.Webhooks {
		e, err := webhook.ParseEndpoint(address)
		if err != nil {
			return nil, usage("--webhooks: address %d %w", i+1, err)
		}
		o.Endpoints = append(o.Endpoints, e)
	}
	if o.Secret == "" {
		if o.Secret, err = web.LoadSecret(s.DataDir, webhookSecretFile, webhook.NewSecret); err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
	}
	return webhook.New(ctx, o)
}

// tellLimit tells whoever gets webhooks that a limit of the server was reached.
func tellLimit(hooks *webhook.Sender, r limits.Reached, page string) {
	hooks.Send(webhook.Event{
		Type: "limit.reached", Time: time.Now().UTC(), Data: r, Link: page,
		Text: fmt.Sprintf("A limit of the server was reached: %s (times: %d)", r.Limit, r.Times),
	})
}

func closeWebhooks(ctx context.Context, hooks *webhook.Sender) {
	if hooks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, webhookTime)
	defer cancel()
	hooks.Close(ctx)
}
