package caddymodule

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// Location is the URL or file of a robots.txt. A nil *Location means the site itself.
type Location struct {
	// An http or https URL. With `decide`, the placeholder `{host}` means the host of the described
	// request.
	URL string `json:"url,omitempty"`

	// The host to request at that URL, if different from the host of the URL. Use the option to
	// reach the site behind its proxy. With `decide` the value may be `{host}`.
	Host string `json:"host,omitempty"`

	// The path of a file. The file must exist when the configuration is loaded, unless Optional is
	// true.
	File string `json:"file,omitempty"`

	// Whether the file may be missing. A missing file restricts nothing.
	Optional bool `json:"optional,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if the file does not exist.
	CaddyfileLine string `json:"at,omitempty"`
}

// ParseLocation parses the arguments of a Caddyfile option whose value is a location:
//
//	<url> [host <host>]
//	file <path> [optional]
//
// An error is [option.ErrCount] or [option.ErrValue]. Validate checks the URL, the host and the
// file.
func ParseLocation(args []string) (*Location, error) {
	args = slices.Clone(args)
	for i := range args { // The Caddyfile adapter replaces {host} with {http.request.host}.
		args[i] = strings.ReplaceAll(args[i], "{http.request.host}", site.HostPlaceholder)
	}
	switch isURL := len(args) > 0 && (strings.HasPrefix(args[0], "https://") || strings.HasPrefix(args[0], "http://")); {
	case len(args) == 0:
		return nil, option.ErrCount
	case len(args) == 1 && isURL:
		return &Location{URL: args[0]}, nil
	case len(args) == 3 && isURL && args[1] == "host" && args[2] != "":
		return &Location{URL: args[0], Host: args[2]}, nil
	case len(args) == 2 && args[0] == "file" && args[1] != "":
		return &Location{File: args[1]}, nil
	case len(args) == 3 && args[0] == "file" && args[1] != "" && args[2] == "optional":
		return &Location{File: args[1], Optional: true}, nil
	}
	return nil, option.ErrValue
}

// Validate returns an error for an invalid location. It opens neither the file nor the URL. option
// is the name of the option in messages. allowPrivate accepts a URL with a private address. A nil
// *Location is valid.
func (l *Location) Validate(option string, allowPrivate bool) error {
	if l == nil {
		return nil
	}
	if err := l.checkPlaceholders(option); err != nil || l.File != "" && l.URL == "" && l.Host == "" {
		return err
	}
	if l.File != "" || l.URL == "" {
		return fmt.Errorf("%s needs either a URL or a file, and host needs a URL", option)
	}
	if l.Optional {
		return errors.New(option + ": only a file can be optional; for a URL that cannot be read, use the option unreachable")
	}
	if strings.ContainsAny(l.Host, "/@ ?#") {
		return fmt.Errorf("%s: %q is not a host; write a host such as example.com after host, optionally with a port", option, l.Host)
	}
	u, err := url.Parse(site.KeyForHost(l.URL, "host.invalid"))
	if err != nil {
		return fmt.Errorf("%s %q is not a URL: %w", option, l.URL, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s %q is not an http or https URL; use a URL such as https://example.com/robots.txt, or file <path>", option, l.URL)
	}
	if u.Path == "" && u.RawQuery == "" {
		return fmt.Errorf("%s %q is the URL of a start page, not of a robots.txt; write %s/robots.txt", option, l.URL, strings.TrimRight(l.URL, "/#?"))
	}
	if u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%s %q: credentials and fragments are not sent; remove them", option, u.Redacted())
	}
	if ip, err := netip.ParseAddr(u.Hostname()); !allowPrivate && (err == nil && !addr.IsPublic(ip) || u.Hostname() == "localhost") {
		return fmt.Errorf("%s %q is a private address; if intended, write allow_private on", option, l.URL)
	}
	return nil
}

// HasHost reports whether the location contains {host}, so that each host has its own robots.txt.
// It is false for a nil *Location.
func (l *Location) HasHost() bool {
	return l != nil && strings.Contains(l.URL+l.Host, site.HostPlaceholder)
}

// checkPlaceholders returns an error for a placeholder that nothing replaces. With its braces in
// the path, the file would be missing or the URL would return 404, and both allow everything.
func (l *Location) checkPlaceholders(option string) error {
	if strings.Contains(l.File, site.HostPlaceholder) {
		return fmt.Errorf("%s file: %s has no value, because all hosts of the site share one file; remove the placeholder", option, site.HostPlaceholder)
	}
	for _, s := range []string{site.KeyForHost(l.URL, ""), site.KeyForHost(l.Host, ""), l.File} {
		_, rest, _ := strings.Cut(s, "{")
		switch name, _, ok := strings.Cut(rest, "}"); {
		case !ok:
		case strings.HasPrefix(name, "env."):
			return fmt.Errorf("%s: {%s} has no value; an environment variable is written as {$NAME} in a Caddyfile", option, name)
		default:
			return fmt.Errorf("%s: {%s} has no value; write the value", option, name)
		}
	}
	return nil
}
