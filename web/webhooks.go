package web

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/webhook"
)

// webhooksView is the answer to GET /v1/webhooks.
type webhooksView struct {
	Webhooks []webhook.Status `json:"webhooks" doc:"The addresses."`
}

// listWebhooks handles GET /v1/webhooks.
func (s *Server) listWebhooks(c echo.Context) error {
	v := webhooksView{Webhooks: []webhook.Status{}}
	if s.cfg.Webhooks != nil {
		v.Webhooks = s.cfg.Webhooks.Statuses()
	}
	return c.JSON(http.StatusOK, v)
}

// testWebhooks handles POST /v1/webhooks/test.
func (s *Server) testWebhooks(c echo.Context) error {
	if s.cfg.Webhooks == nil {
		return &failure{kind: kindConflict, detail: "No webhook is configured: set TAKEOVER_WEBHOOKS where the server is started."}
	}
	base := s.baseURL(c.Request())
	s.cfg.Webhooks.Send(webhook.Event{
		Type: "webhook.test", Time: time.Now().UTC(), Data: map[string]string{"url": base}, Text: "A test from Takeover", Link: base,
	})
	return c.JSON(http.StatusAccepted, webhooksView{Webhooks: s.cfg.Webhooks.Statuses()})
}

// listDeliveries handles GET /v1/webhooks/deliveries.
func (s *Server) listDeliveries(c echo.Context) error {
	var all []webhook.Delivery
	if s.cfg.Webhooks != nil {
		all = s.cfg.Webhooks.Deliveries()
	}
	if text := c.QueryParam("dead"); text != "" {
		dead, err := strconv.ParseBool(text)
		if err != nil {
			return badField("dead", "must be true or false")
		}
		all = slices.DeleteFunc(all, func(d webhook.Delivery) bool { return (d.State == webhook.Dead) != dead })
	}
	return list(c, "deliveries", all, oldestFirst,
		func(d webhook.Delivery) position { return position{d.CreatedAt, d.ID} },
		func(d webhook.Delivery) webhook.Delivery { return d })
}

// retryDelivery handles POST /v1/webhooks/deliveries/:delivery/retry.
func (s *Server) retryDelivery(c echo.Context) error {
	if s.cfg.Webhooks == nil {
		return webhook.ErrNotFound
	}
	d, err := s.cfg.Webhooks.Retry(c.Param("delivery"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, d)
}
