package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// output prints the results of a command, as text for people or as JSON.
type output struct{ json bool }

// defineFlag adds --json to the flags of a command.
func (o *output) defineFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

// print prints the result of a command: as JSON, or by calling writeText. The result may be JSON
// from the admin API, as a json.RawMessage. docs/json.md documents the JSON. writeText need not
// check errors of its writer, because print returns the first.
func (o *output) print(cmd *cobra.Command, result any, writeText func(io.Writer)) error {
	l := o.newPrinter(cmd)
	if l.encoder != nil {
		l.encoder.SetIndent("", "  ")
	}
	return errors.Join(l.print(result, writeText), l.flush())
}

// resultPrinter prints any number of results: each as a line of JSON, or as text for people.
type resultPrinter struct {
	screen  *text.Terminal
	encoder *json.Encoder // encoder is nil for output as text.
}

// newPrinter returns a printer for several results.
func (o *output) newPrinter(cmd *cobra.Command) *resultPrinter {
	if !o.json {
		return &resultPrinter{screen: newScreen(cmd.OutOrStdout())}
	}
	l := &resultPrinter{screen: text.NewTerminal(cmd.OutOrStdout(), 0, false)}
	l.encoder = json.NewEncoder(l.screen)
	l.encoder.SetEscapeHTML(false) // People and programs read the output, and no web page contains it.
	return l
}

// print prints a result: as JSON, or by calling writeText. The caller must call flush after the
// last result.
func (l *resultPrinter) print(result any, writeText func(io.Writer)) error {
	if l.encoder != nil {
		return l.encoder.Encode(result)
	}
	writeText(l.screen)
	return nil
}

func (l *resultPrinter) flush() error { return l.screen.Flush() }

// answerLines calls answer with each line of in, without the line ending. Before waiting for input,
// answerLines flushes the results, because the sender of the input may wait for them.
func (l *resultPrinter) answerLines(in io.Reader, answer func(line []byte) error) error {
	input := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 0 {
			if failed := answer(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))); failed != nil {
				return failed
			}
		}
		if input.Buffered() == 0 || err != nil {
			if failed := l.flush(); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
