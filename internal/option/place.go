package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// unknownOptionError is the error for an unknown option in a block.
type unknownOptionError struct{ name, message string }

// Error implements error.
func (e *unknownOptionError) Error() string { return e.message }

// directives are common directives of Caddy and of this module. If one occurs in a block of
// options, a brace is missing.
var directives = []string{
	"basic_auth", "encode", "file_server", "forward_auth", "handle", "handle_errors", "handle_path", "header", "import", "log", "php_fastcgi",
	"redir", "request_body", "respond", "reverse_proxy", "rewrite", "robots_guard", "robots_guard_dashboard", "robots_txt", "root", "route",
	"templates", "tls", "try_files", "uri", "vars",
}

// unknownOptionHint returns a hint about an unknown option: the right block or a similar name.
func unknownOptionHint(name string, options []Option) string {
	for _, o := range options {
		path := o.pathToNestedOption(name)
		switch {
		case path == "":
		case o.correctBlock != "":
			return fmt.Sprintf("%s is an option of %s, which is %s", name, o.Name, o.correctBlock)
		default:
			return fmt.Sprintf("%s is an option of %s; write it into %s", name, o.Name, path)
		}
	}
	if slices.Contains(directives, name) {
		return fmt.Sprintf("%s is a directive and no option; end the block with } before the directive", name)
	}
	return fmt.Sprintf("unrecognized option %q; %s", name, suggestName(name, OptionNames(options)))
}

// pathToNestedOption returns the blocks around the nested option with a name, such as "rate { ...
// }", or an empty string.
func (o *Option) pathToNestedOption(name string) string {
	for _, inner := range o.Nested {
		if inner.Name == name {
			return o.Name + " { ... }"
		}
		if path := inner.pathToNestedOption(name); path != "" {
			return o.Name + " { " + path + " }"
		}
	}
	return ""
}

// explainMissingBrace returns err, an error in the block of the option named block. If err is about
// an option of the enclosing block, it returns another error, which says that a brace is missing.
// options are the options of the enclosing block.
func explainMissingBrace(d *caddyfile.Dispenser, err error, block string, options []Option) error {
	unrecognized, ok := errors.AsType[*unknownOptionError](err)
	if !ok || !slices.ContainsFunc(options, func(o Option) bool { return o.Name == unrecognized.name && o.correctBlock == "" }) {
		return err
	}
	return d.Errf("%s is not an option of %s; end the block of %s with } before it", unrecognized.name, block, block)
}

// findErrorLine returns the position of the first option that an error names. If the option has
// several lines, the word after its name in the error selects the line. The default is blockStart.
func findErrorLine(err error, blockStart caddyfile.Dispenser, optionLines []caddyfile.Dispenser) *caddyfile.Dispenser {
	words := strings.FieldsFunc(err.Error(), func(c rune) bool { return strings.ContainsRune(" ,:;\"()", c) })
	best, firstIndex, isExact := blockStart, len(words), false
	for _, option := range optionLines {
		i := slices.Index(words, option.Val())
		if i < 0 || i > firstIndex {
			continue
		}
		line := option
		args := line.RemainingArgs()
		matchesArgument := len(args) > 0 && i+1 < len(words) && words[i+1] == args[0]
		if i < firstIndex || matchesArgument && !isExact {
			best, firstIndex, isExact = option, i, matchesArgument
		}
	}
	return &best
}

// suggestName returns a hint for a misspelled name: the most similar of the names, or all names.
func suggestName(name string, names []string) string {
	if near := text.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(names) == 1 {
		return "the only one is " + names[0]
	}
	return "known are " + JoinWords(names, "and")
}
