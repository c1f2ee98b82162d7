package caddymodule

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

// Receiver says where to send alerts, and which.
type Receiver struct {
	// The receiver of alerts: the http or https URL of a webhook, or the URL of a service for
	// [shoutrrr](https://shoutrrr.nickfedor.com/), such as `slack://hook:<token>@webhook`.
	// Placeholders such as `{env.ALERTS_URL}` keep secrets out of the configuration.
	URL string `json:"url"`

	// The secret for signatures of messages to a webhook. The header X-Robots-Guard-Signature
	// contains an HMAC-SHA256 of the time and the body. The value may be a placeholder. Default:
	// messages are not signed.
	Secret string `json:"secret,omitempty"`

	// The lowest severity of sent alerts: `critical`, `warning` or `info`. Default: `warning`.
	Severity string `json:"severity,omitempty"`

	// The time for which an alert waits for further alerts, from 1s to 1h. An alert that ends
	// within this time is not sent. Default: `1m`.
	Wait caddy.Duration `json:"wait,omitempty"`

	// The minimum time between two messages, from 1s to 24h. Default: `5m`.
	Interval caddy.Duration `json:"interval,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if a placeholder has no value yet.
	CaddyfileLine string `json:"at,omitempty"`
}

// receiverConfigs returns the settings of the receivers.
func (a *App) receiverConfigs() []notify.ReceiverConfig {
	configs := make([]notify.ReceiverConfig, len(a.Notify))
	for i, r := range a.Notify {
		configs[i] = notify.ReceiverConfig(r)
	}
	return configs
}
