package command

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// newScreen returns a [text.Terminal] for the output of a command. Only a terminal has a width,
// which limits lines, and colours. The environment variable COLUMNS overrides the width; NO_COLOR
// (see no-color.org) and TERM=dumb turn colours off.
func newScreen(w io.Writer) *text.Terminal {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return text.NewTerminal(w, 0, false)
	}
	width, _, _ := term.GetSize(int(file.Fd())) // The width is 0 if it is unknown.
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		width = columns
	}
	return text.NewTerminal(w, width, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}
