package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Message is a message about alerts to a receiver. A webhook gets it as JSON.
type Message struct {
	Version int       `json:"version"` // Version is 1.
	Server  string    `json:"server"`  // Server is the host name of the machine.
	Sent    time.Time `json:"sent"`    // Sent is the time of this attempt.
	// IsTest is true for a test message, which has no alerts.
	IsTest bool `json:"test,omitempty"`
	// OpenAlerts are the new alerts. EndedAlerts are alerts that were sent before and have ended
	// since. Both are sorted by severity, with at most 20 alerts together.
	OpenAlerts   []alert.Alert `json:"open"`
	EndedAlerts  []alert.Alert `json:"over"`
	OmittedCount int           `json:"more,omitempty"` // OmittedCount is the number of omitted alerts.
}

// maxAlertsPerMessage is the maximum number of alerts in a message.
const maxAlertsPerMessage = 20

// newMessage returns a message about the given alerts. Alerts beyond the limit are counted, but not
// sent later.
func newMessage(server string, p pendingAlerts) Message {
	opened := p.opened[:min(len(p.opened), maxAlertsPerMessage)]
	ended := p.ended[:min(len(p.ended), maxAlertsPerMessage-len(opened))]
	return Message{
		Version: 1, Server: server, OpenAlerts: append([]alert.Alert{}, opened...), EndedAlerts: append([]alert.Alert{}, ended...),
		OmittedCount: len(p.opened) + len(p.ended) - len(opened) - len(ended),
	}
}

// plainText returns the message as text of at most maxBytes bytes.
func (m Message) plainText(maxBytes int) string {
	var paragraphs []string
	if m.IsTest {
		paragraphs = append(paragraphs, "This is a test. Alerts of Robots Guard will arrive here.")
	}
	for _, a := range m.OpenAlerts {
		paragraph := fmt.Sprintf("%s: %s\n%s\n%s", a.Severity, sanitize(a.Title), sanitize(a.Detail), sanitize(a.Remedy))
		for line := range strings.Lines(a.RemedySnippet) {
			paragraph += "\n" + mentionReplacer.Replace(text.Printable(strings.TrimSuffix(line, "\n")))
		}
		paragraphs = append(paragraphs, paragraph)
	}
	for _, a := range m.EndedAlerts {
		paragraphs = append(paragraphs, "over: "+sanitize(a.Title))
	}
	if m.OmittedCount > 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("and %d more", m.OmittedCount))
	}
	paragraphs = append(paragraphs, "(Robots Guard on "+sanitize(m.Server)+")")
	body := paragraphs[0]
	if len(body) > maxBytes {
		return text.Truncate(body, maxBytes)
	}
	for _, p := range paragraphs[1:] {
		if len(body)+len("\n\n")+len(p)+len(truncationMark) > maxBytes {
			return text.Truncate(body+truncationMark, maxBytes)
		}
		body += "\n\n" + p
	}
	return body
}

// truncationMark stands for omitted paragraphs.
const truncationMark = "\n\n…"

// Clients choose parts of a text, such as paths. A zero-width space prevents services from
// interpreting mentions and links.
var (
	mentionReplacer = strings.NewReplacer("@", "@\u200b", "<", "<\u200b")
	linkReplacer    = strings.NewReplacer("://", ":\u200b//", "](", "]\u200b(")
)

// sanitize changes mentions and links so that a service shows them as plain text.
func sanitize(s string) string {
	return linkReplacer.Replace(mentionReplacer.Replace(text.Printable(s)))
}
