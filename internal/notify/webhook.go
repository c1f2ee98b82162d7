package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

const (
	webhookTimeout   = 10 * time.Second
	maxResponseBytes = 4 << 10 // maxResponseBytes is the maximum number of bytes read from a response.
)

// These are the header fields of a signed message. See [Sign].
const (
	TimestampHeader = "X-Robots-Guard-Timestamp"
	SignatureHeader = "X-Robots-Guard-Signature"
)

// Sign returns the signature of a message. timestamp is the time of sending in Unix seconds. The
// signature is "v1=" and the hexadecimal HMAC-SHA256 of the timestamp, a dot and the body.
// Receivers should compare signatures in constant time and reject messages older than a few
// minutes.
func Sign(secret string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", timestamp, body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// webhook sends JSON messages by POST, signed with a secret if configured.
type webhook struct {
	url    *url.URL
	secret string
	client *http.Client
}

// servicesByHost are hosts whose webhooks do not accept our JSON, and the service of
// shoutrrr for each.
var servicesByHost = map[string]string{
	"hooks.slack.com": "slack", "discord.com": "discord", "discordapp.com": "discord",
	"ntfy.sh": "ntfy", "api.telegram.org": "telegram",
}

func newWebhook(u *url.URL, secret string) (d destination, err error) {
	switch service := servicesByHost[strings.ToLower(u.Hostname())]; {
	case u.Hostname() == "":
		return d, errors.New("the URL has no host; write one, for example https://hooks.example.com/alerts")
	case u.User != nil || u.Fragment != "":
		return d, errors.New("credentials and fragments in an http or https URL are not sent; remove them, and sign messages with the option secret")
	case service != "":
		return d, fmt.Errorf("%s does not understand the JSON of a webhook; write the URL of the service %s: %s", u.Hostname(), service, exampleURLs[service])
	}
	client := &http.Client{
		Timeout: webhookTimeout,
		// A redirect must not carry a signed message to another receiver.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return destination{name: u.Scheme + "://" + u.Host, url: u, sender: &webhook{u, secret, client}}, nil
}

// send implements sender.
func (w *webhook) send(ctx context.Context, m Message) (retryAfter time.Duration, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return noRetry, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return noRetry, removeURL(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "robots-guard")
	if w.secret != "" {
		now := m.Sent.Unix()
		request.Header.Set(TimestampHeader, strconv.FormatInt(now, 10))
		request.Header.Set(SignatureHeader, Sign(w.secret, now, body))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return 0, removeURL(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponseBytes) // Reading the body allows reuse of the connection.
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return 0, nil
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		return limit.RetryAfter(response.Header, m.Sent), fmt.Errorf("the receiver answers status %d", status)
	case status >= 300 && status < 400:
		return noRetry, fmt.Errorf("the receiver answers status %d, and redirects are not followed; set the URL to the target of the redirect", status)
	default:
		return noRetry, fmt.Errorf("the receiver answers status %d; check the URL", status)
	}
}

// removeURL returns the cause of an error without the URL, which may be a secret.
func removeURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
