package command

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// newEncoder returns an encoder that leaves <, > and & as they are, because commands print
// JSON for people and programs and not into a web page.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// writeJSON prints a value as an indented JSON object.
func writeJSON(w io.Writer, value any) error {
	enc := newEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// writeResult prints the result of a command: value as JSON, or what print writes for people.
func writeResult(w io.Writer, asJSON bool, value any, print func(*text.Screen) error) error {
	if asJSON {
		return writeJSON(w, value)
	}
	screen := screenOf(w)
	return errors.Join(print(screen), screen.Flush())
}

// shownJSON is a response of the admin API that is printed as it is.
type shownJSON []byte

// show prints the response as it is, or what print writes for people.
func (body shownJSON) show(w io.Writer, asJSON bool, print func(*text.Screen) error) error {
	if asJSON {
		_, err := w.Write(body)
		return err
	}
	return writeResult(w, false, nil, print)
}
