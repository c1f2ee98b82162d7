package option

import (
	"errors"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// TestLineOfTheWhole checks that an error about a whole block names the right line, not the last.
func TestLineOfTheWhole(t *testing.T) {
	const block = "x {\n colour red\n size 1\n crawler A {\n class a\n }\n crawler B\n}"
	for says, want := range map[string]string{
		"size: it goes with a shape only":        "x:3",
		"shape and size contradict each other":   "x:3",
		"size and colour contradict each other":  "x:3",
		"crawler A: it is of no use":             "x:4",
		"crawler B: it is of no use":             "x:7",
		"crawler C: it is of no use":             "x:4",
		"it says nothing about colours or sizes": "x:1",
		`"colour" is not loud enough`:            "x:2",
	} {
		var text string
		options := []Option{
			{Name: "colour", ParseArguments: ParseOneArgument(&text, AcceptNonEmptyString)}, {Name: "size", ParseArguments: ParseOneArgument(&text, AcceptNonEmptyString)},
			{Name: "crawler", ParseArguments: ParseOneArgument(&text, AcceptNonEmptyString), Repeatable: true, ParseBlock: func(d *caddyfile.Dispenser) error {
				return ReadBlock(d, []Option{{Name: "class", ParseArguments: ParseOneArgument(&text, AcceptNonEmptyString)}}, func() error { return nil }, func() error { return nil })
			}},
		}
		d := caddyfile.NewTestDispenser(block)
		d.Next()
		err := ReadBlock(d, options, func() error { return nil }, func() error { return errors.New(says) })
		if err == nil || strings.ReplaceAll(err.Error(), d.File(), "x") != says+", at "+want {
			t.Errorf("%s: %v, want it at %s", says, err, want)
		}
	}
}

// TestLineOfABlock checks that an error about conflicting options names the first line of the
// option's block.
func TestLineOfABlock(t *testing.T) {
	set := 0
	options := []Option{{Name: "a", Repeatable: true, ParseArguments: ParseNoArguments, ParseBlock: func(d *caddyfile.Dispenser) error {
		set++
		return ReadBlock(d, nil, func() error { return nil }, func() error { return nil })
	}}}
	d := caddyfile.NewTestDispenser("x {\n a {\n }\n a {\n }\n}")
	d.Next()
	err := ReadBlock(d, options, func() error {
		if set == 2 {
			return errors.New("a is set twice")
		}
		return nil
	}, func() error { return nil })
	if err == nil || !strings.HasSuffix(err.Error(), ":4") {
		t.Errorf("%v, want it in line 4", err)
	}
}
