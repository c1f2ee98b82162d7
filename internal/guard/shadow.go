package guard

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// robotsTrials has the robots.txt files on trial of all running configurations, and what each would
// change.
type robotsTrials struct {
	cache   *policy.Cache // This is the cache of the trial files, which are never stored.
	effects *shadow.Trials

	mu    sync.Mutex // This mutex serializes changes of the trial files.
	files atomic.Pointer[[]*shadow.File]
}

func newTrials() *robotsTrials {
	t := &robotsTrials{cache: policy.NewCache(ConfiguredHostBounds, unknownHostBounds, time.Now, newOverlayCache), effects: shadow.New(time.Now)}
	t.files.Store(new([]*shadow.File))
	return t
}

// StartTrial starts the trial of a file: until end is called, live requests are also judged by this
// file. It does not fetch the file.
func (s *State) StartTrial(file *shadow.File) (end func()) {
	release := s.trials.effects.KeepResults(file.Source)
	s.trials.updateFiles(func(all []*shadow.File) []*shadow.File { return append(all, file) })
	return sync.OnceFunc(func() {
		s.trials.updateFiles(func(all []*shadow.File) []*shadow.File {
			return slices.DeleteFunc(all, func(other *shadow.File) bool { return other == file })
		})
		release()
	})
}

// updateFiles replaces the list of files on trial by the result of edit, which may change its
// argument.
func (t *robotsTrials) updateFiles(edit func([]*shadow.File) []*shadow.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	files := edit(slices.Clone(*t.files.Load()))
	t.files.Store(&files)
}

// configuredTrials yields the trials of the files in the option shadow, the latest configuration
// first.
func (t *robotsTrials) configuredTrials() iter.Seq[robotsTrial] {
	return func(yield func(robotsTrial) bool) {
		for _, file := range slices.Backward(*t.files.Load()) {
			if file.Has == nil && !yield(t.trialForHost(file, "", policy.ConfiguredHosts)) {
				return
			}
		}
	}
}

// fetchConfiguredFiles starts a fetch of each file in the option shadow that is due.
func (t *robotsTrials) fetchConfiguredFiles() {
	for one := range t.configuredTrials() {
		one.startFetch()
	}
}

// addToReport adds the states of the configured files, and the results of all trials, to the data
// of reports.
func (t *robotsTrials) addToReport(to *report.Source) {
	to.TrialStates = make(map[string]*policy.State)
	for one := range t.configuredTrials() {
		to.TrialStates[one.Source] = one.entry.State()
	}
	to.Trials = t.effects.Snapshot()
}

// robotsTrial is the trial of a file for a host. The zero value means no trial.
type robotsTrial struct {
	*shadow.File
	host  string // host has no port.
	entry *policy.Entry
}

// trialForHost returns the trial of a file for a host, which may have a port and may be "". segment
// is the part of the cache for the file.
func (t *robotsTrials) trialForHost(file *shadow.File, host string, segment policy.Segment) robotsTrial {
	key := policy.Key{Source: file.Source, Host: host}
	entry := t.cache.Get(key)
	if entry == nil {
		entry = t.cache.GetOrCreate(key, segment)
	}
	name, _ := addr.SplitPort(host)
	return robotsTrial{file, name, entry}
}

// trialForSite returns the trial for a site: the file of the guard's option shadow, or else a
// change of the managed robots.txt that is on trial at the site.
func (g *Guard) trialForSite(s *site.Site) robotsTrial {
	if g.configuredTrial.File != nil || g.SourceKey != "" {
		return g.configuredTrial
	}
	files := *g.state.trials.files.Load()
	if len(files) == 0 {
		return robotsTrial{}
	}
	host, _ := addr.SplitPort(s.OwnKey().Host)
	i := slices.IndexFunc(files, func(file *shadow.File) bool { return file.Has != nil && file.Has(host) })
	if i < 0 {
		return robotsTrial{}
	}
	return g.state.trials.trialForHost(files[i], s.OwnKey().Host, s.CacheSegment)
}

// startConfiguredTrial starts the trial of the file in the option shadow until ctx ends.
func (g *Guard) startConfiguredTrial(ctx context.Context) robotsTrial {
	key := policy.Key{Source: g.ShadowKey}
	fetch, _ := g.Shadow.Prepare(nil, key)
	freshness := g.Freshness
	freshness.Default = g.ShadowLife
	file := &shadow.File{
		Source: g.ShadowKey, Freshness: freshness, OnFetched: g.logTrialFetched,
		Fetch: func(string) policy.FetchResult { return g.limitFetchTime(fetch, nil, key)() },
	}
	context.AfterFunc(ctx, g.state.StartTrial(file))
	return g.state.trials.trialForHost(file, "", policy.ConfiguredHosts)
}

// startFetch starts a fetch of the file on trial if it is due.
func (t robotsTrial) startFetch() {
	t.entry.Refresh(t.Freshness, func() policy.FetchResult { return t.Fetch(t.host) }, t.OnFetched)
}

// readableVersion returns the fetched version of the file on trial. readableVersion returns nil if
// the file cannot be read, because a missing file would allow everything. If the file is due, a
// background fetch starts.
func (t robotsTrial) readableVersion(now time.Time) *policy.Version {
	if t.entry.IsDue(now) {
		t.startFetch()
	}
	return shadow.ReadableVersion(t.entry.State())
}

// ExpireCopies makes the cached robots.txt of hosts due, because a robots_txt handler has changed
// the file. It implements publish.TrialRunner.
func (s *State) ExpireCopies(has func(host string) bool) {
	for _, e := range s.Cache.Entries() {
		if host, _ := addr.SplitPort(e.Key().Host); e.Key().Source == "" && has(host) {
			e.MakeDue()
		}
	}
}

// judgeTrial judges a request also by the file on trial and records the difference. It runs after
// the judgement by the version in force, which it does not change.
func (g *Guard) judgeTrial(r *http.Request, j *Judgement, t robotsTrial, now time.Time) {
	version := t.readableVersion(now)
	if version == nil {
		return
	}
	q := g.reidentifyAndVerify(r, j, version)
	var scratch judge.Scratch
	var result judge.Result
	rules := judge.Rules{Robots: version.Robots, RedirectTargets: j.redirectTargets}
	if g.isOtherSitesRedirectTarget(j.Site, j.Target) {
		rules.RedirectTargets = []string{j.Target}
	}
	g.Settings.Judge(&q, rules, &scratch, &result)
	note := shadow.Request{
		InForce: j.Version, OnTrial: version, VerdictInForce: j.RobotsVerdict, VerdictOnTrial: result.RobotsVerdict,
		Difference: shadow.DifferenceOf(j.Verdict != judge.Disallowed, result.Verdict != judge.Disallowed),
	}
	if t.IsPublished != nil && t.IsPublished(t.host) { // The host already serves the change, so the file of the trial is the one before the change, and the roles are swapped.
		note.InForce, note.OnTrial, note.VerdictInForce, note.VerdictOnTrial = note.OnTrial, note.InForce, note.VerdictOnTrial, note.VerdictInForce
		note.Difference = shadow.DifferenceOf(result.Verdict != judge.Disallowed, j.Verdict != judge.Disallowed)
		if note.Difference == shadow.NewlyForbidden {
			g.recordSearchEnginePage(j) // The previous version allows the request.
		}
	}
	g.recordTrialResult(j, t.Source, note, &q, &result)
	g.state.Metrics.CountShadowVerdict(note.Difference)
	if note.Difference != shadow.Same {
		g.logTrialDifference(r, j, t.Source, &note)
	}
}

// recordTrialResult records in note, and then in the trials, the result of the file on trial for a
// request. q and result are the request as judged by this file and its result.
func (g *Guard) recordTrialResult(j *Judgement, source string, note shadow.Request, q *judge.Request, result *judge.Result) {
	group := ""
	if result.GroupNamesClient {
		group = result.RobotsVerdict.Group.Name
	}
	note.Site, note.Label, note.Source = *j.Site.OwnKey(), j.Site.Label, source
	note.Token, note.IsNamedInFile, note.Class, note.Identity, note.Target = j.KnownName(), j.GroupNamesClient || result.GroupNamesClient, j.Client.Class, j.Verification, j.Target
	if note.Token == "" {
		note.Token = judge.CrawlerName(q.Client, group)
	}
	switch {
	case j.Verification == verify.Spoofed:
		note.Token = judge.SpoofedName
	case note.Token == "":
		note.Token = judge.OtherName
	}
	if note.Difference != shadow.Same && !j.Site.NamedInConfig {
		note.Host = text.Printable(j.Site.OwnKey().Host)
	}
	g.state.trials.effects.RecordRequest(&note)
}

// logTrialDifference logs at debug level a request for which the file on trial has another verdict.
func (g *Guard) logTrialDifference(r *http.Request, j *Judgement, source string, note *shadow.Request) {
	if c := g.Logger.Check(zapcore.DebugLevel, "the shadow robots.txt has another verdict"); c != nil {
		c.Write(
			zap.Inline(j),
			zap.String("difference", note.Difference.String()),
			zap.String("tried", source),
			zap.String("tried_rule", note.VerdictOnTrial.Rule.String()),
			zap.Int("tried_line", note.VerdictOnTrial.Rule.Line),
			site.RequestLogField(r),
		)
	}
}

// logTrialFetched logs the result of a fetch of the configured file on trial. The level is debug
// unless the result differs from the result of the fetch before.
func (g *Guard) logTrialFetched(before, after policy.State) {
	was, is := shadow.ReadableVersion(&before), shadow.ReadableVersion(&after)
	first := before.Current == nil && before.FailureCount == 0
	level, message := zapcore.DebugLevel, "shadow robots.txt fetched"
	fields := []zap.Field{zap.String("tried", g.ShadowKey)}
	switch {
	case is == nil:
		if message = "shadow robots.txt cannot be fetched; no request is compared"; first || was != nil {
			level = zapcore.WarnLevel
		}
		fields = append(fields, zap.String("error", report.DescribeTrialProblem(&after)))
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
