package command

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// screenOf returns where the output of a command goes for people to read. What is no
// terminal, such as a file or a pipe, has neither a width nor colours. The
// environment variable COLUMNS says otherwise how wide a terminal is; NO_COLOR,
// see no-color.org, and TERM=dumb turn colours off.
func screenOf(w io.Writer) *text.Screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return text.NewScreen(w, 0, false)
	}
	width, _, _ := term.GetSize(int(file.Fd())) // 0 where a terminal does not know
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		width = columns
	}
	return text.NewScreen(w, width, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}
