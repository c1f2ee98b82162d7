package caddymodule

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// option is a line that may stand in a block of the Caddyfile.
type option struct {
	name  string
	usage string // what stands behind the name, for the error if something else does

	// set takes over what stands behind the name. It returns errCount or errValue,
	// or an error that stands for itself.
	set func(args []string) error

	// block reads the block that may follow on the line, nil if none may.
	block func(d *caddyfile.Dispenser) error

	again bool // may stand several times
}

// Errors of option.set that the usage of the option tells.
var (
	errCount = errors.New("wrong number of arguments")
	errValue = errors.New("unknown value")
)

// readBlock reads a block of options. After each of them valid checks what is
// set by then, so that its error names the line, and whole checks the rest at
// the end.
func readBlock(d *caddyfile.Dispenser, options []option, valid, whole func() error) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		i := slices.Index(namesOf(options), name)
		if i < 0 {
			return d.Errf("unrecognized option %q; known are %s", name, listed(namesOf(options), "and"))
		}
		if seen[name] && !options[i].again {
			return d.Errf("%s is set twice; keep one", name)
		}
		seen[name] = true
		if err := options[i].read(d); err != nil {
			return err
		}
		if err := valid(); err != nil {
			return d.WrapErr(err)
		}
	}
	if err := whole(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// read reads what follows the name.
func (o *option) read(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	switch err := o.set(args); err {
	case nil:
	case errCount:
		return d.Errf("%w; %s takes %s", err, o.name, o.usage)
	case errValue:
		return d.Errf("%w %q for %s; use %s", err, strings.Join(args, " "), o.name, o.usage)
	default:
		return d.WrapErr(err)
	}
	if o.block != nil {
		return o.block(d)
	}
	if nesting := d.Nesting(); d.NextBlock(nesting) {
		return d.Errf("%s takes no block", o.name)
	}
	return nil
}

func namesOf(options []option) (names []string) {
	for _, o := range options {
		names = append(names, o.name)
	}
	return names
}

// listed joins words as "a, b or c".
func listed(words []string, conjunction string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// none is for an option without arguments.
func none(args []string) error {
	if len(args) > 0 {
		return errCount
	}
	return nil
}

// one is for an option with one argument.
func one[T any](into *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 1 {
			return errCount
		}
		value, ok := parse(args[0])
		if !ok {
			return errValue
		}
		*into = value
		return nil
	}
}

// many is for an option with one or more arguments.
func many(into *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return errCount
		}
		*into = args
		return nil
	}
}

// What can stand behind an option. Zero is refused where it means the default in
// JSON: who writes it means something else.

func anyText(arg string) (string, bool) { return arg, true }
func word(arg string) (string, bool)    { return arg, arg != "" }
func onOff(arg string) (on, ok bool)    { return arg == "on", arg == "on" || arg == "off" }
func offOn(arg string) (off, ok bool)   { return arg == "off", arg == "on" || arg == "off" }

func number(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil && n != 0
}

func duration(arg string) (caddy.Duration, bool) {
	d, err := caddy.ParseDuration(arg)
	return caddy.Duration(d), err == nil && d > 0
}

// durationOr is for a duration, or "off".
func durationOr(off caddy.Duration) func(string) (caddy.Duration, bool) {
	return func(arg string) (caddy.Duration, bool) {
		if arg == "off" {
			return off, true
		}
		return duration(arg)
	}
}
