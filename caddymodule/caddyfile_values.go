package caddymodule

import (
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// parseSource reads "server", "<url>" or "file <path>".
func parseSource(d *caddyfile.Dispenser) (*Source, error) {
	var s *Source
	switch args := d.RemainingArgs(); {
	case len(args) == 1 && args[0] == "server":
		return nil, nil
	case len(args) == 1 && isURL(args[0]):
		s = &Source{URL: args[0]}
	case len(args) == 2 && args[0] == "file" && args[1] != "":
		s = &Source{File: args[1]}
	case len(args) == 0:
		return nil, argErr(d, "source")
	default:
		return nil, d.Errf("source %q is not known; use server, a URL such as https://example.com/robots.txt, or file <path>", strings.Join(args, " "))
	}
	// Whether a private address is meant is known at the end of the block.
	if err := s.validate(true); err != nil {
		return nil, d.WrapErr(err)
	}
	return s, nil
}

// argErr is the error for too few or too many arguments.
func argErr(d *caddyfile.Dispenser, name string) error {
	return d.Errf("wrong number of arguments; %s takes %s", name, usage[name])
}

// isURL reports whether a source is a URL rather than a file.
func isURL(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// oneArg returns the name of the subdirective and its only argument.
func oneArg(d *caddyfile.Dispenser) (name, arg string, err error) {
	name = d.Val()
	args := d.RemainingArgs()
	if len(args) != 1 {
		return name, "", argErr(d, name)
	}
	return name, args[0], nil
}

func oneOf(d *caddyfile.Dispenser, words ...string) (string, error) {
	name, arg, err := oneArg(d)
	if err != nil {
		return "", err
	}
	for _, word := range words {
		if arg == word {
			return arg, nil
		}
	}
	return "", d.Errf("unknown value %q for %s; use %s", arg, name, usage[name])
}

func parseSwitch(d *caddyfile.Dispenser) (bool, error) {
	arg, err := oneOf(d, "on", "off")
	return arg == "on", err
}

func parseDuration(d *caddyfile.Dispenser) (caddy.Duration, error) {
	name, arg, err := oneArg(d)
	if err != nil {
		return 0, err
	}
	return durationOf(d, name, arg)
}

// parseTTL reads "<min> <max>".
func parseTTL(d *caddyfile.Dispenser) (least, most caddy.Duration, err error) {
	args := d.RemainingArgs()
	if len(args) != 2 {
		return 0, 0, argErr(d, "ttl")
	}
	if least, err = durationOf(d, "ttl", args[0]); err != nil {
		return 0, 0, err
	}
	most, err = durationOf(d, "ttl", args[1])
	return least, most, err
}

// parseGrace reads "off" or a duration.
func parseGrace(d *caddyfile.Dispenser) (caddy.Duration, error) {
	_, arg, err := oneArg(d)
	switch {
	case err != nil:
		return 0, err
	case arg == "off":
		return -1, nil
	}
	return durationOf(d, "grace", arg)
}

// parseChangeGuard reads "off" or a duration.
func parseChangeGuard(d *caddyfile.Dispenser) (caddy.Duration, error) {
	_, arg, err := oneArg(d)
	if err != nil || arg == "off" {
		return 0, err
	}
	return durationOf(d, "change_guard", arg)
}

func durationOf(d *caddyfile.Dispenser, name, arg string) (caddy.Duration, error) {
	duration, err := caddy.ParseDuration(arg)
	if err != nil || duration <= 0 {
		return 0, d.Errf("%s needs a positive duration such as 5s or 250ms, not %q", name, arg)
	}
	return caddy.Duration(duration), nil
}

func parseStatus(d *caddyfile.Dispenser) (int, error) {
	_, arg, err := oneArg(d)
	if err != nil {
		return 0, err
	}
	status, err := strconv.Atoi(arg)
	if err != nil || status < 400 || status > 599 {
		return 0, d.Errf("status %q is no error; use 403 or another one from 400 to 599", arg)
	}
	return status, nil
}

// parseWords reads one or more words that valid accepts.
func parseWords(d *caddyfile.Dispenser, valid func([]string) error) ([]string, error) {
	name := d.Val()
	words := d.RemainingArgs()
	if len(words) == 0 {
		return nil, argErr(d, name)
	}
	if err := valid(words); err != nil {
		return nil, d.Errf("%s: %v", name, err)
	}
	return words, nil
}
