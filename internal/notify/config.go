package notify

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// ReceiverConfig is the configuration of one receiver of alerts.
type ReceiverConfig struct {
	URL            string // URL is the URL of a webhook or service. It may contain placeholders.
	Secret         string // Secret signs the messages to a webhook. "" means no signature.
	Severity       string // Severity is the minimum severity, or "" for the default.
	Wait, Interval caddy.Duration
	// CaddyfileLine is the place in the Caddyfile, for a later error message. It is "" if the
	// destination was valid when the Caddyfile was read.
	CaddyfileLine string
}

// These are the defaults, and the maximums of wait and interval.
const (
	defaultWait     = time.Minute
	defaultInterval = 5 * time.Minute
	maxWait         = time.Hour
	maxInterval     = 24 * time.Hour
)

// maxReceivers is the maximum number of receivers.
const maxReceivers = 10

// UnmarshalCaddyfile reads the block of a receiver, after its URL. Syntax:
//
//	notify <url> {
//	    secret   <secret>
//	    severity critical|warning|info
//	    wait     <duration>
//	    interval <duration>
//	}
func (c *ReceiverConfig) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	start := *d
	if err := option.ReadBlock(d, c.Options(), c.Validate, c.Validate); err != nil {
		return err
	}
	if _, err := c.resolveDestination(); err != nil {
		c.CaddyfileLine = option.CaddyfileLine(&start)
	}
	return nil
}

// Options returns the options that the block of a receiver can contain.
func (c *ReceiverConfig) Options() []option.Option {
	return []option.Option{
		{Name: "secret", Usage: "a secret, or a placeholder, for example {env.ALERTS_SECRET}", ParseArguments: option.ParseOneArgument(&c.Secret, option.AcceptNonEmptyString)},
		{Name: "severity", Usage: option.JoinWords(severityWords(), "or"), ParseArguments: option.ParseOneArgument(&c.Severity, option.AcceptNonEmptyString)},
		{Name: "wait", Usage: "a time from 1s to 1h", ParseArguments: option.ParseOneArgument(&c.Wait, option.ParseDuration)},
		{Name: "interval", Usage: "a time from 1s to 24h", ParseArguments: option.ParseOneArgument(&c.Interval, option.ParseDuration)},
	}
}

func severityWords() (words []string) {
	for _, s := range alert.Severities() {
		words = append(words, string(s))
	}
	return words
}

// Validate checks the values. It cannot check a URL with placeholders. Errors do not contain the
// URL, because it may be a secret.
func (c *ReceiverConfig) Validate() error {
	wait, interval := time.Duration(c.Wait), time.Duration(c.Interval)
	switch {
	case c.URL == "":
		return errors.New("notify needs a URL such as https://hooks.example.com/alerts, or a placeholder, for example {env.ALERTS_URL}")
	case c.Severity != "" && !slices.Contains(severityWords(), c.Severity):
		return fmt.Errorf("%w %q for severity; use %s", option.ErrValue, c.Severity, option.JoinWords(severityWords(), "or"))
	case wait != 0 && (wait < time.Second || wait > maxWait):
		return fmt.Errorf("wait %s is out of range; use a time from 1s to 1h", option.FormatDuration(c.Wait))
	case interval != 0 && (interval < time.Second || interval > maxInterval):
		return fmt.Errorf("interval %s is out of range; use a time from 1s to 24h", option.FormatDuration(c.Interval))
	case strings.Contains(c.URL, "{"):
		return nil
	}
	_, err := newDestination(c.URL, c.Secret)
	return err
}

// ValidateAll checks all receivers of a configuration, including their number and duplicates.
func ValidateAll(configs []ReceiverConfig) error {
	if len(configs) > maxReceivers {
		return fmt.Errorf("notify is set %d times; the maximum is %d receivers", len(configs), maxReceivers)
	}
	seenURLs := make(map[string]bool)
	for i := range configs {
		if err := configs[i].Validate(); err != nil {
			return fmt.Errorf("notify: %w", err)
		}
		if seenURLs[configs[i].URL] {
			return errors.New("notify has the same URL twice; remove one")
		}
		seenURLs[configs[i].URL] = true
	}
	return nil
}

// destination is a webhook or service to which a receiver sends messages.
type destination struct {
	// name is for logs and responses: scheme and host of a webhook, or the name of the service. The
	// other parts of a URL may be secrets.
	name string
	url  *url.URL
	sender
}

// resolveDestination replaces the placeholders in the URL and the secret, and returns their
// destination.
func (c *ReceiverConfig) resolveDestination() (d destination, err error) {
	replacer := caddy.NewReplacer()
	values := make([]string, 2)
	for i, value := range []string{c.URL, c.Secret} {
		if values[i], err = replacer.ReplaceOrErr(value, true, true); err != nil {
			return d, fmt.Errorf("notify: %w; set the value of the placeholder", err)
		}
	}
	if d, err = newDestination(strings.TrimSpace(values[0]), values[1]); err != nil {
		return d, fmt.Errorf("notify: %w", err)
	}
	return d, nil
}

// newDestination returns the destination for a URL without placeholders, and sends nothing. An
// invalid URL is an error.
func newDestination(rawURL, secret string) (d destination, err error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil || u.Scheme == "" || !strings.Contains(rawURL, "://"):
		return d, errors.New("the value is not a URL; write the URL of a webhook, for example https://hooks.example.com/alerts, or of a service, for example " + exampleURLs["slack"])
	case u.Scheme == "http" || u.Scheme == "https":
		return newWebhook(u, secret)
	case secret != "":
		return d, errors.New("secret works only with an http or https URL; remove the option")
	}
	return newService(u)
}
