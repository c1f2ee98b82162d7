package guard

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Judgement is the guard's result for one request.
type Judgement struct {
	judge.Request
	judge.Result
	userAgent  string        // userAgent is the result of [site.RequestUserAgent].
	VerifiedBy verify.Method // VerifiedBy is the method that verified or refuted the identity.
	// allowedByHold is true if a version that the change guard keeps in force allows the request.
	allowedByHold bool
	isAnnounced   bool // isAnnounced is true if [Guard.Announce] has recorded the judgement.
	// signature is the result of the Web Bot Auth verification, or "" without a signature.
	signature string
	Site      *site.Site // Site must not be modified.
	// Version is the version by which the request was judged. It is nil if no version is known, or if
	// the verdict does not depend on the rules.
	Version         *policy.Version
	redirectTargets []string // redirectTargets are the redirect targets of the last fetch, or only the target of this request if the robots.txt of another site redirects to it.
	Rate            Rate
	judgedAt        time.Time        // judgedAt is the time of the judgement, or of its counting.
	response        responseRecorder // response records the response to a request that passes.
	resources       heldResources
}

// newJudgement returns a judgement for a site. If configured is nil, the site is a copy of other,
// in the same allocation.
func newJudgement(configured *site.Site, other *site.Site) *Judgement {
	if configured != nil {
		return &Judgement{Site: configured}
	}
	both := &struct {
		Judgement
		site site.Site
	}{site: *other}
	both.Site = &both.site
	return &both.Judgement
}

// KnownName returns the crawler's name as spelled in the registry or robots.txt, or "". Other names
// are never stored, because clients can invent them.
func (j *Judgement) KnownName() string {
	if crawler := j.Client.Crawler; crawler != nil {
		return crawler.Token // The code below returns the same, but is slower.
	}
	group := ""
	if j.GroupNamesClient {
		group = j.RobotsVerdict.Group.Name
	}
	return judge.CrawlerName(j.Client, group)
}

// isViolation reports whether the request violates robots.txt or has a spoofed name, no matter
// whether it was blocked, slowed or only logged.
func (j *Judgement) isViolation() bool {
	return j.Action == judge.Logged || j.Action == judge.Blocked || j.Rate.actionWithoutSlowing == judge.Logged
}

// robots returns the parsed robots.txt by which the request was judged, or nil if it is not known.
func (j *Judgement) robots() *policy.Robots {
	if j.Version == nil {
		return nil
	}
	return j.Version.Robots
}

// versionID returns the first 12 hexadecimal digits of the version's hash, or "" without a version.
func (j *Judgement) versionID() string {
	if j.Version == nil {
		return ""
	}
	return hex.EncodeToString(j.Version.Hash[:6])
}

// placeholderPrefix is the prefix of all placeholders.
const placeholderPrefix = "http.robots_guard."

// placeholders has the function of each placeholder by name without the prefix.
var placeholders = map[string]func(*Judgement) string{
	"verdict":  func(j *Judgement) string { return j.Verdict.String() },
	"action":   func(j *Judgement) string { return j.Action.String() },
	"crawler":  func(j *Judgement) string { return j.Client.Name() },
	"class":    func(j *Judgement) string { return j.Client.Class.String() },
	"identity": func(j *Judgement) string { return j.Verification.String() },
	"rule":     func(j *Judgement) string { return j.RobotsVerdict.Rule.String() },
	"line": func(j *Judgement) string {
		if j.RobotsVerdict.Rule.Line == 0 {
			return ""
		}
		return strconv.Itoa(j.RobotsVerdict.Rule.Line)
	},
	"group":   func(j *Judgement) string { return j.RobotsVerdict.Group.Name },
	"version": (*Judgement).versionID,

	"preference.train_ai": func(j *Judgement) string { return j.Preferences[policy.TrainAI].String() },
	"preference.ai_use":   func(j *Judgement) string { return j.Preferences[policy.AIUse].String() },
	"preference.search":   func(j *Judgement) string { return j.Preferences[policy.SearchUse].String() },

	"rate": func(j *Judgement) string { return j.Rate.State.String() },
	"rate.delay": func(j *Judgement) string {
		if j.Rate.Delay.Line == 0 {
			return ""
		}
		return strconv.FormatFloat(j.Rate.Delay.Interval.Seconds(), 'f', -1, 64)
	},
	"rate.line": func(j *Judgement) string {
		if j.Rate.Delay.Line == 0 {
			return ""
		}
		return strconv.Itoa(j.Rate.Delay.Line)
	},
	"rate.wait": func(j *Judgement) string {
		if j.Rate.Wait == 0 {
			return ""
		}
		return strconv.Itoa(int(math.Ceil(j.Rate.Wait.Seconds())))
	},
}

// placeholder returns the value of a placeholder by its whole name. It implements
// caddy.ReplacerFunc.
func (j *Judgement) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	value := placeholders[name]
	if !ok || value == nil {
		return nil, false
	}
	return value(j), true
}

// emptyPlaceholder returns "" for each placeholder of the guard, for requests without a judgement.
// It implements caddy.ReplacerFunc.
func emptyPlaceholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	if !ok || placeholders[name] == nil {
		return nil, false
	}
	return "", true
}

// MarshalLogObject implements [zapcore.ObjectMarshaler].
func (j *Judgement) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("verdict", j.Verdict.String())
	enc.AddString("action", j.Action.String())
	enc.AddString("crawler", j.Client.Name())
	enc.AddString("class", j.Client.Class.String())
	enc.AddString("identity", j.Verification.String())
	if j.VerifiedBy != verify.None {
		enc.AddString("proof", j.VerifiedBy.String())
	}
	if j.signature != "" {
		enc.AddString("signature", j.signature)
	}
	if rule := j.RobotsVerdict.Rule; rule.Line > 0 {
		enc.AddString("rule", rule.String())
		enc.AddInt("line", rule.Line)
	}
	if group := j.RobotsVerdict.Group; group.Line > 0 {
		enc.AddString("group", group.Name)
		enc.AddInt("group_line", group.Line)
	}
	if j.RobotsVerdict.Normalization != 0 {
		enc.AddString("form", j.RobotsVerdict.Normalization.String())
	}
	if j.RobotsVerdict.Ambiguous {
		enc.AddBool("ambiguous", true)
	}
	if j.allowedByHold {
		enc.AddBool("held", true)
	}
	if j.Version != nil {
		enc.AddString("version", j.versionID())
	}
	if stated := j.Preferences; stated != (policy.Preferences{}) {
		enc.AddString("preferences", stated.String())
	}
	j.addRateFields(enc)
	return nil
}
