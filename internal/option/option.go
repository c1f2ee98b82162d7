// Package option knows how a block of options in a Caddyfile is read: one line an
// option, each with what it takes, and errors that say it.
package option

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Option is a line that may stand in a block of the Caddyfile.
type Option struct {
	Name  string
	Usage string // what stands behind the name, for the error if something else does

	// Set takes over what stands behind the name. It returns ErrCount or ErrValue,
	// or an error that stands for itself.
	Set func(args []string) error

	// Block reads the block that may follow on the line, nil if none may.
	Block func(d *caddyfile.Dispenser) error

	// Mark is told where the option stands, once it is set; nil if that does not count.
	Mark func(d *caddyfile.Dispenser)

	Again bool // may stand several times

	// Inner are what may stand in its block, for an error where one stands beside it.
	Inner []Option

	elsewhere string // where it has its place, if that is not this block
}

// Elsewhere returns options that have no place in a block, for an error that says
// whose they are: "for one site; write it into ...".
func Elsewhere(options []Option, whose string) (others []Option) {
	for _, o := range options {
		others = append(others, Option{Name: o.Name, Inner: o.Inner, elsewhere: whose})
	}
	return others
}

// FirstNamed returns the first word that is the name of an option, "" if there is none.
func FirstNamed(options []Option, words []string) string {
	for _, word := range words {
		if slices.ContainsFunc(options, func(o Option) bool { return o.Name == word }) {
			return word
		}
	}
	return ""
}

// Errors of Option.Set that the usage of the option tells.
var (
	ErrCount = errors.New("wrong number of arguments")
	ErrValue = errors.New("unknown value")
)

// ReadBlock reads a block of options. After each of them valid checks what is
// set by then, so that its error names the line, and whole checks the rest at
// the end. An error of that names the line of the first option that it speaks of, and
// if there is none the line on which the block begins.
func ReadBlock(d *caddyfile.Dispenser, options []Option, valid, whole func() error) error {
	seen := make(map[string]bool)
	begin := *d
	var read []caddyfile.Dispenser // each at the name of an option
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return d.WrapErr(&unrecognizedError{name, placeOf(name, options)})
		}
		if options[i].elsewhere != "" {
			return d.Errf("%s is %s", name, options[i].elsewhere)
		}
		if seen[name] && !options[i].Again {
			return d.Errf("%s is set twice; remove one", name)
		}
		seen[name] = true
		here := *d
		read = append(read, here)
		if err := options[i].Read(d); err != nil {
			return beside(d, err, name, options)
		}
		if err := valid(); err != nil {
			return here.WrapErr(err)
		}
	}
	if err := whole(); err != nil {
		return spokenOf(err, begin, read).WrapErr(err)
	}
	return nil
}

// Read reads what follows the name.
func (o *Option) Read(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	switch err := o.Set(args); err {
	case nil:
	case ErrCount:
		return d.Errf("%w; %s takes %s", err, o.Name, o.Usage)
	case ErrValue:
		return d.Errf("%w %q for %s; use %s", err, strings.Join(args, " "), o.Name, o.Usage)
	default:
		return d.WrapErr(err)
	}
	if o.Mark != nil {
		o.Mark(d)
	}
	if o.Block != nil {
		return o.Block(d)
	}
	if nesting := d.Nesting(); d.NextBlock(nesting) {
		return d.Errf("%s takes no block", o.Name)
	}
	return nil
}

// Names returns the names of the options of a block in their order.
func Names(options []Option) (names []string) {
	for _, o := range options {
		if o.elsewhere == "" {
			names = append(names, o.Name)
		}
	}
	return names
}

// Listed joins words as "a, b or c".
func Listed(words []string, conjunction string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// None is for an option without arguments.
func None(args []string) error {
	if len(args) > 0 {
		return ErrCount
	}
	return nil
}

// One is for an option with one argument.
func One[T any](into *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 1 {
			return ErrCount
		}
		value, ok := parse(args[0])
		if !ok {
			return ErrValue
		}
		*into = value
		return nil
	}
}

// Two is for an option with two arguments of one kind.
func Two[T any](first, second *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 2 {
			return ErrCount
		}
		return cmp.Or(One(first, parse)(args[:1]), One(second, parse)(args[1:]))
	}
}

// Given is One where it counts whether the option stands there at all: into stays
// nil where it does not.
func Given[T any](into **T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		value := new(T)
		if err := One(value, parse)(args); err != nil {
			return err
		}
		*into = value
		return nil
	}
}

// Many is for an option with one or more arguments.
func Many(into *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return ErrCount
		}
		*into = args
		return nil
	}
}

// What can stand behind an option. Zero is refused where it means the default in
// JSON: who writes it means something else.

// AnyText takes any text, the empty one too.
func AnyText(arg string) (string, bool) { return arg, true }

// Word takes any text but the empty one.
func Word(arg string) (string, bool) { return arg, arg != "" }

// WordOf returns what takes any of some words.
func WordOf(words ...string) func(arg string) (string, bool) {
	return func(arg string) (string, bool) { return arg, slices.Contains(words, arg) }
}

// OnOff takes on and off; the value is whether it is on.
func OnOff(arg string) (on, ok bool) { return arg == "on", arg == "on" || arg == "off" }

// OffOn takes on and off; the value is whether it is off.
func OffOn(arg string) (off, ok bool) { return arg == "off", arg == "on" || arg == "off" }

// Number takes an integer other than 0.
func Number(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil && n != 0
}

// Duration takes a duration of more than 0, in days too (1d).
func Duration(arg string) (caddy.Duration, bool) {
	d, err := caddy.ParseDuration(arg)
	return caddy.Duration(d), err == nil && d > 0
}

// DurationOr takes a duration of more than 0, and "off" for the value off.
func DurationOr(off caddy.Duration) func(string) (caddy.Duration, bool) {
	return func(arg string) (caddy.Duration, bool) {
		if arg == "off" {
			return off, true
		}
		return Duration(arg)
	}
}

// Short writes a duration as it would be configured, for an error.
func Short(d caddy.Duration) string { return text.Duration(time.Duration(d)) }

// Units finds a duration that was written without a unit, which JSON takes for nanoseconds. names
// are those of the options, one for each. 1ns is left alone, which says that there is next to none:
// 0 mostly stands for the default.
func Units(names []string, durations ...caddy.Duration) error {
	for i, d := range durations {
		if d > 1 && time.Duration(d) < time.Millisecond {
			return fmt.Errorf("%s %s is too short; write a unit, in JSON as a string such as \"24h\"", names[i], time.Duration(d))
		}
	}
	return nil
}

// OneOf checks an option that takes one of these words, or none.
func OneOf(name, value string, words []string) error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%w %q for %s; use %s", ErrValue, value, name, Listed(words, "or"))
}

// UpTo checks a number that is 0 or counts something.
func UpTo(name string, n, most int) error {
	if n >= 0 && n <= most {
		return nil
	}
	return fmt.Errorf("%s %d cannot be; use %s", name, n, CountUpTo(most))
}

// CountUpTo is the usage of an option that counts something.
func CountUpTo(most int) string { return fmt.Sprintf("a number from 1 to %d", most) }
