package guard

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Judgement is all that the guard has to say about one request.
type Judgement struct {
	judge.Request
	judge.Result
	Proof         verify.Method    // what decided about the identity
	allowedByHold bool             // a version that the change guard keeps in force allows the request
	recorded      bool             // it was counted in the ledger
	published     bool             // a guard has acted by it
	signature     string           // what came of checking the request's signature, "" if none was checked
	Site          *request.Site    // whose robots.txt it is about; it is not changed
	kept          *keptSite        // the same with what is at hand of it, nil for a host that is not named just so
	Version       *policy.Version  // the file that the evidence comes from, nil where it is not known
	via           []string         // where that redirects to, as it was asked for last
	Rate          Rate             // how fast the crawler asks
	at            time.Time        // when it was judged by the rules, or counted in the ledger without that
	response      responseRecorder // of the site, if the request passed
	flight        flight           // what the request occupies until its response ends
}

// newJudgement returns one about a site that is kept anyway, or with memory for another.
func newJudgement(kept *keptSite, other *request.Site) *Judgement {
	if kept != nil {
		return &Judgement{Site: kept.Site, kept: kept}
	}
	both := &struct {
		Judgement
		site request.Site
	}{site: *other}
	both.Site = &both.site
	return &both.Judgement
}

// KnownName returns the crawler's name as the registry or the robots.txt spells
// it, "" if neither does: only such a name may be kept, for clients can invent
// all others.
func (j *Judgement) KnownName() string {
	if crawler := j.Client.Crawler; crawler != nil {
		return crawler.Token // what is below says the same, and copies the client twice
	}
	group := ""
	if j.Named {
		group = j.Evidence.Group.Name
	}
	return judge.KnownName(j.Client, group)
}

// isOutside reports whether something is held against the request by the robots.txt,
// or against the name of its client, whether it was blocked or not.
func (j *Judgement) isOutside() bool {
	return j.Action == judge.Logged || j.Action == judge.Blocked || j.Rate.instead == judge.Logged
}

// robots returns the robots.txt that the evidence comes from, nil where it is not known.
func (j *Judgement) robots() *policy.Robots {
	if j.Version == nil {
		return nil
	}
	return j.Version.Robots
}

// versionID returns the start of the hash of the file, "" if none is known.
func (j *Judgement) versionID() string {
	if j.Version == nil {
		return ""
	}
	return hex.EncodeToString(j.Version.Hash[:6])
}

// placeholderPrefix begins the names of all placeholders.
const placeholderPrefix = "http.robots_guard."

// placeholders are the values of the placeholders by the rest of their names.
var placeholders = map[string]func(*Judgement) string{
	"verdict":  func(j *Judgement) string { return j.Verdict.String() },
	"action":   func(j *Judgement) string { return j.Action.String() },
	"crawler":  func(j *Judgement) string { return j.Client.Name() },
	"class":    func(j *Judgement) string { return j.Client.Class.String() },
	"identity": func(j *Judgement) string { return j.Identity.String() },
	"rule":     func(j *Judgement) string { return j.Evidence.Rule.String() },
	"line": func(j *Judgement) string {
		if j.Evidence.Rule.Line == 0 {
			return ""
		}
		return strconv.Itoa(j.Evidence.Rule.Line)
	},
	"group":   func(j *Judgement) string { return j.Evidence.Group.Name },
	"version": (*Judgement).versionID,

	"preference.train_ai": func(j *Judgement) string { return j.Preferences[policy.TrainAI].String() },
	"preference.ai_use":   func(j *Judgement) string { return j.Preferences[policy.AIUse].String() },
	"preference.search":   func(j *Judgement) string { return j.Preferences[policy.SearchUse].String() },

	"rate": func(j *Judgement) string { return j.Rate.State.String() },
	"rate.delay": func(j *Judgement) string {
		if j.Rate.Delay.Line == 0 {
			return ""
		}
		return strconv.FormatFloat(j.Rate.Delay.Every.Seconds(), 'f', -1, 64)
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

// placeholder implements caddy.ReplacerFunc.
func (j *Judgement) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	value := placeholders[name]
	if !ok || value == nil {
		return nil, false
	}
	return value(j), true
}

// emptyPlaceholder implements caddy.ReplacerFunc for requests without a judgement.
func emptyPlaceholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	if !ok || placeholders[name] == nil {
		return nil, false
	}
	return "", true
}

// MarshalLogObject implements [zapcore.ObjectMarshaler]: it writes the judgement
// into a log line.
func (j *Judgement) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("verdict", j.Verdict.String())
	enc.AddString("action", j.Action.String())
	enc.AddString("crawler", j.Client.Name())
	enc.AddString("class", j.Client.Class.String())
	enc.AddString("identity", j.Identity.String())
	if j.Proof != verify.None {
		enc.AddString("proof", j.Proof.String())
	}
	if j.signature != "" {
		enc.AddString("signature", j.signature)
	}
	if rule := j.Evidence.Rule; rule.Line > 0 {
		enc.AddString("rule", rule.String())
		enc.AddInt("line", rule.Line)
	}
	if group := j.Evidence.Group; group.Line > 0 {
		enc.AddString("group", group.Name)
		enc.AddInt("group_line", group.Line)
	}
	if j.Evidence.Form != 0 {
		enc.AddString("form", j.Evidence.Form.String())
	}
	if j.Evidence.Ambiguous {
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
	j.addRate(enc)
	return nil
}
