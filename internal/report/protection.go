package report

import (
	"fmt"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// NotProtecting is the reason why a readable robots.txt disallows nothing, so that enforce
// has no effect.
type NotProtecting struct {
	Cause NotProtectingCause `json:"cause"`
	// Detail describes the response, for example "the answer is status 404".
	Detail string `json:"detail"`
	// Remedy is the remedy in one sentence.
	Remedy string `json:"cure"`
}

// NotProtectingCause is the name of a reason.
type NotProtectingCause string

// The causes.
const (
	RefusedToGuard NotProtectingCause = "refused"    // 401, 403 and other refusals of the guard
	NoFile         NotProtectingCause = "missing"    // 404 or 410, or a missing source file
	Redirected     NotProtectingCause = "redirected" // a redirect without a final file
	WebPage        NotProtectingCause = "web_page"   // HTML, such as the index page of an app
	UTF16          NotProtectingCause = "utf_16"     // not supported by crawlers
	Blank          NotProtectingCause = "empty"      // empty, or comments only
	NoRules        NotProtectingCause = "no_rules"   // rules that disallow nothing
)

// FindNotProtecting returns why the last good robots.txt disallows nothing. The result is nil
// if robots.txt disallows something or does not exist. source is Health.Source.
func FindNotProtecting(state *policy.State, source string) *NotProtecting {
	if state == nil || state.Current == nil || state.Current.Robots.Restricts() {
		return nil
	}
	cause := causeOf(state.Current)
	n := &NotProtecting{Cause: cause, Detail: details[cause], Remedy: cures[cause]}
	switch {
	case source == "file" && cause == NoFile:
		n.Detail, n.Remedy = "the file does not exist", "create the file, or correct its path in the option source"
	case n.Detail == "":
		n.Detail = fmt.Sprintf("the answer is status %d", state.Current.Status)
		if source == "url" {
			n.Remedy = "correct the URL in the option source, or let it answer 200 with the robots.txt to any client"
		}
	}
	return n
}

// causeOf returns the cause for a version that disallows nothing.
func causeOf(v *policy.Version) NotProtectingCause {
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

// details describe the file if its status does not.
var details = map[NotProtectingCause]string{
	WebPage: "the answer is a web page",
	UTF16:   "the file is UTF-16",
	Blank:   "the file is empty or has only comments",
	NoRules: "no rule disallows anything",
}

// cures are the remedies by cause.
var cures = map[NotProtectingCause]string{
	RefusedToGuard: "allow /robots.txt without a login and in firewalls; the guard fetches it without a login, from 192.0.2.1",
	NoFile:         `serve a robots.txt, or name a file with "source file <path>"`,
	Redirected:     "let /robots.txt answer with the file itself, or redirect to it in at most five steps",
	WebPage:        "serve a text file at /robots.txt; its route must come before the route of the app that answers all paths",
	UTF16:          "save the file as UTF-8",
	Blank:          `add rules, such as "User-agent: GPTBot" and on the next line "Disallow: /"`,
	NoRules:        `add a line such as "Disallow: /" to the group of each crawler that should stay away`,
}
