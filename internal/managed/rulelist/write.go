package rulelist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// written is a rule as a list has it.
type written struct {
	ID            string      `json:"id"`
	For           []string    `json:"for,omitempty"`
	Disallow      any         `json:"disallow,omitempty"` // true or a list
	Allow         any         `json:"allow,omitempty"`
	CrawlDelay    json.Number `json:"crawl_delay,omitempty"`
	ContentUsage  string      `json:"content_usage,omitempty"`
	ContentSignal string      `json:"content_signal,omitempty"`
	From          string      `json:"from,omitempty"`
	Until         string      `json:"until,omitempty"`
	Hosts         []string    `json:"hosts,omitempty"`
	Reason        string      `json:"reason,omitempty"`
	Owner         string      `json:"owner,omitempty"`
	Ticket        string      `json:"ticket,omitempty"`
}

// WriteJSON writes rules, each of which has an ID, as a list: a line for each, so that
// versions of it can be compared.
func WriteJSON(w io.Writer, rules []Rule) error {
	var b bytes.Buffer
	b.WriteString("{\n\t\"rules\": [")
	line := json.NewEncoder(&b)
	line.SetEscapeHTML(false)
	for i := range rules {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n\t\t")
		if err := line.Encode(rules[i].written()); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the end of the line
	}
	b.WriteString("\n\t]\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (r *Rule) written() written {
	w := written{
		ID: r.ID, For: r.For, CrawlDelay: json.Number(r.CrawlDelay), ContentUsage: r.ContentUsage, ContentSignal: r.ContentSignal,
		From: r.From, Until: r.Until, Hosts: r.Hosts, Reason: r.Reason, Owner: r.Owner, Ticket: r.Ticket,
	}
	if r.CrawlDelay+r.ContentUsage+r.ContentSignal != "" {
		return w
	}
	said := any(r.Paths)
	if len(r.Paths) == 0 {
		said = true
	}
	if r.Allow {
		w.Allow = said
	} else {
		w.Disallow = said
	}
	return w
}

// WriteCaddyfile writes a robots_txt that says what was imported.
func WriteCaddyfile(w io.Writer, in *Imported) error {
	var b strings.Builder
	b.WriteString("robots_txt {\n")
	if in.Whole {
		b.WriteString("\tbase none\n")
	}
	for i := range in.Rules {
		in.Rules[i].writeCaddyfile(&b)
	}
	for _, s := range in.Sitemaps {
		fmt.Fprintf(&b, "\tsitemap %s\n", quoted(s))
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCaddyfile writes a rule. One with a delay has no name in a Caddyfile.
func (r *Rule) writeCaddyfile(b *strings.Builder) {
	if r.CrawlDelay != "" {
		for _, word := range r.For {
			fmt.Fprintf(b, "\tcrawl_delay %s %s\n", quoted(word), r.CrawlDelay)
		}
		return
	}
	word := "disallow"
	if r.Allow {
		word = "allow"
	}
	fmt.Fprintf(b, "\trule %s {\n\t\tfor%s\n\t\t%s%s\n", quoted(r.ID), all(r.For), word, all(r.Paths))
	if r.Reason != "" {
		fmt.Fprintf(b, "\t\treason %s\n", quoted(r.Reason))
	}
	b.WriteString("\t}\n")
}

func all(words []string) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(" " + quoted(word))
	}
	return b.String()
}

// quoted returns a word as a Caddyfile has it. What is imported has no quotes, backslashes
// and braces: see escaped.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " <") {
		return word
	}
	return `"` + word + `"`
}

// escaped returns a path or a URL with escapes in place of what lists or Caddyfiles
// cannot hold, or would read as something else: what cannot be printed, quotes,
// backslashes, and the braces of placeholders and of variables of the environment. To
// crawlers it is the same.
func escaped(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune("\"`\\{}", r) {
			for _, c := range []byte(s[:size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
