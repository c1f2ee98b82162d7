package text

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Terminal writes what people read. It breaks lines that are too wide between
// words, and never in one. Escape sequences in what is written to it may only be
// those of [Colorize]. It writes nothing before a line ends or Flush is called.
type Terminal struct {
	out   *bufio.Writer
	width int
	color bool
	line  []byte // that has begun
}

// NewTerminal returns a Terminal that writes to w. The width is in columns, 0 for as
// many as it takes; color says whether words may be coloured.
func NewTerminal(w io.Writer, width int, color bool) *Terminal {
	return &Terminal{out: bufio.NewWriter(w), width: width, color: color}
}

// Width returns the width in columns, 0 for as many as it takes.
func (s *Terminal) Width() int { return s.width }

// Write implements [io.Writer].
func (s *Terminal) Write(p []byte) (int, error) {
	if s.width <= 0 {
		return s.out.Write(p)
	}
	s.line = append(s.line, p...)
	for rest := s.line; ; {
		line, after, ended := strings.Cut(string(rest), "\n")
		if !ended {
			s.line = append(s.line[:0], line...)
			return len(p), nil
		}
		if _, err := s.out.WriteString(wrapLine(line, s.width) + "\n"); err != nil {
			return 0, err
		}
		rest = []byte(after)
	}
}

// Flush writes what was not written yet.
func (s *Terminal) Flush() error {
	if len(s.line) > 0 {
		_, _ = s.out.WriteString(wrapLine(string(s.line), s.width)) // Flush says why it failed
		s.line = s.line[:0]
	}
	return s.out.Flush()
}

// wrapLine breaks a line between words where it is wider than so many columns. What
// follows is indented.
func wrapLine(line string, width int) string {
	if displayWidth(line) <= width {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	words := strings.Split(line[len(indent):], " ")
	var folded, b strings.Builder // the lines that ended, and the last
	b.WriteString(indent + words[0])
	at := displayWidth(indent) + displayWidth(words[0])
	for _, word := range words[1:] {
		if n := displayWidth(word); at+1+n <= width {
			b.WriteString(" " + word)
			at += 1 + n
		} else if word != "" {
			folded.WriteString(strings.TrimRight(b.String(), " ") + "\n")
			b.Reset()
			b.WriteString(indent + "  " + word)
			at = displayWidth(indent) + 2 + n
		}
	}
	return folded.String() + b.String()
}

// displayWidth returns how wide a piece of a line is.
func displayWidth(s string) int {
	n := utf8.RuneCountInString(s)
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "\x1b")
		sequence, text, ends := strings.Cut(after, "m")
		if !found || !ends {
			return n
		}
		n -= len("\x1b") + len(sequence) + len("m")
		rest = text
	}
}

// colors are of words that say how something stands.
var colors = map[string]string{
	"error": "31", "disallowed": "31", "spoofed": "31", "blocked": "31", "not ok": "31",
	"warning": "33", "stale": "33", "logged": "33", "unknown": "33",
	"allowed": "32", "verified": "32", "ok": "32", "opened": "32",
}

// Colorize colours a word that says how something stands, such as a verdict or a
// severity, if w is a Terminal that shows colours.
func Colorize(w io.Writer, word string) string {
	if s, ok := w.(*Terminal); ok && s.color && colors[word] != "" {
		return "\x1b[" + colors[word] + "m" + word + "\x1b[m"
	}
	return word
}
