// Package option parses blocks of options in a Caddyfile. Each option is one line. Errors describe
// the correct usage.
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

// Option is a line in a block of the Caddyfile.
type Option struct {
	Name  string
	Usage string // the expected arguments, for errors

	// Set parses the arguments. It returns ErrCount, ErrValue, or an error with a complete message.
	Set func(args []string) error

	// Block parses the block after the line. It is nil for an option without a block.
	Block func(d *caddyfile.Dispenser) error

	// Mark gets the position of the option after Set. It may be nil.
	Mark func(d *caddyfile.Dispenser)

	Again bool // the option may be repeated

	// Inner are the options of the block, for the error about an option outside of the block.
	Inner []Option

	elsewhere string // the correct block, if different from this block
}

// Elsewhere returns options that belong to another block. whose completes the error message, for
// example "for one site; write it into ...".
func Elsewhere(options []Option, whose string) (others []Option) {
	for _, o := range options {
		others = append(others, Option{Name: o.Name, Inner: o.Inner, elsewhere: whose})
	}
	return others
}

// FirstNamed returns the first word that is the name of an option, or an empty string.
func FirstNamed(options []Option, words []string) string {
	for _, word := range words {
		if slices.ContainsFunc(options, func(o Option) bool { return o.Name == word }) {
			return word
		}
	}
	return ""
}

// Option.Set returns these errors, and the option's usage completes the message.
var (
	ErrCount = errors.New("wrong number of arguments")
	ErrValue = errors.New("unknown value")
)

// ReadBlock parses a block of options. valid runs after each option, so that its error has the
// right line, and whole runs at the end. An error of whole gets the line of the first option in its
// message. If the message has no option, the error gets the first line of the block.
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

// Read parses the rest of the line.
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

// None parses an option without arguments.
func None(args []string) error {
	if len(args) > 0 {
		return ErrCount
	}
	return nil
}

// One parses an option with one argument.
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

// Two parses an option with two arguments of the same type.
func Two[T any](first, second *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 2 {
			return ErrCount
		}
		return cmp.Or(One(first, parse)(args[:1]), One(second, parse)(args[1:]))
	}
}

// Given does the same as One for a pointer, which stays nil if the option is missing.
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

// Many parses an option with one or more arguments.
func Many(into *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return ErrCount
		}
		*into = args
		return nil
	}
}

// The functions below parse arguments. They reject zero if zero means the default in JSON, since
// the author of the Caddyfile wants another value.

// AnyText accepts any string, even an empty string.
func AnyText(arg string) (string, bool) { return arg, true }

// Word accepts any string except an empty string.
func Word(arg string) (string, bool) { return arg, arg != "" }

// WordOf returns a function that accepts only the given words.
func WordOf(words ...string) func(arg string) (string, bool) {
	return func(arg string) (string, bool) { return arg, slices.Contains(words, arg) }
}

// OnOff accepts on and off. The value is true for on.
func OnOff(arg string) (on, ok bool) { return arg == "on", arg == "on" || arg == "off" }

// OffOn accepts on and off. The value is true for off.
func OffOn(arg string) (off, ok bool) { return arg == "off", arg == "on" || arg == "off" }

// Number accepts an integer other than 0.
func Number(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil && n != 0
}

// Duration accepts a positive duration. Days (1d) are allowed.
func Duration(arg string) (caddy.Duration, bool) {
	d, err := caddy.ParseDuration(arg)
	return caddy.Duration(d), err == nil && d > 0
}

// DurationOr accepts a positive duration, or "off" for the value off.
func DurationOr(off caddy.Duration) func(string) (caddy.Duration, bool) {
	return func(arg string) (caddy.Duration, bool) {
		if arg == "off" {
			return off, true
		}
		return Duration(arg)
	}
}

// Short formats a duration for an error, in the syntax of the Caddyfile.
func Short(d caddy.Duration) string { return text.Duration(time.Duration(d)) }

// Units returns an error for a duration without a unit, which JSON reads as nanoseconds. names are
// the options of the durations, in the same order. 1ns is allowed as an almost zero duration, since
// 0 usually means the default.
func Units(names []string, durations ...caddy.Duration) error {
	for i, d := range durations {
		if d > 1 && time.Duration(d) < time.Millisecond {
			return fmt.Errorf("%s %s is too short; write a unit, in JSON as a string such as \"24h\"", names[i], time.Duration(d))
		}
	}
	return nil
}

// OneOf returns an error unless value is empty or one of the words.
func OneOf(name, value string, words []string) error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%w %q for %s; use %s", ErrValue, value, name, Listed(words, "or"))
}

// UpTo returns an error unless n is between 0 and most.
func UpTo(name string, n, most int) error {
	if n >= 0 && n <= most {
		return nil
	}
	return fmt.Errorf("%s %d cannot be; use %s", name, n, CountUpTo(most))
}

// CountUpTo returns the usage of an option for a number of things.
func CountUpTo(most int) string { return fmt.Sprintf("a number from 1 to %d", most) }
