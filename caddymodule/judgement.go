package caddymodule

import (
	"encoding/hex"
	"strconv"
	"strings"

	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// verdict is what a robots.txt says about a request.
type verdict uint8

const (
	verdictAllowed    verdict = iota
	verdictDisallowed         // forbidden by the rules
	verdictStale              // forbidden by a version that this crawler need not know yet
	verdictExempt             // the class is not judged by this group, or configured so
	verdictUnknown            // nobody knows the rules
)

func (v verdict) String() string {
	return [...]string{"allowed", "disallowed", "stale", "exempt", "unknown"}[v]
}

// action is what the guard did about a request.
type action uint8

const (
	actionNone action = iota
	actionLogged
	actionBlocked
)

func (a action) String() string { return [...]string{"none", "logged", "blocked"}[a] }

// identity is how sure it is that a client is who it claims to be.
type identity = verify.State

const (
	identityClaimed  = verify.Claimed
	identityUnknown  = verify.Unknown
	identityVerified = verify.Verified
	identitySpoofed  = verify.Spoofed
)

func parseIdentity(word string) (identity, bool) {
	for _, i := range verify.States() {
		if word == i.String() {
			return i, true
		}
	}
	return 0, false
}

// identitySet is a set of identities.
type identitySet uint8

func (s identitySet) has(i identity) bool { return s == 0 || s&(1<<i) != 0 }

// judgement is all that the guard has to say about one request.
type judgement struct {
	client   uaident.Identity
	identity identity
	proof    verify.Method // what decided about the identity
	site     site
	named    bool // a group of the robots.txt names the client
	verdict  verdict
	action   action
	held     bool            // allowed by a version that the change guard keeps in force
	closed   bool            // everything is closed since nobody knows the rules
	liar     bool            // the rules allow it, and only its false name does not
	policy   policy.Verdict  // the evidence, where the rules were asked
	version  *policy.Version // the file it comes from, nil where it is not known
	target   string          // as requested
}

// knownName returns the crawler's name as the registry or the robots.txt spells
// it, "" if neither does: only such a name may be kept, for clients can invent
// all others.
func (j *judgement) knownName() string {
	group := ""
	if j.named {
		group = j.policy.Group.Name
	}
	return judge.KnownName(j.client, group)
}

// versionID returns the start of the hash of the file, "" if none is known.
func (j *judgement) versionID() string {
	if j.version == nil {
		return ""
	}
	return hex.EncodeToString(j.version.Hash[:6])
}

// placeholder implements caddy.ReplacerFunc.
func (j *judgement) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, "http.robots_guard.")
	if !ok {
		return nil, false
	}
	switch name {
	case "verdict":
		return j.verdict.String(), true
	case "action":
		return j.action.String(), true
	case "crawler":
		return j.client.Name(), true
	case "class":
		return j.client.Class.String(), true
	case "identity":
		return j.identity.String(), true
	case "rule":
		return j.policy.Rule.String(), true
	case "line":
		if j.policy.Rule.Line == 0 {
			return "", true
		}
		return strconv.Itoa(j.policy.Rule.Line), true
	case "group":
		return j.policy.Group.Name, true
	case "version":
		return j.versionID(), true
	}
	return nil, false
}

// noPlaceholder implements caddy.ReplacerFunc for requests without a judgement.
func noPlaceholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, "http.robots_guard.")
	if !ok {
		return nil, false
	}
	switch name {
	case "verdict", "action", "crawler", "class", "identity", "rule", "line", "group", "version":
		return "", true
	}
	return nil, false
}

// MarshalLogObject writes the judgement into a log line.
func (j *judgement) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("verdict", j.verdict.String())
	enc.AddString("action", j.action.String())
	enc.AddString("crawler", j.client.Name())
	enc.AddString("class", j.client.Class.String())
	enc.AddString("identity", j.identity.String())
	if j.proof != verify.None {
		enc.AddString("proof", j.proof.String())
	}
	if rule := j.policy.Rule; rule.Line > 0 {
		enc.AddString("rule", rule.String())
		enc.AddInt("line", rule.Line)
	}
	if group := j.policy.Group; group.Line > 0 {
		enc.AddString("group", group.Name)
		enc.AddInt("group_line", group.Line)
	}
	if j.policy.Form != 0 {
		enc.AddString("form", j.policy.Form.String())
	}
	if j.policy.Ambiguous {
		enc.AddBool("ambiguous", true)
	}
	if j.held {
		enc.AddBool("held", true)
	}
	if j.version != nil {
		enc.AddString("version", j.versionID())
	}
	return nil
}
