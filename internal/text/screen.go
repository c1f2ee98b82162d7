package text

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Terminal buffers output for people, and breaks lines that are longer than its width between
// words. The caller must call Flush at the end. The input may contain no escape sequences except
// those of [Colorize].
type Terminal struct {
	out   *bufio.Writer
	width int
	color bool
	line  []byte // line is the unfinished line.
}

// NewTerminal returns a Terminal that writes to w. width is the maximum length of a line in
// columns, or 0 for no maximum. color tells whether [Colorize] adds colors.
func NewTerminal(w io.Writer, width int, color bool) *Terminal {
	return &Terminal{out: bufio.NewWriter(w), width: width, color: color}
}

// Width returns the maximum line length in columns, or 0 for no maximum.
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

// Flush writes the unfinished line. Flush returns the first error of any write.
func (s *Terminal) Flush() error {
	if len(s.line) > 0 {
		_, _ = s.out.WriteString(wrapLine(string(s.line), s.width)) // The following Flush returns the error.
		s.line = s.line[:0]
	}
	return s.out.Flush()
}

// wrapLine breaks a line between words if it has more than width columns. The following lines are
// indented.
func wrapLine(line string, width int) string {
	if displayWidth(line) <= width {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	words := strings.Split(line[len(indent):], " ")
	var folded, b strings.Builder // These are the finished lines and the current line.
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

// displayWidth returns the number of columns of s on a terminal, without escape sequences.
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

// colors maps a verdict, a severity or another state to an SGR color code.
var colors = map[string]string{
	"error": "31", "disallowed": "31", "spoofed": "31", "blocked": "31", "not ok": "31",
	"warning": "33", "stale": "33", "logged": "33", "unknown": "33",
	"allowed": "32", "verified": "32", "ok": "32", "opened": "32",
}

// Colorize adds the escape sequences of a color to word if w is a Terminal with colors. Only
// verdicts, severities and some other states have a color.
func Colorize(w io.Writer, word string) string {
	if s, ok := w.(*Terminal); ok && s.color && colors[word] != "" {
		return "\x1b[" + colors[word] + "m" + word + "\x1b[m"
	}
	return word
}
