package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// unrecognizedError is the error for an unknown option in a block.
type unrecognizedError struct{ name, says string }

// Error implements error.
func (e *unrecognizedError) Error() string { return e.says }

// directives are common directives of Caddy and of this module. If one occurs in a block of
// options, a brace is missing.
var directives = []string{
	"basic_auth", "encode", "file_server", "forward_auth", "handle", "handle_errors", "handle_path", "header", "import", "log", "php_fastcgi",
	"redir", "request_body", "respond", "reverse_proxy", "rewrite", "robots_guard", "robots_guard_dashboard", "robots_txt", "root", "route",
	"templates", "tls", "try_files", "uri", "vars",
}

// placeOf returns a hint about an unknown option: the right block or a similar name.
func placeOf(name string, options []Option) string {
	for _, o := range options {
		path := o.pathTo(name)
		switch {
		case path == "":
		case o.elsewhere != "":
			return fmt.Sprintf("%s is an option of %s, which is %s", name, o.Name, o.elsewhere)
		default:
			return fmt.Sprintf("%s is an option of %s; write it into %s", name, o.Name, path)
		}
	}
	if slices.Contains(directives, name) {
		return fmt.Sprintf("%s is a directive and no option; end the block with } before it", name)
	}
	return fmt.Sprintf("unrecognized option %q; %s", name, hintOf(name, Names(options)))
}

// pathTo returns the blocks from an option to an inner option, or an empty string.
func (o *Option) pathTo(name string) string {
	for _, inner := range o.Inner {
		if inner.Name == name {
			return o.Name + " { ... }"
		}
		if path := inner.pathTo(name); path != "" {
			return o.Name + " { " + path + " }"
		}
	}
	return ""
}

// beside returns the error of the block of an option. If an unknown option belongs next to the
// block, the error says so.
func beside(d *caddyfile.Dispenser, err error, block string, options []Option) error {
	wrong, ok := errors.AsType[*unrecognizedError](err)
	if !ok || !slices.ContainsFunc(options, func(o Option) bool { return o.Name == wrong.name && o.elsewhere == "" }) {
		return err
	}
	return d.Errf("%s is not an option of %s; end the block of %s with } before it", wrong.name, block, block)
}

// spokenOf returns the position of the option that an error mentions first. If the option has
// several lines, the word after its name in the error selects the line. The default is begin.
func spokenOf(err error, begin caddyfile.Dispenser, read []caddyfile.Dispenser) *caddyfile.Dispenser {
	words := strings.FieldsFunc(err.Error(), func(c rune) bool { return strings.ContainsRune(" ,:;\"()", c) })
	at, first, exact := begin, len(words), false
	for _, option := range read {
		i := slices.Index(words, option.Val())
		if i < 0 || i > first {
			continue
		}
		line := option
		args := line.RemainingArgs()
		follows := len(args) > 0 && i+1 < len(words) && words[i+1] == args[0]
		if i < first || follows && !exact {
			at, first, exact = option, i, follows
		}
	}
	return &at
}

// hintOf suggests names that are similar to a misspelled name.
func hintOf(name string, names []string) string {
	if near := text.Near(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(names) == 1 {
		return "the only one is " + names[0]
	}
	return "known are " + Listed(names, "and")
}
