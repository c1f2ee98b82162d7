package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// The formats.
const (
	generic    = "generic"
	slack      = "slack"
	mattermost = "mattermost"
	discord    = "discord"
	ntfy       = "ntfy"
)

// Formats returns the names of the formats.
func Formats() []string { return []string{generic, slack, mattermost, discord, ntfy} }

// Message is what a receiver is told at once. The format generic is this, as JSON.
type Message struct {
	Version int       `json:"version"` // 1
	Server  string    `json:"server"`  // the name of the host
	Sent    time.Time `json:"sent"`
	// Open are alerts that began, Over those told before that are no more; the most
	// severe come first, and at most 20 in all.
	Open []alert.Alert `json:"open"`
	Over []alert.Alert `json:"over"`
	More int           `json:"more,omitempty"` // that are left out
}

// format makes the body of a message.
type format func(m Message, topic string) any

var formats = map[string]format{
	generic: func(m Message, _ string) any { return m },
	slack: func(m Message, _ string) any {
		return map[string]any{"text": m.words(dialect{escapeSlack, escapeSlack, "*"}, maxText), "unfurl_links": false, "unfurl_media": false}
	},
	mattermost: func(m Message, _ string) any {
		return map[string]any{"text": m.words(markdown, maxText)}
	},
	discord: func(m Message, _ string) any {
		return map[string]any{"content": m.words(markdown, maxDiscord), "allowed_mentions": map[string]any{"parse": []string{}}, "flags": suppressEmbeds}
	},
	ntfy: func(m Message, topic string) any {
		return map[string]any{
			"topic": topic, "title": m.title(), "message": m.words(dialect{asItIs, asItIs, ""}, maxNtfy),
			"priority": m.priority(), "tags": m.tags(),
		}
	},
}

// suppressEmbeds is the flag of Discord for a message without previews: a client may
// have put a URL into a path, and chooses what its page shows.
const suppressEmbeds = 1 << 2

// dialect is how a service marks up text. text makes harmless what others wrote, and
// code does so within what is set apart; bold is "" where nothing is marked up.
type dialect struct {
	text, code func(string) string
	bold       string
}

var markdown = dialect{escapeMarkdown, asItIs, "**"}

func asItIs(s string) string { return s }

// How long a text may be, in bytes. Discord takes 2000 characters, ntfy 4096 bytes.
const (
	maxText    = 8000
	maxDiscord = 1900
	maxNtfy    = 3800
)

// encode returns a body as JSON.
func encode(value any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return body.Bytes(), err
}

// title says it in a line.
func (m Message) title() string {
	if len(m.Open) == 1 && len(m.Over) == 0 {
		return text.Printable(m.Open[0].Title)
	}
	var parts []string
	if n := len(m.Open) + m.More; n > 0 {
		parts = append(parts, fmt.Sprintf("%d to do", n))
	}
	if len(m.Over) > 0 {
		parts = append(parts, fmt.Sprintf("%d over", len(m.Over)))
	}
	return fmt.Sprintf("Robots Guard on %s: %s", text.Printable(m.Server), strings.Join(parts, ", "))
}

// words says all of it: paragraphs, with what is copied set apart.
func (m Message) words(in dialect, most int) string {
	var paragraphs []string
	add := func(s string) { paragraphs = append(paragraphs, s) }
	say := func(s string) string { return in.text(text.Printable(s)) }
	for _, a := range m.Open {
		s := fmt.Sprintf("%s%s: %s%s\n%s\n%s", in.bold, a.Severity, say(a.Title), in.bold, say(a.Detail), say(a.Do))
		if a.Copy != "" {
			s += "\n" + in.fenced(a.Copy)
		}
		add(s)
	}
	for _, a := range m.Over {
		add(fmt.Sprintf("%sover: %s%s", in.bold, say(a.Title), in.bold))
	}
	if m.More > 0 {
		add(fmt.Sprintf("and %d more", m.More))
	}
	add("(" + say(m.Server) + ")")
	for i := range paragraphs {
		rest := strings.Join(paragraphs[:i+1], "\n\n")
		if len(rest) <= most {
			continue
		}
		if i == 0 {
			return text.Cut(rest, most)
		}
		return strings.Join(paragraphs[:i], "\n\n") + "\n\n…"
	}
	return strings.Join(paragraphs, "\n\n")
}

// fenced sets lines apart.
func (in dialect) fenced(lines string) string {
	var shown []string
	for line := range strings.Lines(lines) {
		shown = append(shown, text.Printable(strings.TrimSuffix(line, "\n")))
	}
	code := in.code(strings.Join(shown, "\n"))
	if in.bold == "" {
		return code
	}
	return "```\n" + strings.ReplaceAll(code, "```", "'''") + "\n```"
}

// priority is that of ntfy, from 1 to 5.
func (m Message) priority() int {
	switch {
	case len(m.Open) == 0:
		return 2
	case m.Open[0].Severity == alert.Critical:
		return 5
	case m.Open[0].Severity == alert.Warning:
		return 4
	}
	return 3
}

// tags are those of ntfy, which shows them as pictures.
func (m Message) tags() []string {
	if len(m.Open) == 0 {
		return []string{"white_check_mark"}
	}
	pictures := map[alert.Severity]string{alert.Critical: "rotating_light", alert.Warning: "warning", alert.Info: "information_source"}
	used := make(map[string]bool)
	for _, a := range m.Open {
		used[pictures[a.Severity]] = true
	}
	return slices.Sorted(maps.Keys(used))
}

// escapeSlack leaves no mention and no link in a text.
func escapeSlack(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// escapeMarkdown leaves no mention, no link and no emphasis in a text.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("\\`*_[]<>~|#", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
		if c == '@' {
			b.WriteRune('\u200b') // a space of no width
		}
	}
	return b.String()
}
