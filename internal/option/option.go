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

// Option describes an option of a block in the Caddyfile. The option is a line, which may open a
// block of its own.
type Option struct {
	Name  string
	Usage string // Usage has the expected arguments, for errors.

	// ParseArguments parses the arguments. It returns ErrCount, ErrValue, or an error with a complete message.
	ParseArguments func(args []string) error

	// ParseBlock parses the block of the option. Nil means that the option has no block.
	ParseBlock func(d *caddyfile.Dispenser) error

	// SetLine, if not nil, is called after the arguments are parsed, with d at the line of the
	// option.
	SetLine func(d *caddyfile.Dispenser)

	Repeatable bool // Repeatable is true if the option may be repeated.

	// Nested are the options in the block of this option. If one of them occurs outside of the
	// block, the error names the block.
	Nested []Option

	correctBlock string // correctBlock is the block that the option belongs to, if it is another block.
}

// MisplacedOptions returns options that belong to another block, so that [ReadBlock] can say where.
// correctPlace completes the error message, for example "for one site; write it into ...".
func MisplacedOptions(options []Option, correctPlace string) (misplaced []Option) {
	for _, o := range options {
		misplaced = append(misplaced, Option{Name: o.Name, Nested: o.Nested, correctBlock: correctPlace})
	}
	return misplaced
}

// FirstOptionName returns the first of the words that is the name of an option, or an empty string.
func FirstOptionName(options []Option, words []string) string {
	for _, word := range words {
		if slices.ContainsFunc(options, func(o Option) bool { return o.Name == word }) {
			return word
		}
	}
	return ""
}

// Option.ParseArguments returns these errors, and the option's usage completes the message.
var (
	ErrCount = errors.New("wrong number of arguments")
	ErrValue = errors.New("unknown value")
)

// ReadBlock parses a block of options. validateOption runs after each option, to report errors with
// the right line, and validateBlock runs at the end. An error of validateBlock gets the line of the
// first option in its message. If the message has no option, the error gets the first line of the
// block.
func ReadBlock(d *caddyfile.Dispenser, options []Option, validateOption, validateBlock func() error) error {
	isSet := make(map[string]bool)
	blockStart := *d
	var optionLines []caddyfile.Dispenser // These are positions, each at the name of an option.
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return d.WrapErr(&unknownOptionError{name, unknownOptionHint(name, options)})
		}
		if options[i].correctBlock != "" {
			return d.Errf("%s is %s", name, options[i].correctBlock)
		}
		if isSet[name] && !options[i].Repeatable {
			return d.Errf("%s is set twice; remove one", name)
		}
		isSet[name] = true
		line := *d
		optionLines = append(optionLines, line)
		if err := options[i].Parse(d); err != nil {
			return explainMissingBrace(d, err, name, options)
		}
		if err := validateOption(); err != nil {
			return line.WrapErr(err)
		}
	}
	if err := validateBlock(); err != nil {
		return findErrorLine(err, blockStart, optionLines).WrapErr(err)
	}
	return nil
}

// Parse parses the arguments and the block of an option. The current token of d is the option's
// name.
func (o *Option) Parse(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	switch err := o.ParseArguments(args); err {
	case nil:
	case ErrCount:
		return d.Errf("%w; %s takes %s", err, o.Name, o.Usage)
	case ErrValue:
		return d.Errf("%w %q for %s; use %s", err, strings.Join(args, " "), o.Name, o.Usage)
	default:
		return d.WrapErr(err)
	}
	if o.SetLine != nil {
		o.SetLine(d)
	}
	if o.ParseBlock != nil {
		return o.ParseBlock(d)
	}
	if nesting := d.Nesting(); d.NextBlock(nesting) {
		return d.Errf("%s takes no block", o.Name)
	}
	return nil
}

// OptionNames returns the names of the options of a block, without misplaced options, in their
// order.
func OptionNames(options []Option) (names []string) {
	for _, o := range options {
		if o.correctBlock == "" {
			names = append(names, o.Name)
		}
	}
	return names
}

// JoinWords joins at least two words as "a, b or c". The conjunction is "or", "and" or another
// word.
func JoinWords(words []string, conjunction string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// ParseNoArguments is an [Option].ParseArguments function for an option without arguments.
func ParseNoArguments(args []string) error {
	if len(args) > 0 {
		return ErrCount
	}
	return nil
}

// ParseOneArgument returns an [Option].ParseArguments function for exactly one argument, which it
// stores in target.
func ParseOneArgument[T any](target *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 1 {
			return ErrCount
		}
		value, ok := parse(args[0])
		if !ok {
			return ErrValue
		}
		*target = value
		return nil
	}
}

// ParseTwoArguments returns an [Option].ParseArguments function for exactly two arguments of the
// same type.
func ParseTwoArguments[T any](first, second *T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		if len(args) != 2 {
			return ErrCount
		}
		return cmp.Or(ParseOneArgument(first, parse)(args[:1]), ParseOneArgument(second, parse)(args[1:]))
	}
}

// ParseOneArgumentAsPointer is like ParseOneArgument, but stores a pointer to the value. The
// pointer stays nil if the option is missing.
func ParseOneArgumentAsPointer[T any](target **T, parse func(arg string) (T, bool)) func([]string) error {
	return func(args []string) error {
		value := new(T)
		if err := ParseOneArgument(value, parse)(args); err != nil {
			return err
		}
		*target = value
		return nil
	}
}

// ParseManyArguments returns an [Option].ParseArguments function for at least one argument.
func ParseManyArguments(target *[]string) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return ErrCount
		}
		*target = args
		return nil
	}
}

// The functions below parse arguments. They reject zero if zero means the default in JSON, since
// the author of the Caddyfile wants another value.

// AcceptAnyString accepts any string, even an empty string.
func AcceptAnyString(arg string) (string, bool) { return arg, true }

// AcceptNonEmptyString accepts any string except an empty string.
func AcceptNonEmptyString(arg string) (string, bool) { return arg, arg != "" }

// AcceptOneOf returns a function that accepts only the given words.
func AcceptOneOf(words ...string) func(arg string) (string, bool) {
	return func(arg string) (string, bool) { return arg, slices.Contains(words, arg) }
}

// ParseOnOff accepts on and off. The value is true for on.
func ParseOnOff(arg string) (on, ok bool) { return arg == "on", arg == "on" || arg == "off" }

// ParseInvertedOnOff accepts on and off. The value is true for off.
func ParseInvertedOnOff(arg string) (off, ok bool) { return arg == "off", arg == "on" || arg == "off" }

// ParseNonZeroNumber accepts an integer other than 0.
func ParseNonZeroNumber(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil && n != 0
}

// ParseDuration accepts a positive duration. Days (1d) are allowed.
func ParseDuration(arg string) (caddy.Duration, bool) {
	d, err := caddy.ParseDuration(arg)
	return caddy.Duration(d), err == nil && d > 0
}

// ParseDurationOrOff returns a function that accepts a positive duration, and "off" for offValue.
func ParseDurationOrOff(offValue caddy.Duration) func(string) (caddy.Duration, bool) {
	return func(arg string) (caddy.Duration, bool) {
		if arg == "off" {
			return offValue, true
		}
		return ParseDuration(arg)
	}
}

// FormatDuration formats a duration for an error, in the syntax of the Caddyfile, for example "2d".
func FormatDuration(d caddy.Duration) string { return text.Duration(time.Duration(d)) }

// CheckDurationUnits returns an error for a duration without a unit, which JSON reads as
// nanoseconds. names are the options of the durations, in the same order. 1ns is allowed as an
// almost zero duration, since 0 usually means the default.
func CheckDurationUnits(names []string, durations ...caddy.Duration) error {
	for i, d := range durations {
		if d > 1 && time.Duration(d) < time.Millisecond {
			return fmt.Errorf("%s %s is too short; write a unit, in JSON as a string, for example \"24h\"", names[i], time.Duration(d))
		}
	}
	return nil
}

// CheckWord returns an error unless the value of an option is empty or one of the words. name is
// the option.
func CheckWord(name, value string, words []string) error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%w %q for %s; use %s", ErrValue, value, name, JoinWords(words, "or"))
}

// CheckMaximum returns an error unless the number of an option is between 0 and maximum. name is
// the option.
func CheckMaximum(name string, n, maximum int) error {
	if n >= 0 && n <= maximum {
		return nil
	}
	return fmt.Errorf("%s %d is out of range; use %s", name, n, NumberUsage(maximum))
}

// NumberUsage returns the [Option].Usage of an option whose argument is a number from 1 to maximum.
func NumberUsage(maximum int) string { return fmt.Sprintf("a number from 1 to %d", maximum) }
