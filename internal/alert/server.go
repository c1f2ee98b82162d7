package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	minStorageFailure  = 5 * time.Minute
	maxListAge         = 72 * time.Hour // without a look at a list
	minMissingListTime = time.Hour      // for a list that was never loaded
	// minUnregisteredRequests is the minimum number of requests of an unregistered robot for an
	// alert.
	minUnregisteredRequests = 1000
	minRegistryFailure      = time.Hour
	maxWaves                = 20
	maxUnregistered         = 3   // alerts of unregistered robots without a wave
	maxListedNames          = 3   // of the crawlers of a list
	maxErrorBytes           = 300 // maximum length of a quoted error in bytes
)

// findInServer returns findings that do not concern a site.
func findInServer(state StateSource, now time.Time) (found []finding) {
	if since, err := state.StorageFailure(); err != nil {
		found = append(found, finding{minDuration: minStorageFailure, Alert: Alert{
			ID: newID(StorageFailing), Kind: StorageFailing, Severity: Warning, Since: since,
			Title:  "Saving to the storage fails",
			Detail: "The error is: " + errorSentence(err) + " A restart loses all data since then.",
			Remedy: "Look at the storage that the Caddyfile names; the log has each attempt.",
		}})
	}
	for _, list := range state.AddressLists() {
		if f, ok := findInList(list, now); ok {
			found = append(found, f)
		}
	}
	return append(append(found, findInRegistry(state.Registry())...), findUnregistered(state.Proposals(), now)...)
}

// waveAlertDuration is the time for which the alert of a wave stays open.
const waveAlertDuration = 24 * time.Hour

// findUnregistered returns unregistered robots: those in a wave, and the most frequent others. The
// oldest waves have precedence, so that an open alert stays until its wave ends.
func findUnregistered(proposals []report.Proposal, now time.Time) (found []finding) {
	var waves, others []report.Proposal
	for _, p := range proposals {
		switch {
		case p.Class != uaident.GenericCrawler.String():
		case p.WaveNetworks > 0 && now.Sub(p.WaveAt) < waveAlertDuration:
			waves = append(waves, p)
		case p.Requests-p.Error >= minUnregisteredRequests:
			others = append(others, p)
		}
	}
	slices.SortStableFunc(waves, func(a, b report.Proposal) int { return a.WaveAt.Compare(b.WaveAt) })
	for _, p := range waves[:min(len(waves), maxWaves)] {
		found = append(found, waveFinding(&p))
	}
	for _, p := range others[:min(len(others), maxUnregistered)] {
		found = append(found, finding{Alert: Alert{
			ID: newID(UnknownCrawler, p.Name), Kind: UnknownCrawler, Severity: Info, Crawler: p.Name, Since: p.FirstSeen,
			Title:         p.Name + " is in no registry",
			Detail:        fmt.Sprintf("It calls itself a robot, has made many requests (%d so far), %s: %s", p.Requests, p.Seen(), p.UserAgent),
			Remedy:        "Find out who runs it and what for, and write that into the global option robots_guard. Until then it is of class crawler.",
			RemedySnippet: p.Option,
		}})
	}
	return found
}

// waveFinding returns the finding for a robot in a wave.
func waveFinding(p *report.Proposal) finding {
	f := finding{Alert: Alert{
		ID: newID(CrawlerWave, p.Name, p.WaveAt.Format(time.RFC3339)), Kind: CrawlerWave, Severity: Warning, Crawler: p.Name, Since: p.WaveAt,
		Title:  fmt.Sprintf("%s comes from %d networks at once", p.Name, p.WaveNetworks),
		Detail: fmt.Sprintf("Within ten minutes it came from about %d networks, far more than before. It is in no registry and %s: %s", p.WaveNetworks, p.Seen(), p.UserAgent),
		Remedy: "Add this to robots.txt if you do not want it; enforce blocks it from then on.",
	}}
	if isToken(p.Name) {
		f.RemedySnippet = "User-agent: " + p.Name + "\nDisallow: /"
	}
	return f
}

// findInRegistry examines the configured registry.
func findInRegistry(r *report.Registry) (found []finding) {
	if r == nil {
		return nil
	}
	if r.Failure != "" {
		meanwhile := "Only the built-in registry is in use."
		if r.InUse != nil {
			meanwhile = "The previous version stays in use."
		}
		found = append(found, finding{minDuration: minRegistryFailure, Alert: Alert{
			ID: newID(RegistryFails, r.Name), Kind: RegistryFails, Severity: Warning, Since: r.FailingSince,
			Title:  "The registry of crawlers cannot be used",
			Detail: text.Truncate(text.Printable(r.Failure), maxErrorBytes) + ". " + meanwhile,
			Remedy: "Check the file or URL with: caddy robots-guard registry diff.",
		}})
	}
	return found
}

// findInList looks at an address list.
func findInList(list verify.ListStatus, now time.Time) (finding, bool) {
	f := finding{Alert: Alert{
		ID: newID(ListsStale, list.Source), Kind: ListsStale, Severity: Warning,
		Title:         "The addresses of " + joinNames(list.For) + " are out of date",
		Remedy:        "See whether this server can reach the list. Without it these crawlers are verified by names only, or not at all.",
		RemedySnippet: "curl -I " + shellQuote(list.Source),
	}}
	if len(list.For) == 1 {
		f.Crawler = list.For[0]
	}
	switch {
	case list.Prefixes == 0:
		f.minDuration = minMissingListTime
		f.Detail = fmt.Sprintf("%s could never be read.", text.Printable(list.Source))
	case now.Sub(list.Checked) >= maxListAge:
		f.Since = list.Checked.Add(maxListAge)
		f.Detail = fmt.Sprintf("%s was last read at %s.", text.Printable(list.Source), formatTime(list.Checked, now))
	default:
		return f, false
	}
	if list.Next.IsZero() { // a file
		f.RemedySnippet, f.Remedy = "", "See whether the file is there, and can be read by the server."
	}
	if list.Err != nil {
		f.Detail += " The last attempt: " + errorSentence(list.Err)
	}
	return f, true
}

// errorSentence returns an error as a sentence.
func errorSentence(err error) string {
	return text.Truncate(text.Printable(err.Error()), maxErrorBytes) + "."
}

// joinNames lists names, the first of many.
func joinNames(names []string) string {
	if len(names) > maxListedNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListedNames], ", "), len(names)-maxListedNames)
	}
	return strings.Join(names, ", ")
}
