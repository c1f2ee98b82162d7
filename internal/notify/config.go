package notify

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// Config is a receiver of alerts.
type Config struct {
	// Where messages are sent by POST. Placeholders such as `{env.ALERTS_URL}` keep
	// it out of the configuration.
	URL string `json:"url"`

	// What the receiver understands: `generic`, `slack`, `mattermost`, `discord` or
	// `ntfy`. Default: by the host of the URL, else `generic`.
	Format string `json:"format,omitempty"`

	// With what messages are signed, so that the receiver can tell ours from others:
	// the header X-Robots-Guard-Signature has an HMAC-SHA256 of the time and the body.
	// It may be a placeholder. Default: they are not.
	Secret string `json:"secret,omitempty"`

	// What is sent as `Authorization: Bearer`, such as an access token of ntfy. It may
	// be a placeholder. Default: nothing.
	Token string `json:"token,omitempty"`

	// The least severity that is told: `critical`, `warning` or `info`. Default:
	// `warning`.
	Severity string `json:"severity,omitempty"`

	// How long an alert waits for others to be told with, from 1s to 1h. One that is
	// over by then is told to nobody. Default: `1m`.
	Wait caddy.Duration `json:"wait,omitempty"`

	// The least time between two messages, from 1s to 24h. Default: `5m`.
	Interval caddy.Duration `json:"interval,omitempty"`

	option.Written // the line with a placeholder that nothing is filled in for
}

// The defaults, and what wait and interval may be at most.
const (
	defaultWait     = time.Minute
	defaultInterval = 5 * time.Minute
	maxWait         = time.Hour
	maxInterval     = 24 * time.Hour
)

// maxReceivers is how many there may be.
const maxReceivers = 10

// UnmarshalCaddyfile reads the block of a receiver whose URL was read. Syntax:
//
//	notify <url> {
//	    format   generic|slack|mattermost|discord|ntfy
//	    secret   <secret>
//	    token    <token>
//	    severity critical|warning|info
//	    wait     <duration>
//	    interval <duration>
//	}
func (c *Config) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	begin := *d
	if err := option.ReadBlock(d, c.Options(), c.Validate, c.Validate); err != nil {
		return err
	}
	if _, err := c.target(); err != nil {
		c.Mark(&begin)
	}
	return nil
}

// Options are what may stand in the block of a receiver.
func (c *Config) Options() []option.Option {
	return []option.Option{
		{Name: "format", Usage: option.Listed(Formats(), "or"), Set: option.One(&c.Format, option.Word)},
		{Name: "secret", Usage: "a secret, or a placeholder such as {env.ALERTS_SECRET}", Set: option.One(&c.Secret, option.Word)},
		{Name: "token", Usage: "an access token, or a placeholder such as {env.ALERTS_TOKEN}", Set: option.One(&c.Token, option.Word)},
		{Name: "severity", Usage: option.Listed(severities(), "or"), Set: option.One(&c.Severity, option.Word)},
		{Name: "wait", Usage: "a time from 1s to 1h", Set: option.One(&c.Wait, option.Duration)},
		{Name: "interval", Usage: "a time from 1s to 24h", Set: option.One(&c.Interval, option.Duration)},
	}
}

func severities() (words []string) {
	for _, s := range alert.Severities() {
		words = append(words, string(s))
	}
	return words
}

// Validate checks the values as far as that can be done without placeholders. Errors
// do not repeat a URL: it may be a secret.
func (c *Config) Validate() error {
	wait, interval := time.Duration(c.Wait), time.Duration(c.Interval)
	switch {
	case c.URL == "":
		return errors.New("notify needs a URL such as https://hooks.example.com/alerts, or a placeholder such as {env.ALERTS_URL}")
	case c.Format != "" && !slices.Contains(Formats(), c.Format):
		return fmt.Errorf("%w %q for format; use %s", option.ErrValue, c.Format, option.Listed(Formats(), "or"))
	case c.Severity != "" && !slices.Contains(severities(), c.Severity):
		return fmt.Errorf("%w %q for severity; use %s", option.ErrValue, c.Severity, option.Listed(severities(), "or"))
	case wait != 0 && (wait < time.Second || wait > maxWait):
		return fmt.Errorf("wait %s cannot be; use a time from 1s to 1h", option.Short(c.Wait))
	case interval != 0 && (interval < time.Second || interval > maxInterval):
		return fmt.Errorf("interval %s cannot be; use a time from 1s to 24h", option.Short(c.Interval))
	case strings.Contains(c.URL, "{"):
		return nil
	}
	_, err := parseURL(c.URL)
	return err
}

// ValidateAll checks all receivers of a configuration.
func ValidateAll(all []Config) error {
	if len(all) > maxReceivers {
		return fmt.Errorf("%d times notify; %d receivers are as many as can be", len(all), maxReceivers)
	}
	seen := make(map[string]bool)
	for i := range all {
		if err := all[i].Validate(); err != nil {
			return fmt.Errorf("notify: %w", err)
		}
		if seen[all[i].URL] {
			return errors.New("notify has the same URL twice; keep one")
		}
		seen[all[i].URL] = true
	}
	return nil
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("the URL of notify is no http or https URL; write one such as https://hooks.example.com/alerts")
	}
	if u.User != nil || u.Fragment != "" {
		return nil, errors.New("credentials and fragments in the URL of notify are not sent; remove them, and see the option token")
	}
	return u, nil
}

// target is where and how a receiver is told, without placeholders.
type target struct {
	url           *url.URL
	format        format
	topic         string // of ntfy
	secret, token string
}

// target fills in the placeholders.
func (c *Config) target() (t target, err error) {
	replacer := caddy.NewReplacer()
	filled := make([]string, 3)
	for i, value := range []string{c.URL, c.Secret, c.Token} {
		if filled[i], err = replacer.ReplaceOrErr(value, true, true); err != nil {
			return t, fmt.Errorf("notify: %w; set what stands between the braces", err)
		}
	}
	t.secret, t.token = filled[1], filled[2]
	if t.url, err = parseURL(strings.TrimSpace(filled[0])); err != nil {
		return t, err
	}
	name := c.Format
	if name == "" {
		name = formatOf(t.url)
	}
	t.format = formats[name]
	if name == ntfy {
		t.topic = path.Base(t.url.Path)
		if t.topic == "/" || t.topic == "." {
			return t, errors.New("notify: the URL of ntfy ends with a topic, such as https://ntfy.sh/my-alerts")
		}
		t.url.Path = strings.TrimSuffix(strings.TrimRight(t.url.Path, "/"), t.topic)
	}
	return t, nil
}

// formatOf guesses what a host understands.
func formatOf(u *url.URL) string {
	switch strings.ToLower(u.Hostname()) {
	case "hooks.slack.com":
		return slack
	case "discord.com", "discordapp.com":
		return discord
	case "ntfy.sh":
		return ntfy
	}
	return generic
}

// header returns the header of a message.
func (t *target) header() http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"robots-guard"}}
	if t.token != "" {
		header.Set("Authorization", "Bearer "+t.token)
	}
	return header
}
