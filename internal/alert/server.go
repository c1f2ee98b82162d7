package alert

import (
	"fmt"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	maxListAge = 72 * time.Hour // maxListAge is the time without a successful check of a list.
	// minUnregisteredRequests is the minimum number of requests of an unregistered robot for an
	// alert.
	minUnregisteredRequests = 1000
	maxUnregistered         = 3 // This is the maximum number of alerts about unregistered robots without a wave.
	maxWaves                = 20
	waveAlertDuration       = 24 * time.Hour
)

// serverAlerts returns the alerts about the whole server: the storage, address lists, the registry
// and unregistered crawlers.
func serverAlerts(state StateSource, now time.Time) (found []Alert) {
	if since, err := state.StorageFailure(); err != nil {
		found = append(found, Alert{
			ID: newID(StorageFailing), Kind: StorageFailing, Severity: Warning, Since: since,
			Title:  "Saving to the storage fails",
			Detail: formatSentence(err.Error()) + " A restart loses the data since the last successful write.",
			Remedy: "Check the storage in the Caddyfile. The log shows each failed attempt.",
		})
	}
	for _, list := range state.AddressLists() {
		if list.Prefixes == 0 || now.Sub(list.CheckedAt) >= maxListAge {
			found = append(found, outdatedListAlert(list, now))
		}
	}
	if r := state.Registry(); r != nil && r.Failure != "" {
		meanwhile := " Only the built-in registry is in use."
		if r.InUse != nil {
			meanwhile = " The previous version stays in use."
		}
		found = append(found, Alert{
			ID: newID(RegistryFails, r.Name), Kind: RegistryFails, Severity: Warning, Since: r.FailingSince,
			Title:  "The registry of crawlers cannot be used",
			Detail: formatSentence(r.Failure) + meanwhile,
			Remedy: "Check the file or URL with: caddy robots-guard registry diff.",
		})
	}
	return append(found, unregisteredCrawlerAlerts(state.Proposals(), now)...)
}

// outdatedListAlert returns the alert about an address list that could not be updated. It begins at
// the last successful check of the list, if any.
func outdatedListAlert(list verify.ListStatus, now time.Time) Alert {
	a := Alert{
		ID: newID(ListsStale, list.Source), Kind: ListsStale, Severity: Warning, Since: list.CheckedAt,
		Title:         "The address list of " + joinNames(list.Crawlers) + " is out of date",
		Detail:        fmt.Sprintf("%s could never be read.", text.Printable(list.Source)),
		Remedy:        "Check whether this server can reach the list. Without the list, these crawlers are verified by DNS names only, or not at all.",
		RemedySnippet: "curl -I " + shellQuote(list.Source),
	}
	if len(list.Crawlers) == 1 {
		a.Crawler = list.Crawlers[0]
	}
	if list.Prefixes > 0 {
		a.Detail = fmt.Sprintf("%s was last read at %s.", text.Printable(list.Source), formatTime(list.CheckedAt, now))
	}
	if list.NextFetch.IsZero() { // The source is a file, not a URL.
		a.RemedySnippet, a.Remedy = "", "Check whether the file exists and the server can read it."
	}
	if list.Err != nil {
		a.Detail += " " + formatSentence(list.Err.Error())
	}
	return a
}

// unregisteredCrawlerAlerts returns alerts about robots that are not in the registry: robots that
// come from many networks at once, and the most frequent other robots. The oldest alerts of the
// first kind have precedence, so that they stay open.
func unregisteredCrawlerAlerts(proposals []report.RegistryProposal, now time.Time) (found []Alert) {
	var waves, others []report.RegistryProposal
	for _, p := range proposals {
		switch {
		case p.Class != uaident.GenericCrawler.String():
		case p.WaveNetworks > 0 && now.Sub(p.LastWave) < waveAlertDuration:
			waves = append(waves, p)
		case p.Requests-p.Error >= minUnregisteredRequests:
			others = append(others, p)
		}
	}
	slices.SortStableFunc(waves, func(a, b report.RegistryProposal) int { return a.LastWave.Compare(b.LastWave) })
	for _, p := range waves[:min(len(waves), maxWaves)] {
		found = append(found, Alert{
			ID: newID(CrawlerWave, p.Name, p.LastWave.Format(time.RFC3339)), Kind: CrawlerWave, Severity: Warning, Crawler: p.Name, Since: p.LastWave,
			Title:         fmt.Sprintf("%s comes from %d networks at once", p.Name, p.WaveNetworks),
			Detail:        fmt.Sprintf("Within ten minutes, clients with this name came from about %d networks, far more than before. The name is in no registry. So far: %s. User-Agent: %s", p.WaveNetworks, p.DescribeNetworksAndFetches(), p.UserAgent),
			Remedy:        "If you do not want this crawler, add these lines to robots.txt. In mode enforce, the guard then blocks it.",
			RemedySnippet: disallowGroup(p.Name),
		})
	}
	for _, p := range others[:min(len(others), maxUnregistered)] {
		found = append(found, Alert{
			ID: newID(UnknownCrawler, p.Name), Kind: UnknownCrawler, Severity: Info, Crawler: p.Name, Since: p.FirstSeen,
			Title:         p.Name + " is in no registry",
			Detail:        fmt.Sprintf("The client calls itself a robot. So far: %d requests, %s. User-Agent: %s", p.Requests, p.DescribeNetworksAndFetches(), p.UserAgent),
			Remedy:        "Find out the operator and the purpose, and add this line with both to the global option robots_guard. Until then the client has the class crawler.",
			RemedySnippet: p.Option,
		})
	}
	return found
}
