package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// owner publishes the robots.txt of all sites of a world by rules. It is nil in a world
// where the sites have their own files.
type owner struct {
	rules, before *managed.Schedule // the current rules, which configurations get at their next load, and the previous rules
	rollout       publish.Rollout
	maxAge        time.Duration
	meant         map[string]bool // changes that a person has confirmed or rolled back to
	bases         map[*site]*base // the bases that the rules extend; nil for none
	back          string          // ID of the change that a rollback published, "" after another change
}

// published is what an instance serves for the owner.
type published struct {
	*publish.Publisher
	shown map[*site]string // robots.txt at the last check
	under map[*site]seenUnder
	texts map[string]knownPage // by host
}

// looksEvery is the interval at which instances load the history. It is longer than in
// production to save time, and short enough for the invariants with three minutes.
const looksEvery = 2 * time.Minute

// newOwner chooses the rollout of changes.
func newOwner(dice *rand.Rand, p plan) *owner {
	o := &owner{rules: newRules(dice), maxAge: []time.Duration{time.Minute, time.Hour, 24 * time.Hour}[dice.IntN(3)], meant: make(map[string]bool)}
	o.before = o.rules
	hours := int64(1+dice.IntN(12)) * 3600
	switch dice.IntN(3) {
	case 0:
		o.rollout = publish.Rollout{State: publish.Shadow, Seconds: hours}
	case 1:
		o.rollout = publish.Rollout{State: publish.Canary, Seconds: hours, Hosts: []string{fmt.Sprintf("%c.test", 'a'+p.hosts-1)}}
	}
	return o
}

// newRules returns random rules without contradictions.
func newRules(dice *rand.Rand) *managed.Schedule {
	who := append([]string{"*", "*", "search", "ai_training", "seo"}, tokens...)
	paths := []string{"/", "/a/", "/a/x", "/b", "/b/z$", "/*?", "/c", "/d/e"}
	for {
		var rules []managed.Rule
		for n := range 1 + dice.IntN(4) {
			rules = append(rules, managed.Rule{ID: fmt.Sprint(n), For: []string{who[dice.IntN(len(who))]}, Allow: dice.IntN(4) == 0, Paths: []string{paths[dice.IntN(len(paths))]}})
		}
		if s, err := managed.NewSchedule(uaident.Default(), managed.Spec{Rules: rules}); err == nil {
			return s
		}
	}
}

// publish starts publishing the rules of a new configuration.
func (i *instance) publish(ctx context.Context) (end func()) {
	w := i.world
	var hosts []string
	for _, s := range w.sites {
		hosts = append(hosts, s.host)
	}
	if i.told != nil && i.told != w.owner.rules {
		w.owner.back = "" // this instance learns only now which rules have become current since
	}
	i.hears(w.owner.rules)
	i.state.RecordServedPages(ctx)
	c := publish.Config{
		Schedule: w.owner.rules, Registry: uaident.Default(), ConfirmationMode: publish.ConfirmSearch, Rollout: w.owner.rollout,
		RequestSites: i.sites, SiteHosts: hosts, Storage: i.storage, Sites: &i.state.SiteHistories,
		Instance: func() string { return i.id }, IsRunning: func() bool { return ctx.Err() == nil },
		NewBaseLookup: func() func(string) []byte { return func(string) []byte { return []byte{} } },
		Visits:        i.state.ServedPages, FetchedSince: i.state.CrawlersWithFetchSince, Trials: i.state, Interval: looksEvery, Now: time.Now, Logger: zap.NewNop(), Observer: i.state.Metrics,
	}
	if w.owner.bases != nil {
		c.NewBaseLookup = func() func(string) []byte { return publish.NewBaseLookup(i.state.Bases) }
		c.Source, c.Bases, c.StorageRead = ownTexts{i}, i.state.Bases, i.stored
	}
	p := publish.New(c)
	shown, under := make(map[*site]string), make(map[*site]seenUnder)
	if i.published != nil {
		shown, under = i.published.shown, i.published.under
	}
	i.published = &published{p, shown, under, make(map[string]knownPage)}
	return p.Begin(publish.HandlerPlace{Name: "sites", Hosts: hosts})
}

// hears records the rules that the owner wants. Without the storage the instance cannot
// submit them yet.
func (i *instance) hears(rules *managed.Schedule) {
	i.unsaid = i.storage.cut.Load() && (i.unsaid || i.told != rules)
	i.told = rules
}

// publishes makes the owner change the rules. Either all instances reload, or one
// instance reloads before the others, or a rule list delivers the rules to all
// instances.
func (w *world) publishes(dice *rand.Rand, i *instance) {
	next := newRules(dice)
	if dice.IntN(3) == 0 {
		next = w.owner.before
	}
	w.owner.rules, w.owner.before, w.owner.back = next, w.owner.rules, ""
	w.tell("the owner wants change %s\n%s", publish.SpecID(next.EncodeSpec()), indent(string(next.EncodeSpec())))
	switch dice.IntN(3) {
	case 0:
		w.tell("all reload")
		for _, i := range w.instances {
			i.load()
		}
	case 1:
		w.tell("%s reloads, the other instances later", i.id)
		i.load()
	default:
		w.tell("a rule list delivers the rules")
		for _, i := range w.instances {
			i.published.Submit(next, publish.FromRules, false)
			i.hears(next)
		}
	}
	w.settle()
}

// acts makes the owner confirm, promote, stop or roll back a change.
func (w *world) acts(dice *rand.Rand, i *instance) {
	verb := []string{"confirm", "confirm", "promote", "stop", "rollback"}[dice.IntN(5)]
	changed, err := i.published.ApplyAction(context.Background(), verb, "", publish.Decision{User: "ann", Reason: "meant"})
	if err != nil {
		return // there is no change to act on, or no storage
	}
	state, _ := i.published.History()
	w.tell("the owner runs %s at %s: %s; change %s is published", verb, i.id, changed.State, state.PublishedID())
	if w.owner.back = ""; verb == "rollback" {
		w.owner.back = state.PublishedID()
	}
	if verb == "promote" || verb == "stop" {
		return
	}
	w.owner.meant[state.PublishedID()] = true
	if c := state.Pending; c.IsOnTrial() {
		w.owner.meant[c.ID] = true
	}
}

// watch checks the files that all instances serve. It checks three invariants. A file
// that blocks a search engine is served only after a person has confirmed it. All
// instances that reach the storage eventually serve the same file. The result of a
// rollback stays.
func (w *world) watch() {
	if w.owner == nil {
		return
	}
	w.readsBases()
	for _, i := range w.instances {
		for _, s := range w.sites {
			i.sees(s)
		}
	}
	w.partsBases()
	wrote := int64(-1)
	for range 5 { // all instances load the history within three minutes, but one of them may store a change meanwhile
		if !w.differ() && w.undone() == nil || wrote == w.revision() {
			break
		}
		wrote = w.revision()
		time.Sleep(3 * time.Minute)
	}
	if w.differ() {
		w.fail("instances that reach the storage serve different files for more than three minutes")
	}
	if i := w.undone(); i != nil {
		w.fail("%s does not publish change %s, to which the owner has rolled back", i.id, w.owner.back)
	}
}

// revision returns the latest revision of the history that any instance has.
func (w *world) revision() (latest int64) {
	for _, i := range w.instances {
		state, _ := i.published.History()
		latest = max(latest, state.Revision)
	}
	return latest
}

// undone returns an instance that publishes a different change than that of the last
// rollback, or nil.
func (w *world) undone() *instance {
	for _, i := range w.reaching() {
		if state, known := i.published.History(); known && w.owner.back != "" && state.PublishedID() != w.owner.back {
			return i
		}
	}
	return nil
}

// sees records the file that an instance serves at a site.
func (i *instance) sees(s *site) {
	w, now := i.world, time.Now()
	text := i.text(s.host)
	before, known := i.published.shown[s]
	w.mu.Lock()
	s.note(text, now)
	if known && before != text || !known {
		s.changed, s.settled = now, now
	}
	w.mu.Unlock()
	i.published.shown[s] = text
	state, _ := i.published.History()
	ids := []string{state.PublishedID()}
	if state.Pending != nil {
		ids = append(ids, state.Pending.ID)
	}
	i.holdsText(s, before, text, &state)
	if before == text {
		return
	}
	w.tell("%s serves at %s\n%s", i.id, s.host, indent(text))
	if w.owner.bases != nil {
		return // the site's own file may block search engines
	}
	for _, engine := range engines {
		if allows(parsed(text), engine, "/") {
			continue
		}
		if !allows(parsed(before), engine, "/") { // it was blocked before
			w.owner.meant[ids[0]] = true
		} else if !slices.ContainsFunc(ids, func(id string) bool { return w.owner.meant[id] }) {
			w.fail("%s blocks %s from %s by change %s, which no person has confirmed", i.id, engine, s.host, ids[0])
		}
	}
}

// engines are the search engines that a change may not block without confirmation.
var engines = []string{"Googlebot", "bingbot"}

// differ reports whether two instances that reach the storage serve different files.
func (w *world) differ() bool {
	return slices.ContainsFunc(w.sites, func(s *site) bool { return w.isSettled(s) && w.differAt(s, w.reaching()) })
}

// reaching returns the instances that reach the storage.
func (w *world) reaching() []*instance {
	return slices.DeleteFunc(slices.Clone(w.instances), func(i *instance) bool { return i.storage.cut.Load() })
}

// differAt reports whether instances serve different files at a site.
func (w *world) differAt(s *site, instances []*instance) bool {
	if len(instances) < 2 {
		return false
	}
	first := instances[0].shows(s)
	return slices.ContainsFunc(instances[1:], func(i *instance) bool { return i.shows(s) != first })
}
