package guard

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// tries has the robots.txt files on trial of all running configurations.
type tries struct {
	cache   *policy.Cache // of these files; nothing of them is stored
	sources *standaloneSources
	trials  *shadow.Trials

	candidates candidates
}

func newTries() *tries {
	return &tries{
		cache:   policy.NewCache(NamedBounds, inventedBounds, time.Now, deriveNames),
		sources: new(standaloneSources),
		trials:  shadow.New(time.Now),
	}
}

// readAll starts fetches of the files that are due.
func (t *tries) readAll() {
	if t == nil {
		return
	}
	for _, key := range t.sources.keys() {
		if source := t.sources.of(key); source != nil {
			t.cache.Add(key, policy.Named).Refresh(source.freshness, source.fetch(key), source.onFetched(key))
		}
	}
}

// report adds the files on trial and their effects to the data of reports.
func (t *tries) report(to *report.Source) {
	if t == nil {
		return
	}
	states := make(map[string]*policy.State)
	for _, key := range t.sources.keys() {
		states[key.Source] = nil
		if e := t.cache.Get(key); e != nil {
			states[key.Source] = e.State()
		}
	}
	to.Tried, to.Trials = states, t.trials.Snapshot()
}

// tried is a robots.txt on trial. The zero value means none.
type tried struct {
	entry   *policy.Entry
	from    string // its source
	refresh func() // starts a fetch if it is due; nil for a candidate

	candidate *shadow.Candidate // that composes it, nil for a shadow
	host      string            // of the candidate
}

// try adds the shadow of the configuration until ctx ends. It does not fetch.
func (g *Guard) try(ctx context.Context) tried {
	key := policy.Key{Source: g.ShadowKey}
	fetch, _ := g.Shadow.Prepare(nil, key)
	freshness := g.Freshness
	freshness.Default = g.ShadowLife
	entry := g.shared.tried.cache.Add(key, policy.Named)
	source := &standaloneSource{
		fetch:     func(policy.Key) func() policy.Answer { return g.timed(fetch, nil, key) },
		freshness: freshness,
		onFetched: func(policy.Key) func(before, after policy.State) { return g.onTriedRead },
	}
	g.shared.tried.sources.add(ctx, key, source)
	g.shared.tried.trials.Use(ctx, g.ShadowKey)
	return tried{entry: entry, from: g.ShadowKey, refresh: func() { entry.Refresh(source.freshness, source.fetch(key), source.onFetched(key)) }}
}

// text returns the version on trial, or nil if it cannot be read, because a missing file would allow
// everything. If it is due, a background fetch starts.
func (t tried) text(now time.Time) *policy.Version {
	switch {
	case !t.entry.Due(now):
	case t.candidate != nil:
		t.entry.Refresh(policy.Freshness{Min: candidateLife, Max: candidateLife, Default: candidateLife},
			func() policy.Answer { return t.candidate.Text(t.host) }, nil)
	default:
		t.refresh()
	}
	return shadow.Readable(t.entry.State())
}

// judgeTried also judges a request by the version on trial and counts the difference. It runs after the
// judgement by the version in force and does not change the request's result.
func (g *Guard) judgeTried(r *http.Request, j *Judgement, t tried, now time.Time) {
	version := t.text(now)
	if version == nil {
		return
	}
	q := g.reidentifyForTrial(r, j, version)
	var scratch judge.Scratch
	var result judge.Result
	g.Settings.Judge(&q, judge.Rules{Robots: version.Robots}, &scratch, &result)
	note := shadow.Request{
		InForce: j.Version, Tried: version, Was: j.Evidence, Would: result.Evidence,
		Difference: shadow.DifferenceOf(j.Verdict != judge.Disallowed, result.Verdict != judge.Disallowed),
	}
	if t.isPublished() {
		note.InForce, note.Tried, note.Was, note.Would = note.Tried, note.InForce, note.Would, note.Was
		note.Difference = shadow.DifferenceOf(result.Verdict != judge.Disallowed, j.Verdict != judge.Disallowed)
		if note.Difference == shadow.NewlyForbidden {
			g.rememberPage(j) // the previous version would allow it
		}
	}
	g.noteTried(j, t.from, note, &q, &result)
	g.Metrics.Tried(note.Difference)
	if note.Difference != shadow.Same {
		g.logTried(r, j, t.from, &note)
	}
}

// noteTried counts the result of the version on trial.
func (g *Guard) noteTried(j *Judgement, from string, note shadow.Request, q *judge.Request, result *judge.Result) {
	group := ""
	if result.Named {
		group = result.Evidence.Group.Name
	}
	note.Site, note.Label, note.Source = *j.Site.Own(), j.Site.Label, from
	note.Token, note.Named, note.Class, note.Identity, note.Target = j.KnownName(), j.Named || result.Named, j.Client.Class, j.Identity, j.Target
	if note.Token == "" {
		note.Token = judge.KnownName(q.Client, group)
	}
	switch {
	case j.Identity == verify.Spoofed:
		note.Token = judge.SpoofedName
	case note.Token == "":
		note.Token = judge.OtherName
	}
	if note.Difference != shadow.Same && !j.Site.Named {
		note.Host = text.Printable(j.Site.Own().Host)
	}
	g.shared.tried.trials.Note(&note)
}

// logTried logs a single request at debug level.
func (g *Guard) logTried(r *http.Request, j *Judgement, from string, note *shadow.Request) {
	if c := g.Logger.Check(zapcore.DebugLevel, "the shadow robots.txt has another verdict"); c != nil {
		c.Write(
			zap.Inline(j),
			zap.String("difference", note.Difference.String()),
			zap.String("tried", from),
			zap.String("tried_rule", note.Would.Rule.String()),
			zap.Int("tried_line", note.Would.Rule.Line),
			request.LogField(r),
		)
	}
}

// onTriedRead logs whether the shadow can be read, once for each change.
func (g *Guard) onTriedRead(before, after policy.State) {
	was, is := shadow.Readable(&before), shadow.Readable(&after)
	first := before.Good == nil && before.Failures == 0
	level, message := zapcore.DebugLevel, "shadow robots.txt fetched"
	fields := []zap.Field{zap.String("tried", g.ShadowKey)}
	switch {
	case is == nil:
		if message = "shadow robots.txt cannot be fetched; no request is compared"; first || was != nil {
			level = zapcore.WarnLevel
		}
		fields = append(fields, zap.String("error", report.TriedTrouble(&after)))
	case was == nil || was.Hash != is.Hash:
		level = zapcore.InfoLevel
		fallthrough
	default:
		fields = append(fields, zap.Int("rules", is.Robots.RuleCount()))
	}
	if c := g.Logger.Check(level, message); c != nil {
		c.Write(fields...)
	}
}
