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

// output is how a command prints its results.
type output struct{ json bool }

// define defines the flag for JSON.
func (o *output) define(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

// print prints the result of a command: as JSON, or with writeText for people. docs/json.md
// documents the JSON. A json.RawMessage is JSON from the admin API. The writer for writeText stores
// the first error.
func (o *output) print(cmd *cobra.Command, result any, writeText func(io.Writer)) error {
	l := o.lines(cmd)
	if l.encoder != nil {
		l.encoder.SetIndent("", "  ")
	}
	return errors.Join(l.print(result, writeText), l.flush())
}

// lines prints any number of results: each as JSON in a line of its own, or for people.
type lines struct {
	screen  *text.Terminal
	encoder *json.Encoder // nil for text
}

// lines returns a printer of several results.
func (o *output) lines(cmd *cobra.Command) *lines {
	if !o.json {
		return &lines{screen: screenOf(cmd.OutOrStdout())}
	}
	l := &lines{screen: text.NewTerminal(cmd.OutOrStdout(), 0, false)}
	l.encoder = json.NewEncoder(l.screen)
	l.encoder.SetEscapeHTML(false) // people and programs read the output, and no web page contains it
	return l
}

// print prints a result. The caller must call flush after the last result.
func (l *lines) print(result any, writeText func(io.Writer)) error {
	if l.encoder != nil {
		return l.encoder.Encode(result)
	}
	writeText(l.screen)
	return nil
}

func (l *lines) flush() error { return l.screen.Flush() }

// answerLines calls answer with each line of in, without the line ending. The results are flushed
// before more input is awaited, because the sender may wait for them.
func (l *lines) answerLines(in io.Reader, answer func(line []byte) error) error {
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
