package replay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/mail"
	"strings"
	"time"
)

// AbuseReport is a report about one [Source] of violations, in the format XARF v4, type
// connection/scraping. https://github.com/xarf/xarf-spec defines the format. The schemas are in
// testdata/xarf.
type AbuseReport struct {
	Version   string    `json:"xarf_version"`
	ID        string    `json:"report_id"` // ID is a random UUID.
	Timestamp time.Time `json:"timestamp"` // Timestamp is the time at which the source was last seen.
	Reporter  Contact   `json:"reporter"`
	Sender    Contact   `json:"sender"`
	Source    string    `json:"source_identifier"` // Source is an address, or a network in CIDR notation.
	Category  string    `json:"category"`
	Type      string    `json:"type"`
	Protocol  string    `json:"protocol"`
	// UserAgent is the value that the client sent. It proves nothing about the client.
	UserAgent         string     `json:"user_agent"`
	TotalRequests     uint64     `json:"total_requests"`
	Bytes             uint64     `json:"data_volume,omitempty"`
	RespectsRobotsTxt bool       `json:"respects_robots_txt"`
	FirstSeen         time.Time  `json:"first_seen"`
	LastSeen          time.Time  `json:"last_seen"`
	EvidenceSource    string     `json:"evidence_source"`
	Evidence          []Evidence `json:"evidence"`
	Tags              []string   `json:"tags"`
	// Description is a summary of the report in sentences.
	Description string `json:"description"`
}

// Contact identifies the organization that reports or sends an abuse report.
type Contact struct {
	Organization string `json:"org"`
	Contact      string `json:"contact"` // Contact is an email address.
	Domain       string `json:"domain"`
}

// Evidence is a file attached to an abuse report.
type Evidence struct {
	ContentType string `json:"content_type"`
	Description string `json:"description"`
	Payload     string `json:"payload"` // Payload is in Base64.
	Hash        string `json:"hash"`    // Hash is "sha256:" and the digest in hexadecimal.
	Size        int    `json:"size"`    // Size is the size in bytes.
}

// The descriptions that [VerifyAbuseReport] uses to find the evidence of a report.
const (
	robotsEvidence   = "The robots.txt in force, as it was served"
	requestsEvidence = "What was requested, and the rules that disallow it"
)

// requestsContent is the JSON content of the attached file about the requests.
type requestsContent struct {
	// Name is the crawler name that the client claims, or "" if neither the registry nor the
	// robots.txt has the name.
	Name string `json:"claimed_name,omitempty"`
	// RobotsServedFrom is the time at which the file was first served, if known.
	RobotsServedFrom *time.Time   `json:"robots_txt_from,omitempty"`
	Rules            []SourceRule `json:"rules"`
	Samples          []Sample     `json:"samples"`
}

// ParseContact parses the reporting organization and its email address, such as "Example Ltd
// <abuse@example.com>".
func ParseContact(s string) (c Contact, err error) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Name == "" {
		return c, fmt.Errorf("%q is not a name with an email address; write it like \"Example Ltd <abuse@example.com>\"", s)
	}
	if len(a.Name) > 200 {
		return c, fmt.Errorf("the name in %q is longer than 200 bytes", s)
	}
	return Contact{Organization: a.Name, Contact: a.Address, Domain: a.Address[strings.LastIndexByte(a.Address, '@')+1:]}, nil
}

// NewAbuseReport returns the abuse report about a source. The report names the claimed crawler but
// no operator, because anybody can send any User-Agent.
func NewAbuseReport(s *Source, from Contact) (*AbuseReport, error) {
	report := &AbuseReport{
		Version: "4.2.0", ID: newUUID(), Timestamp: s.Last.UTC(), Reporter: from, Sender: from, Source: s.Network.String(),
		Category: "connection", Type: "scraping", Protocol: "tcp", UserAgent: s.UserAgent, TotalRequests: s.Requests, Bytes: s.Bytes,
		FirstSeen: s.First.UTC(), LastSeen: s.Last.UTC(), EvidenceSource: "traffic_analysis", Tags: []string{"activity:scraping", "robots-txt:disallowed"},
	}
	if s.Address.IsValid() {
		report.Source = s.Address.String()
	}
	name := "whose name is not registered"
	if s.Crawler != "" {
		name = "that calls itself " + s.Crawler
	}
	report.Description = fmt.Sprintf("%d requests from %s for URLs that the robots.txt of the site disallows to the client that sent them, %s to %s. They came from a client %s; the name is from its User-Agent and was not verified. "+
		"The robots.txt and the first requests are attached.", s.Requests, report.Source, report.FirstSeen.Format(time.RFC3339), report.LastSeen.Format(time.RFC3339), name)
	content := requestsContent{Name: s.Crawler, Rules: s.Rules, Samples: s.Samples}
	if s.RobotsVersion.From.Unix() > 0 {
		content.RobotsServedFrom = &s.RobotsVersion.From
	}
	encoded, err := json.MarshalIndent(content, "", "\t")
	if err != nil {
		return nil, err
	}
	report.Evidence = []Evidence{newEvidence("text/plain", robotsEvidence, s.RobotsVersion.Body), newEvidence("application/json", requestsEvidence, encoded)}
	return report, nil
}

func newEvidence(contentType, description string, content []byte) Evidence {
	sum := sha256.Sum256(content)
	return Evidence{
		ContentType: contentType, Description: description, Payload: base64.StdEncoding.EncodeToString(content),
		Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: len(content),
	}
}

// newUUID returns a random UUID (RFC 9562 section 5.4).
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // crypto/rand.Read never fails.
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
