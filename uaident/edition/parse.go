package edition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const wantEdition = `a registry is an object such as {"crawlers": [{"token": "FooBot", "class": "search", "source": "https://foo.example/bot"}]}`

var editionFields = []string{"$schema", "date", "crawlers"}

// reader decodes an edition and collects errors.
type reader struct {
	*jsontext.Decoder
	errs  []error
	owner map[string]string // maps a name to the token of its entry
}

// Parse decodes an edition. The error lists up to 50 mistakes. Each has the name of the file,
// line, column and a remedy. An edition without mistakes can be merged into the built-in
// registry.
func Parse(name string, data []byte) (*Edition, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d MiB", name, MaxBytes>>20)
	}
	decoder, err := jsontext.NewDecoder(name, data, wantEdition)
	if err != nil {
		return nil, err
	}
	r := &reader{Decoder: decoder, owner: make(map[string]string)}
	e, entries := r.edition()
	r.checkTogether(entries)
	if len(r.errs) > maxMistakes {
		r.errs = append(r.errs[:maxMistakes:maxMistakes], fmt.Errorf("%s: and %d more mistakes", name, len(r.errs)-maxMistakes))
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	if _, err := e.Over(uaident.Default()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// edition decodes the whole file.
func (r *reader) edition() (*Edition, []entry) {
	e := &Edition{}
	var entries []entry
	given, many := false, false
	r.object("", wantEdition, editionFields, func(field string) {
		switch field {
		case "$schema":
			r.text(field, maxText)
		case "date":
			e.Date = r.date(field)
		case "crawlers":
			given = true
			r.array("crawlers must be a list of entries", func() {
				_, at := r.Peek()
				if len(entries) < MaxCrawlers {
					entries = append(entries, r.entry())
					return
				}
				if r.Skip(); !many {
					r.failAt(at, "more than %d crawlers; remove entries of the built-in registry", MaxCrawlers)
				}
				many = true
			})
		}
	})
	if !given && len(r.errs) == 0 {
		r.failAt(0, "no field crawlers; %s", wantEdition)
	}
	for i := range entries {
		e.Crawlers = append(e.Crawlers, entries[i].Crawler)
	}
	return e, entries
}

// failAt records an error at a byte offset.
func (r *reader) failAt(offset int, format string, args ...any) {
	if len(r.errs) <= maxMistakes { // finding the line and column scans the whole file
		r.errs = append(r.errs, r.ErrorAt(offset, format, args...))
		return
	}
	r.errs = append(r.errs, errMore)
}

var errMore = errors.New("one more")

// object decodes an object. Only the given fields are allowed, each at most once.
func (r *reader) object(about, want string, fields []string, read func(field string)) {
	first, at := r.Peek()
	if first != '{' {
		r.Skip()
		r.failAt(at, "%s%s", about, want)
		return
	}
	r.Next()
	seen := make([]bool, len(fields))
	for r.More() {
		field := r.Next().Text
		at := r.At()
		i := slices.Index(fields, field)
		switch {
		case i < 0:
			r.failAt(at, "%sunknown field %.80q; %s", about, field, jsontext.Hint(field, fields))
		case seen[i]:
			r.failAt(at, "%sduplicate field %s; keep one", about, field)
		default:
			seen[i] = true
			read(field)
			continue
		}
		r.Skip()
	}
	r.Next()
}

// array decodes an array.
func (r *reader) array(want string, read func()) {
	first, at := r.Peek()
	if first != '[' {
		r.Skip()
		r.failAt(at, "%s", want)
		return
	}
	r.Next()
	for r.More() {
		read()
	}
	r.Next()
}

// scalar decodes a value whose first byte is in begins.
func (r *reader) scalar(begins, want, field string) (jsontext.Token, bool) {
	first, at := r.Peek()
	if strings.IndexByte(begins, first) < 0 {
		r.Skip()
		r.failAt(at, "%s must be %s", field, want)
		return jsontext.Token{}, false
	}
	return r.Next(), true
}

// text decodes a string with 1 to most bytes.
func (r *reader) text(field string, most int) string {
	t, ok := r.scalar(`"`, "a string", field)
	switch {
	case !ok:
	case t.Text == "":
		r.failAt(r.At(), "%s is empty; remove it", field)
	case len(t.Text) > most:
		r.failAt(r.At(), "%s has %d bytes, more than %d; shorten it", field, len(t.Text), most)
	case strings.ContainsFunc(t.Text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		r.failAt(r.At(), "%s contains a control character; remove it", field)
	default:
		return t.Text
	}
	return ""
}

// texts decodes a list of different strings, at least one.
func (r *reader) texts(field string, most int) (all []string) {
	_, begin := r.Peek()
	r.array(field+` must be a list of strings such as ["FooBot"]`, func() {
		text := r.text("a string in "+field, most)
		if slices.Contains(all, text) && text != "" {
			r.failAt(r.At(), "%s contains %q twice; remove one", field, text)
		} else if len(all) <= maxList {
			all = append(all, text)
		}
	})
	switch {
	case len(all) > maxList:
		r.failAt(begin, "%s has more than %d strings", field, maxList)
	case len(all) == 0:
		r.failAt(begin, "%s is an empty list; remove it", field)
	}
	return all
}

// flag decodes true or false.
func (r *reader) flag(field string) bool {
	t, _ := r.scalar("tf", "true or false", field)
	return t.First == 't'
}

// number decodes an integer from 1 to most.
func (r *reader) number(field string, most uint64) (n uint64) {
	want := fmt.Sprintf("a whole number from 1 to %d", most)
	t, ok := r.scalar("0123456789-", want, field)
	if !ok {
		return 0
	}
	for _, c := range []byte(t.Text) {
		if c < '0' || c > '9' || n > most {
			n = 0
			break
		}
		n = 10*n + uint64(c-'0')
	}
	if n == 0 || n > most {
		r.failAt(r.At(), "%s must be %s, not %.30s", field, want, t.Text)
		return 0
	}
	return n
}

// date decodes a date.
func (r *reader) date(field string) string {
	text := r.text(field, maxText)
	if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
		r.failAt(r.At(), "%s must be a date such as 2026-11-23, not %.40q", field, text)
	}
	return text
}

// word decodes a string that is one of words.
func (r *reader) word(field string, words []string) string {
	text := r.text(field, maxText)
	if text != "" && !slices.Contains(words, text) {
		r.failAt(r.At(), "unknown %s %.80q; %s", field, text, jsontext.Hint(text, words))
		return ""
	}
	return text
}
