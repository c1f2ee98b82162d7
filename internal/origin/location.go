package origin

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// Location says where a robots.txt comes from, if not from the site itself.
type Location struct {
	// An http or https URL. With `decide`, `{host}` stands in it for the host that is
	// asked about.
	URL string `json:"url,omitempty"`

	// The host to ask for at that URL, if it is not its own: the site itself, past its
	// proxy. With `decide` it may be `{host}`.
	Host string `json:"host,omitempty"`

	// The path of a file. It has to be there when the configuration is loaded.
	File string `json:"file,omitempty"`

	// Whether the file may be missing, which restricts nothing.
	Optional bool `json:"optional,omitempty"`

	option.Written // the line that names a file that is not there
}

// ParseLocation reads a location as it stands in a Caddyfile: a URL, perhaps with
// "host" and a host behind it, or "file" and a path, perhaps with "optional" behind it.
// Its errors are those of [option.Option].
func ParseLocation(args []string) (*Location, error) {
	args = slices.Clone(args)
	for i := range args { // what Caddy makes of the short form
		args[i] = strings.ReplaceAll(args[i], "{http.request.host}", HostPlaceholder)
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

// Validate checks the location of an option as far as that can be done without
// using it. That of nil is the site itself.
func (l *Location) Validate(option string, allowPrivate bool) error {
	if l == nil {
		return nil
	}
	if err := l.checkPlaceholders(option); err != nil || l.File != "" && l.URL == "" && l.Host == "" {
		return err
	}
	if l.File != "" || l.URL == "" {
		return fmt.Errorf("%s needs either a URL or a file, and a host can only stand behind a URL", option)
	}
	if l.Optional {
		return errors.New(option + ": only a file can be optional; unreachable says what holds while a URL cannot be read")
	}
	if strings.ContainsAny(l.Host, "/@ ?#") {
		return fmt.Errorf("%s: %q is no host; write one such as example.com behind host, perhaps with a port", option, l.Host)
	}
	u, err := url.Parse(KeyFor(l.URL, "host.invalid"))
	if err != nil {
		return fmt.Errorf("%s %q is no URL: %w", option, l.URL, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s %q is no http or https URL; use a URL such as https://example.com/robots.txt, or file <path>", option, l.URL)
	}
	if u.Path == "" && u.RawQuery == "" {
		return fmt.Errorf("%s %q is a start page and no robots.txt; write %s/robots.txt", option, l.URL, strings.TrimRight(l.URL, "/#?"))
	}
	if u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%s %q: credentials and fragments are not sent; remove them", option, u.Redacted())
	}
	if ip, err := netip.ParseAddr(u.Hostname()); !allowPrivate && (err == nil && !addr.IsPublic(ip) || u.Hostname() == "localhost") {
		return fmt.Errorf("%s %q is a private address; write allow_private on if that is meant", option, l.URL)
	}
	return nil
}

// Source returns what reads the robots.txt, and what identifies it: "" for the site
// itself, which nil stands for. sites are those of the configuration.
func (l *Location) Source(allowPrivate bool, sites *request.Sites) (source Source, key string) {
	switch {
	case l == nil:
		server := NewServer(allowPrivate)
		server.beside = sites
		return server, ""
	case l.File != "":
		return File{Path: l.File}, l.File
	}
	return newURL(*l, allowPrivate), l.key()
}

// MarkMissing keeps the line of a file that is not there, or not yet, as on another machine.
func (l *Location) MarkMissing(d *caddyfile.Dispenser) {
	if l != nil && l.File != "" && !l.Optional && CheckFile("source", l.File, "optional") != nil {
		l.Mark(d)
	}
}
