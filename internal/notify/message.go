package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Message is a message to a receiver. A webhook gets the message as JSON.
type Message struct {
	Version int       `json:"version"` // 1
	Server  string    `json:"server"`  // the name of the host
	Sent    time.Time `json:"sent"`    // the time of this attempt
	// Test is true for a test message.
	Test bool `json:"test,omitempty"`
	// Open are new alerts, and Over the ended alerts that were sent before. They are sorted
	// by severity, at most 20 in all.
	Open []alert.Alert `json:"open"`
	Over []alert.Alert `json:"over"`
	More int           `json:"more,omitempty"` // number of omitted alerts
}

// text formats the message as plain text of at most most bytes.
func (m Message) text(most int) string {
	var paragraphs []string
	if m.Test {
		paragraphs = append(paragraphs, "This is a test. Alerts of Robots Guard will arrive here.")
	}
	for _, a := range m.Open {
		s := fmt.Sprintf("%s: %s\n%s\n%s", a.Severity, inert(a.Title), inert(a.Detail), inert(a.Remedy))
		for line := range strings.Lines(a.RemedySnippet) {
			s += "\n" + mentions.Replace(text.Printable(strings.TrimSuffix(line, "\n")))
		}
		paragraphs = append(paragraphs, s)
	}
	for _, a := range m.Over {
		paragraphs = append(paragraphs, "over: "+inert(a.Title))
	}
	if m.More > 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("and %d more", m.More))
	}
	paragraphs = append(paragraphs, "(Robots Guard on "+inert(m.Server)+")")
	whole := paragraphs[0]
	if len(whole) > most {
		return text.Cut(whole, most)
	}
	for _, p := range paragraphs[1:] {
		if len(whole)+len("\n\n")+len(p)+len(cutMark) > most {
			return text.Cut(whole+cutMark, most)
		}
		whole += "\n\n" + p
	}
	return whole
}

// cutMark marks omitted paragraphs.
const cutMark = "\n\n…"

// Clients choose parts of a text, such as paths. A zero-width space prevents services from
// interpreting mentions and links.
var (
	mentions = strings.NewReplacer("@", "@\u200b", "<", "<\u200b")
	links    = strings.NewReplacer("://", ":\u200b//", "](", "]\u200b(")
)

// inert disables mentions and links in a string.
func inert(s string) string { return links.Replace(mentions.Replace(text.Printable(s))) }
