package replay

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// VerificationResult has the mistakes that [VerifyAbuseReport] found in an abuse report.
type VerificationResult struct {
	Report       *AbuseReport
	RobotsSHA256 string // the SHA-256 of the attached robots.txt, in hexadecimal
	SampleCount  int    // SampleCount is the number of attached requests.
	// Errors has a sentence for each attached request that the attached robots.txt does not
	// disallow, or disallows by a rule that the report omits.
	Errors []string
	// Contradictions has a sentence for each fact of the report that contradicts its attached
	// requests. The report is correct if Errors and Contradictions are empty.
	Contradictions []string
}

// VerifyAbuseReport judges the requests attached to an abuse report by the attached robots.txt.
// VerifyAbuseReport returns an error if text is not such a report, or if an attached file does not
// match its hash.
func VerifyAbuseReport(text []byte, registry *uaident.Registry) (*VerificationResult, error) {
	var report AbuseReport
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("this is not a report in JSON: %w", err)
	}
	if !strings.HasPrefix(report.Version, "4.") || report.Category != "connection" || report.Type != "scraping" {
		return nil, fmt.Errorf("this is not an XARF v4 report of connection/scraping: xarf_version %q, category %q, type %q", report.Version, report.Category, report.Type)
	}
	body, err := report.decodeEvidence(robotsEvidence)
	if err != nil {
		return nil, err
	}
	content, err := report.decodeEvidence(requestsEvidence)
	if err != nil {
		return nil, err
	}
	var attached requestsContent
	if err := json.Unmarshal(content, &attached); err != nil {
		return nil, fmt.Errorf("the attached requests cannot be read: %w", err)
	}
	if len(attached.Samples) == 0 {
		return nil, errors.New("no request is attached, so there is nothing to verify")
	}
	sum := sha256.Sum256(body)
	result := &VerificationResult{Report: &report, RobotsSHA256: hex.EncodeToString(sum[:]), SampleCount: len(attached.Samples)}
	robots := policy.Parse(body)
	overlay := registry.NewOverlay(robots.GroupNames())
	for i := range attached.Samples {
		if wrong := verifySample(&attached.Samples[i], attached.Rules, robots, registry, overlay); wrong != "" {
			result.Errors = append(result.Errors, wrong)
		}
	}
	result.Contradictions = report.findContradictions(attached.Samples)
	return result, nil
}

// findContradictions compares the source, the times and the number of requests in the report with
// the attached requests.
func (r *AbuseReport) findContradictions(samples []Sample) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if r.LastSeen.Before(r.FirstSeen) {
		say("last_seen %s is before first_seen %s", r.LastSeen.Format(time.RFC3339), r.FirstSeen.Format(time.RFC3339))
	}
	if r.TotalRequests < uint64(len(samples)) {
		say("total_requests is %d, but %d requests are attached", r.TotalRequests, len(samples))
	}
	source, err := netip.ParsePrefix(r.Source)
	if address, err2 := netip.ParseAddr(r.Source); err2 == nil {
		source, err = netip.PrefixFrom(address, address.BitLen()), nil
	}
	if err != nil {
		say("source_identifier %q is not an address or a network", r.Source)
		return found
	}
	for i := range samples {
		s := &samples[i]
		if client, err := netip.ParseAddr(s.Client); err != nil || !source.Contains(client) {
			say("%s %s comes from %q, which is outside source_identifier %s", s.Method, s.Target, s.Client, r.Source)
		}
		if s.Time.Before(r.FirstSeen) || s.Time.After(r.LastSeen) {
			say("%s %s is from %s, which is not between first_seen and last_seen", s.Method, s.Target, s.Time.Format(time.RFC3339))
		}
	}
	return found
}

// verifySample returns a sentence if the robots.txt does not disallow the request by one of the
// rules, and otherwise "".
func verifySample(s *Sample, rules []SourceRule, robots *policy.Robots, registry *uaident.Registry, overlay *uaident.Overlay) string {
	var settings judge.Settings
	var scratch judge.Scratch
	var result judge.Result
	request := judge.Request{Client: settings.Identify(registry, s.UserAgent, overlay), Method: s.Method, Target: s.Target}
	settings.Judge(&request, judge.Rules{Robots: robots}, &scratch, &result)
	if result.Verdict != judge.Disallowed {
		return fmt.Sprintf("%s %s of %q is %s", s.Method, s.Target, s.UserAgent, result.Verdict)
	}
	rule := result.RobotsVerdict.Rule
	for _, reported := range rules {
		if reported.Rule == rule.String() && reported.Line == rule.Line {
			return ""
		}
	}
	return fmt.Sprintf("%s %s of %q is disallowed by line %d (%s), which the report does not name", s.Method, s.Target, s.UserAgent, rule.Line, rule)
}

// decodeEvidence returns the content of the attached file with a description. decodeEvidence
// returns an error if the file is missing or does not match its hash.
func (r *AbuseReport) decodeEvidence(description string) ([]byte, error) {
	for _, e := range r.Evidence {
		if e.Description != description {
			continue
		}
		content, err := base64.StdEncoding.DecodeString(e.Payload)
		if err != nil {
			return nil, fmt.Errorf("the evidence %q is not Base64: %w", description, err)
		}
		if sum := sha256.Sum256(content); !strings.EqualFold(e.Hash, "sha256:"+hex.EncodeToString(sum[:])) {
			return nil, fmt.Errorf("the evidence %q does not match its stated hash; it was changed after the report was made", description)
		}
		return content, nil
	}
	return nil, fmt.Errorf("the evidence %q is missing; only reports of caddy robots-guard audit --xarf can be verified", description)
}
