package registryfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const fileDescription = `a registry is an object such as {"crawlers": [{"token": "FooBot", "class": "search", "source": "https://foo.example/bot"}]}`

var fileFields = []string{"$schema", "date", "crawlers"}

// parser decodes a registry file and collects errors.
type parser struct {
	*jsontext.Decoder
	base       *uaident.Registry
	errs       []error
	nameOwners map[string]string // The key is a name, and the value is the token of its entry.
}

// Parse decodes a registry file. The error lists up to 50 mistakes, each with file, line, column
// and remedy. Parse also checks that the file can be merged into base, which is [uaident.Default]
// for a configured file.
func Parse(name string, data []byte, base *uaident.Registry) (*File, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d MiB; remove crawlers", name, MaxBytes>>20)
	}
	decoder, err := jsontext.NewDecoder(name, data, fileDescription)
	if err != nil {
		return nil, err
	}
	r := &parser{Decoder: decoder, base: base, nameOwners: make(map[string]string)}
	f, entries := r.parseFile()
	r.checkNames(entries)
	if len(r.errs) > maxErrors {
		r.errs = append(r.errs[:maxErrors:maxErrors], fmt.Errorf("%s: %d more mistakes; fix the first ones and check again", name, len(r.errs)-maxErrors))
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	if _, err := f.Merge(base); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// parseFile decodes the whole file.
func (r *parser) parseFile() (*File, []entry) {
	f := &File{}
	var entries []entry
	hasCrawlers, tooMany := false, false
	r.readObject("", fileDescription, fileFields, func(field string) {
		switch field {
		case "$schema":
			r.readString(field, maxText)
		case "date":
			f.Date = r.readDate(field)
		case "crawlers":
			hasCrawlers = true
			r.readArray("crawlers must be a list of entries", func() {
				_, at := r.Peek()
				if len(entries) < MaxCrawlers {
					entries = append(entries, r.parseEntry())
					return
				}
				if r.Skip(); !tooMany {
					r.failAt(at, "more than %d crawlers; remove entries that equal the built-in registry's", MaxCrawlers)
				}
				tooMany = true
			})
		}
	})
	if !hasCrawlers && len(r.errs) == 0 {
		r.failAt(0, "the field crawlers is missing; %s", fileDescription)
	}
	for i := range entries {
		f.Crawlers = append(f.Crawlers, entries[i].Crawler)
	}
	return f, entries
}

// failAt records an error with the line and column of a byte offset.
func (r *parser) failAt(offset int, format string, args ...any) {
	if len(r.errs) <= maxErrors { // ErrorAt scans the whole file for the line and column.
		r.errs = append(r.errs, r.ErrorAt(offset, format, args...))
		return
	}
	r.errs = append(r.errs, errOmitted)
}

// errOmitted stands for a mistake beyond maxErrors, which Parse only counts.
var errOmitted = errors.New("omitted mistake")

// readObject decodes an object and calls read for each field. want describes the expected object in
// errors, which begin with errorPrefix. A field that is not in fields, or occurs twice, is an
// error.
func (r *parser) readObject(errorPrefix, want string, fields []string, read func(field string)) {
	first, at := r.Peek()
	if first != '{' {
		r.Skip()
		r.failAt(at, "%s%s", errorPrefix, want)
		return
	}
	r.Next()
	seen := make([]bool, len(fields))
	for r.More() {
		field := r.Next().Text
		at := r.Offset()
		i := slices.Index(fields, field)
		switch {
		case i < 0:
			r.failAt(at, "%sunknown field %.80q; %s", errorPrefix, field, jsontext.SuggestField(field, fields))
		case seen[i]:
			r.failAt(at, "%sduplicate field %s; keep one", errorPrefix, field)
		default:
			seen[i] = true
			read(field)
			continue
		}
		r.Skip()
	}
	r.Next()
}

// readArray decodes an array and calls read for each element. want is the error message for a
// value of another type.
func (r *parser) readArray(want string, read func()) {
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

// readScalar decodes a string, number or boolean whose first byte is in firstBytes. want describes the
// expected value in an error message.
func (r *parser) readScalar(firstBytes, want, field string) (jsontext.Token, bool) {
	first, at := r.Peek()
	if strings.IndexByte(firstBytes, first) < 0 {
		r.Skip()
		r.failAt(at, "%s must be %s", field, want)
		return jsontext.Token{}, false
	}
	return r.Next(), true
}

// readString decodes a string of 1 to maxBytes bytes. The result is "" after an error.
func (r *parser) readString(field string, maxBytes int) string {
	t, ok := r.readScalar(`"`, "a string", field)
	switch {
	case !ok:
	case t.Text == "":
		r.failAt(r.Offset(), "%s is empty; remove the field", field)
	case len(t.Text) > maxBytes:
		r.failAt(r.Offset(), "%s has %d bytes, more than %d; shorten it", field, len(t.Text), maxBytes)
	case strings.ContainsFunc(t.Text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		r.failAt(r.Offset(), "%s contains a control character; remove the character", field)
	default:
		return t.Text
	}
	return ""
}

// readStrings decodes a list of 1 to maxList different strings.
func (r *parser) readStrings(field string, maxBytes int) (list []string) {
	_, begin := r.Peek()
	numErrors := len(r.errs)
	r.readArray(field+` must be a list of strings, for example ["FooBot"]`, func() {
		text := r.readString("a string in "+field, maxBytes)
		if slices.Contains(list, text) && text != "" {
			r.failAt(r.Offset(), "%s contains %q twice; remove one", field, text)
		} else if len(list) <= maxList {
			list = append(list, text)
		}
	})
	switch {
	case len(list) > maxList:
		r.failAt(begin, "%s has more than %d strings; remove some", field, maxList)
	case len(list) == 0 && len(r.errs) == numErrors: // A value of another type is not an empty list.
		r.failAt(begin, "%s is an empty list; remove the list", field)
	}
	return list
}

// readBool decodes true or false.
func (r *parser) readBool(field string) bool {
	t, _ := r.readScalar("tf", "true or false", field)
	return t.FirstByte == 't'
}

// readNumber decodes an integer from 1 to maximum.
func (r *parser) readNumber(field string, maximum uint64) (n uint64) {
	want := fmt.Sprintf("a whole number from 1 to %d", maximum)
	t, ok := r.readScalar("0123456789-", want, field)
	if !ok {
		return 0
	}
	for _, c := range []byte(t.Text) {
		if c < '0' || c > '9' || n > maximum {
			n = 0
			break
		}
		n = 10*n + uint64(c-'0')
	}
	if n == 0 || n > maximum {
		r.failAt(r.Offset(), "%s must be %s, not %.30s", field, want, t.Text)
		return 0
	}
	return n
}

// readDate decodes a string with a date such as 2026-11-23.
func (r *parser) readDate(field string) string {
	text := r.readString(field, maxText)
	if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
		r.failAt(r.Offset(), "%s must be a date such as 2026-11-23, not %.40q", field, text)
	}
	return text
}

// readEnum decodes a string that must be in allowed. The result is "" after an error.
func (r *parser) readEnum(field string, allowed []string) string {
	text := r.readString(field, maxText)
	if text != "" && !slices.Contains(allowed, text) {
		r.failAt(r.Offset(), "unknown %s %.80q; %s", field, text, jsontext.SuggestField(text, allowed))
		return ""
	}
	return text
}
