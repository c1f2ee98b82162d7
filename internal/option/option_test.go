package option

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// TestPlaces puts options into wrong blocks. Each error names the right block and the line.
func TestPlaces(t *testing.T) {
	var text string
	leaf := func(name string) Option {
		return Option{Name: name, ParseArguments: ParseOneArgument(&text, AcceptNonEmptyString)}
	}
	block := func(name string, inner ...Option) Option {
		return Option{Name: name, ParseArguments: ParseNoArguments, Nested: inner, ParseBlock: func(d *caddyfile.Dispenser) error {
			return ReadBlock(d, inner, func() error { return nil }, func() error { return nil })
		}}
	}
	options := append([]Option{leaf("colour"), block("outer", leaf("size"), block("inner", leaf("depth")))},
		MisplacedOptions([]Option{leaf("other"), block("far", leaf("near"))}, "of another; go there")...)
	for input, want := range map[string]string{
		"colour red": "",
		"outer {\n size 1\n inner {\n depth 2\n }\n}": "",
		"size 1":                                "size is an option of outer; write it into outer { ... }, at x:2",
		"depth 1":                               "depth is an option of outer; write it into outer { inner { ... } }, at x:2",
		"outer {\n depth 1\n}":                  "depth is an option of inner; write it into inner { ... }, at x:3",
		"outer {\n colour red\n}":               "colour is not an option of outer; end the block of outer with } before it, at x:3",
		"outer {\n inner {\n colour red\n }\n}": "colour is not an option of outer; end the block of outer with } before it, at x:4",
		"outer {\n inner {\n size 1\n }\n}":     "size is not an option of inner; end the block of inner with } before it, at x:4",
		"other 1":                               "other is of another; go there, at x:2",
		"near 1":                                "near is an option of far, which is of another; go there, at x:2",
		"outer {\n other 1\n}":                  `unrecognized option "other"; known are size and inner, at x:3`,
		"outer {\n inner {\n other 1\n }\n}":    `unrecognized option "other"; the only one is depth, at x:4`,
		"file_server":                           "file_server is a directive and no option; end the block with } before the directive, at x:2",
		"color red":                             `unrecognized option "color"; did you mean colour?, at x:2`,
	} {
		d := caddyfile.NewTestDispenser("x {\n" + input + "\n}")
		d.Next()
		err := ReadBlock(d, options, func() error { return nil }, func() error { return nil })
		said := ""
		if err != nil {
			said = strings.ReplaceAll(err.Error(), d.File(), "x")
		}
		if said != want {
			t.Errorf("%q: %q, want %q", input, said, want)
		}
	}
}
