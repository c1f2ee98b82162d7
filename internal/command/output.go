package command

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// output is how a command prints its result.
type output struct{ json bool }

// define defines the flag that selects JSON.
func (o *output) define(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

// print prints the result of a command: the result as JSON, or what writeText writes for people.
// docs/json.md documents the JSON. A json.RawMessage is JSON from the admin API. The writer of the text
// keeps the first error.
func (o *output) print(cmd *cobra.Command, result any, writeText func(io.Writer)) error {
	if o.json {
		enc := newEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		return enc.Encode(result)
	}
	screen := screenOf(cmd.OutOrStdout())
	writeText(screen)
	return screen.Flush()
}

// newEncoder returns an encoder that leaves <, > and & as they are, because commands print
// JSON for people and programs and not into a web page.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
