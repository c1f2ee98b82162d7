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

// reader reads an edition, and collects what is wrong with it.
type reader struct {
	*jsontext.Decoder
	errs  []error
	owner map[string]string // of each name, the token of the entry that has it
}

// Parse reads an edition. Its error has all mistakes, up to 50 of them, each with the name
// of the text, the line and the column, and says what to write instead. What has none can
// be laid over the registry that is built in.
func Parse(name string, data []byte) (*Edition, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: it has more than %d MiB; a registry has a line for each crawler", name, MaxBytes>>20)
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

// edition reads the whole text.
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
			r.array("crawlers has to be a list of entries", func() {
				_, at := r.Peek()
				if len(entries) < MaxCrawlers {
					entries = append(entries, r.entry())
					return
				}
				if r.Skip(); !many {
					r.failAt(at, "it has more than %d crawlers; leave out those that the built-in registry has", MaxCrawlers)
				}
				many = true
			})
		}
	})
	if !given && len(r.errs) == 0 {
		r.failAt(0, "it has no crawlers; %s", wantEdition)
	}
	for i := range entries {
		e.Crawlers = append(e.Crawlers, entries[i].Crawler)
	}
	return e, entries
}

// failAt takes note of a mistake.
func (r *reader) failAt(offset int, format string, args ...any) {
	if len(r.errs) <= maxMistakes { // to tell where each is takes a look at the whole text
		r.errs = append(r.errs, r.ErrorAt(offset, format, args...))
		return
	}
	r.errs = append(r.errs, errMore)
}

var errMore = errors.New("one more")

// object reads an object with some of these fields, each once.
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
			r.failAt(at, "%s%s stands here twice; keep one", about, field)
		default:
			seen[i] = true
			read(field)
			continue
		}
		r.Skip()
	}
	r.Next()
}

// array reads an array.
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

// scalar reads a value that begins with one of these bytes.
func (r *reader) scalar(begins, want, field string) (jsontext.Token, bool) {
	first, at := r.Peek()
	if strings.IndexByte(begins, first) < 0 {
		r.Skip()
		r.failAt(at, "%s has to be %s", field, want)
		return jsontext.Token{}, false
	}
	return r.Next(), true
}

// text reads a string that is not empty.
func (r *reader) text(field string, most int) string {
	t, ok := r.scalar(`"`, "a string", field)
	switch {
	case !ok:
	case t.Text == "":
		r.failAt(r.At(), "%s is empty; leave it out", field)
	case len(t.Text) > most:
		r.failAt(r.At(), "%s has %d bytes, more than %d; shorten it", field, len(t.Text), most)
	case strings.ContainsFunc(t.Text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		r.failAt(r.At(), "%s has a control character; remove it", field)
	default:
		return t.Text
	}
	return ""
}

// texts reads a list of at least one string, each once.
func (r *reader) texts(field string, most int) (all []string) {
	_, begin := r.Peek()
	r.array(field+` has to be a list of strings such as ["FooBot"]`, func() {
		text := r.text("a string in "+field, most)
		if slices.Contains(all, text) && text != "" {
			r.failAt(r.At(), "%s has %q twice; keep one", field, text)
		} else if len(all) <= maxList {
			all = append(all, text)
		}
	})
	switch {
	case len(all) > maxList:
		r.failAt(begin, "%s has more than %d strings", field, maxList)
	case len(all) == 0:
		r.failAt(begin, "%s has no string; leave it out", field)
	}
	return all
}

// flag reads true or false.
func (r *reader) flag(field string) bool {
	t, _ := r.scalar("tf", "true or false", field)
	return t.First == 't'
}

// number reads a whole number from 1 up to most.
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
		r.failAt(r.At(), "%s has to be %s, and not %.30s", field, want, t.Text)
		return 0
	}
	return n
}

// date reads a day.
func (r *reader) date(field string) string {
	text := r.text(field, maxText)
	if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
		r.failAt(r.At(), "%s has to be a day such as 2026-11-23, and not %.40q", field, text)
	}
	return text
}

// word reads a string that is one of some words.
func (r *reader) word(field string, words []string) string {
	text := r.text(field, maxText)
	if text != "" && !slices.Contains(words, text) {
		r.failAt(r.At(), "unknown %s %.80q; %s", field, text, jsontext.Hint(text, words))
		return ""
	}
	return text
}
