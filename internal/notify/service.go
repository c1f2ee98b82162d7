package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// exampleURLs are URLs of services, for errors and docs.
var exampleURLs = map[string]string{
	"slack":      "slack://hook:T00000000-B00000000-000000000000000000000000@webhook",
	"discord":    "discord://<token>@<id>",
	"mattermost": "mattermost://chat.example.com/<token>",
	"ntfy":       "ntfy://<user>:<password>@ntfy.example.com/<topic>",
	"telegram":   "telegram://<token>@telegram?chats=<chat>",
	"gotify":     "gotify://gotify.example.com/<token>",
	"smtp":       "smtp://<user>:<password>@mail.example.com:587/?from=guard@example.com&to=me@example.com",
}

const (
	serviceDocsURL = "https://shoutrrr.nickfedor.com/services/overview/"
	serviceTimeout = 30 * time.Second
	maxErrorBytes  = 300 // maxErrorBytes is the maximum length of an error in bytes.
	// Most services accept 2000 characters, Pushover 1024.
	maxTextBytes     = 1900
	maxPushoverBytes = 1000
)

// shoutrrrService sends messages through the library shoutrrr.
type shoutrrrService struct {
	configuredURL *url.URL // configuredURL is the URL in the configuration, for listSecrets.
	url           string   // url is configuredURL, with a title for messages if possible.
	// sendLock contains a value while an attempt runs. shoutrrr cannot be interrupted, so an
	// attempt can exceed its timeout.
	sendLock chan struct{}
}

func newService(u *url.URL) (d destination, err error) {
	name, _, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	var serviceRouter router.ServiceRouter
	services := slices.DeleteFunc(serviceRouter.ListServices(), func(s string) bool { return s == "generic" || s == "logger" })
	if !slices.Contains(services, name) {
		slices.Sort(services)
		return d, fmt.Errorf("unknown service %.20q; use an http or https URL of a webhook, or one of %s", name, strings.Join(services, ", "))
	}
	s := &shoutrrrService{u, addTitle(u), make(chan struct{}, 1)}
	if _, err := serviceRouter.Locate(s.url); err != nil {
		example := ""
		if exampleURL := exampleURLs[name]; exampleURL != "" {
			example = " write " + exampleURL + ", and"
		}
		return d, fmt.Errorf("the URL is not valid for the service %s;%s see %s", name, example, serviceDocsURL)
	}
	return destination{name: name, url: u, sender: s}, nil
}

// addTitle returns the URL of a service with a title for messages, if the service supports titles
// and the URL has none.
func addTitle(u *url.URL) string {
	query := u.Query()
	if query.Has("title") || query.Has("subject") {
		return u.String()
	}
	server, _ := os.Hostname()
	query.Set("title", "Robots Guard on "+server)
	titled := *u
	titled.RawQuery = query.Encode()
	if _, err := new(router.ServiceRouter).Locate(titled.String()); err != nil {
		return u.String()
	}
	return titled.String()
}

// send implements sender. Services are stateful, so each attempt creates a new service.
func (s *shoutrrrService) send(ctx context.Context, m Message) (retryAfter time.Duration, err error) {
	select {
	case s.sendLock <- struct{}{}:
	default:
		return 0, errors.New("the previous attempt to send has not ended yet")
	}
	sender, err := new(router.ServiceRouter).Locate(s.url)
	if err != nil {
		<-s.sendLock
		return noRetry, s.removeSecrets(err)
	}
	maxBytes := maxTextBytes
	if sender.GetID() == "pushover" {
		maxBytes = maxPushoverBytes
	}
	result := make(chan error, 1)
	go func() {
		defer func() { <-s.sendLock }()
		// The Zulip service of shoutrrr 0.13.2 panics if its host cannot be reached.
		defer func() {
			if p := recover(); p != nil {
				result <- fmt.Errorf("the service failed: %v", p)
			}
		}()
		if err := checkReachable(ctx, sender.GetID()); err != nil {
			result <- err
			return
		}
		result <- sender.Send(m.plainText(maxBytes), nil)
	}()
	select {
	case err := <-result:
		if err != nil {
			return 0, s.removeSecrets(err)
		}
		return 0, nil
	case <-time.After(serviceTimeout):
		return 0, fmt.Errorf("the service did not answer within %s", serviceTimeout)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// checkReachable sends a request to the API of Telegram, because the Telegram service of shoutrrr
// 0.13.2 returns no error for a failed connection. Then the alert would be recorded as sent.
func checkReachable(ctx context.Context, name string) error {
	if name != "telegram" {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://api.telegram.org/", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// removeSecrets removes all parts of the service's URL from an error. Errors can include the
// requested URL, which contains the token in another form.
func (s *shoutrrrService) removeSecrets(err error) error {
	message := removeURL(err).Error()
	for _, secret := range listSecrets(s.configuredURL) {
		message = strings.ReplaceAll(message, secret, "…")
	}
	return errors.New(text.Truncate(text.Printable(message), maxErrorBytes))
}

// minSecret is the minimum length of a secret in bytes.
const minSecret = 4

// listSecrets returns the possible secrets in a URL, longest first: user, password, host, path,
// values, and the words in these parts.
func listSecrets(u *url.URL) []string {
	password, _ := u.User.Password()
	parts := append([]string{u.User.Username(), password, u.Host}, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	secrets := make(map[string]bool)
	for _, part := range parts {
		words := strings.FieldsFunc(part, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		for _, secret := range append(words, part) {
			for _, encoded := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				if len(encoded) >= minSecret {
					secrets[encoded] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(secrets), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y))
	})
}
