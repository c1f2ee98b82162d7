package text

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWrapLine(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"abc de", 6, "abc de"},
		{"abc def", 6, "abc\n  def"},
		{"  abc def ghi", 9, "  abc def\n    ghi"},
		{"abcdefghij k", 5, "abcdefghij\n  k"}, // words are not broken
		{"日本 日本", 4, "日本\n  日本"},
		{"\x1b[31merror\x1b[m: x", 8, "\x1b[31merror\x1b[m: x"},
		{"a  b   c", 5, "a  b\n  c"},
	} {
		if got := wrapLine(tc.line, tc.width); got != tc.want {
			t.Errorf("%q in %d columns is %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}

// TestTerminal writes the same output for input in pieces of any size.
func TestTerminal(t *testing.T) {
	const input, want = "one two three\nfour five\n\nsix seven eight", "one two\n  three\nfour\n  five\n\nsix\n  seven\n  eight"
	for size := 1; size < len(input); size++ {
		var b strings.Builder
		s := NewTerminal(&b, 8, false)
		for rest := input; rest != ""; {
			n, err := s.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := s.Flush(); err != nil || b.String() != want {
			t.Fatalf("pieces of %d bytes: %q (%v), want %q", size, b.String(), err, want)
		}
	}
	var plain strings.Builder
	if Colorize(&plain, "error") != "error" || Colorize(NewTerminal(&plain, 0, false), "error") != "error" || Colorize(NewTerminal(&plain, 0, true), "page") != "page" {
		t.Error("unexpected color")
	}
	closed, w := io.Pipe()
	_ = closed.Close()
	s := NewTerminal(w, 8, false)
	_, _ = s.Write([]byte("one"))
	if err := s.Flush(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Flush returns %v, want the write error", err)
	}
}
