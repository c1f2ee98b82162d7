package report

import (
	"fmt"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ProtectionProblem is the reason why a robots.txt that was fetched disallows nothing, so that the
// mode enforce blocks nothing.
type ProtectionProblem struct {
	Cause ProtectionProblemCause `json:"cause"`
	// Detail describes the response, for example "the answer is status 404".
	Detail string `json:"detail"`
	// Remedy says in one sentence what to do.
	Remedy string `json:"cure"`
}

// ProtectionProblemCause is the kind of a [ProtectionProblem].
type ProtectionProblemCause string

// These are the causes.
const (
	// RefusedToGuard means that the guard got 401, 403 or another refusal.
	RefusedToGuard ProtectionProblemCause = "refused"
	// NoFile means that the response was 404 or 410, or that the source file is missing.
	NoFile     ProtectionProblemCause = "missing"
	Redirected ProtectionProblemCause = "redirected" // Redirected means that redirects led to no file.
	// WebPage means that the response was HTML, such as the index page of an app.
	WebPage ProtectionProblemCause = "web_page"
	UTF16   ProtectionProblemCause = "utf_16" // UTF16 is not supported by crawlers.
	Blank   ProtectionProblemCause = "empty"  // Blank means that the file is empty or has only comments.
	// NoRules means that the file has rules, but they disallow nothing.
	NoRules ProtectionProblemCause = "no_rules"
)

// FindProtectionProblem returns the reason why the robots.txt in force disallows nothing. The
// result is nil if it disallows something, or was never fetched. source is server, url or file.
func FindProtectionProblem(state *policy.State, source string) *ProtectionProblem {
	if state == nil || state.Current == nil || state.Current.Robots.Restricts() {
		return nil
	}
	cause := protectionProblemCause(state.Current)
	n := &ProtectionProblem{Cause: cause, Detail: problemDetails[cause], Remedy: remedies[cause]}
	switch {
	case source == "file" && cause == NoFile:
		n.Detail, n.Remedy = "the file does not exist", "create the file, or correct its path in the option source"
	case n.Detail == "":
		n.Detail = fmt.Sprintf("the answer is status %d", state.Current.Status)
		if source == "url" {
			n.Remedy = "correct the URL in the option source, or let the URL answer any client with status 200 and the robots.txt"
		}
	}
	return n
}

// protectionProblemCause returns the cause for a version that disallows nothing.
func protectionProblemCause(v *policy.Version) ProtectionProblemCause {
	switch {
	case v.Status == http.StatusNotFound, v.Status == http.StatusGone:
		return NoFile
	case v.Status >= 400:
		return RefusedToGuard
	case v.Status >= 300:
		return Redirected
	}
	findings, _ := v.Robots.Findings()
	blank := len(v.Robots.Groups()) == 0 && len(v.Robots.Records()) == 0
	for _, f := range findings {
		switch f.Code {
		case policy.HTML:
			return WebPage
		case policy.UTF16:
			return UTF16
		case policy.ByteOrderMark:
		default:
			blank = false
		}
	}
	if blank {
		return Blank
	}
	return NoRules
}

// problemDetails describe the response for causes that the status does not describe.
var problemDetails = map[ProtectionProblemCause]string{
	WebPage: "the answer is a web page",
	UTF16:   "the file is UTF-16",
	Blank:   "the file is empty or has only comments",
	NoRules: "no rule disallows anything",
}

// remedies are the remedies by cause.
var remedies = map[ProtectionProblemCause]string{
	RefusedToGuard: "allow /robots.txt without a login and in firewalls; the guard fetches it without a login, as a client with the address 192.0.2.1",
	NoFile:         `serve a robots.txt, or name a file with "source file <path>"`,
	Redirected:     "let /robots.txt answer with the file itself, or redirect to it in at most five steps",
	WebPage:        "serve a text file at /robots.txt; its route must come before the route of the app that answers all paths",
	UTF16:          "save the file as UTF-8",
	Blank:          `add rules, such as "User-agent: GPTBot" and on the next line "Disallow: /"`,
	NoRules:        `add a line such as "Disallow: /" to the group of each crawler that should stay away`,
}
