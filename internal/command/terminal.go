package command

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// terminal is what is known of where output goes.
type terminal struct {
	width int  // in columns; 0 for as many as it takes
	color bool // whether escape sequences are shown as colours
}

// terminalOf tells what w is. Output that goes into a file or a pipe has no
// width, unless the environment variable COLUMNS says one. NO_COLOR, see
// no-color.org, turns colours off.
func terminalOf(w io.Writer) terminal {
	var t terminal
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.width, _, _ = term.GetSize(int(file.Fd())) // 0 where a terminal does not know
		t.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		t.width = columns
	}
	return t
}

// colors are of words that say how something stands.
var colors = map[string]string{
	"error": "31", "disallowed": "31", "spoofed": "31", "blocked": "31", "not ok": "31",
	"warning": "33", "stale": "33", "logged": "33", "unknown": "33",
	"allowed": "32", "verified": "32", "ok": "32",
}

// paint colours a word, if it has a colour and the terminal shows any.
func (t terminal) paint(word string) string {
	if color := colors[word]; color != "" && t.color {
		return "\x1b[" + color + "m" + word + "\x1b[m"
	}
	return word
}
