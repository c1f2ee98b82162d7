package alert

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	storageAfter = 5 * time.Minute
	listAfter    = 72 * time.Hour // without a look at a list
	noListAfter  = time.Hour      // for a list that was never loaded
	// unknownRequests is the minimum number of requests of an unregistered robot for an
	// alert.
	unknownRequests = 1000
	registryAfter   = time.Hour
	maxNames        = 3   // of the crawlers of a list
	maxError        = 300 // maximum length of a quoted error in bytes
)

// findAtServer returns findings that do not concern a site.
func findAtServer(known Known, now time.Time) (found []finding) {
	if since, err := known.StorageTrouble(); err != nil {
		found = append(found, finding{after: storageAfter, Alert: Alert{
			ID: idOf(StorageFailing), Kind: StorageFailing, Severity: Warning, Since: since,
			Title:  "Saving to the storage fails",
			Detail: "The error is: " + said(err) + " A restart loses all data since then.",
			Do:     "Look at the storage that the Caddyfile names; the log has each attempt.",
		}})
	}
	for _, list := range known.AddressLists() {
		if f, ok := findInList(list, now); ok {
			found = append(found, f)
		}
	}
	return append(append(found, findInRegistry(known.Registry())...), findUnknown(known.Proposals(), now)...)
}

// waveHolds is the time for which the alert of a wave stays open.
const waveHolds = 24 * time.Hour

// findUnknown returns unregistered robots: those in a wave, and the most frequent others.
func findUnknown(proposals []report.Proposal, now time.Time) (found []finding) {
	unknown, waves := 0, 0
	for _, p := range proposals {
		switch {
		case p.Class != uaident.GenericCrawler.String():
			continue
		case p.WaveNetworks > 0 && now.Sub(p.WaveAt) < waveHolds && waves < maxNames:
			waves++
			found = append(found, waveOf(&p))
			continue
		case p.Requests-p.Error < unknownRequests || unknown == maxNames:
			continue
		}
		unknown++
		found = append(found, finding{Alert: Alert{
			ID: idOf(UnknownCrawler, p.Name), Kind: UnknownCrawler, Severity: Info, Crawler: p.Name, Since: p.FirstSeen,
			Title:  p.Name + " is in no registry",
			Detail: fmt.Sprintf("It calls itself a robot, has made many requests (%d so far), %s: %s", p.Requests, p.Seen(), p.UserAgent),
			Do:     "Find out who runs it and what for, and write that into the global option robots_guard. Until then it is of class crawler.",
			Copy:   p.Option,
		}})
	}
	return found
}

// waveOf returns the finding for a robot in a wave.
func waveOf(p *report.Proposal) finding {
	f := finding{Alert: Alert{
		ID: idOf(CrawlerWave, p.Name, p.WaveAt.Format(time.RFC3339)), Kind: CrawlerWave, Severity: Warning, Crawler: p.Name, Since: p.WaveAt,
		Title:  fmt.Sprintf("%s comes from %d networks at once", p.Name, p.WaveNetworks),
		Detail: fmt.Sprintf("Within ten minutes it came from about %d networks, far more than before. It is in no registry and %s: %s", p.WaveNetworks, p.Seen(), p.UserAgent),
		Do:     "Add this to robots.txt if you do not want it; enforce blocks it from then on.",
	}}
	if isToken(p.Name) {
		f.Copy = "User-agent: " + p.Name + "\nDisallow: /"
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
		found = append(found, finding{after: registryAfter, Alert: Alert{
			ID: idOf(RegistryFails, r.Name), Kind: RegistryFails, Severity: Warning, Since: r.FailingSince,
			Title:  "The registry of crawlers cannot be used",
			Detail: text.Cut(text.Printable(r.Failure), maxError) + ". " + meanwhile,
			Do:     "Check the file or URL with: caddy robots-guard registry diff.",
		}})
	}
	return found
}

// findInList looks at an address list.
func findInList(list verify.ListStatus, now time.Time) (finding, bool) {
	f := finding{Alert: Alert{
		ID: idOf(ListsStale, list.Source), Kind: ListsStale, Severity: Warning,
		Title: "The addresses of " + someOf(list.For) + " are out of date",
		Do:    "See whether this server can reach the list. Without it these crawlers are verified by names only, or not at all.",
		Copy:  "curl -I " + quotedWord(list.Source),
	}}
	if len(list.For) == 1 {
		f.Crawler = list.For[0]
	}
	switch {
	case list.Prefixes == 0:
		f.after = noListAfter
		f.Detail = fmt.Sprintf("%s could never be read.", text.Printable(list.Source))
	case now.Sub(list.Checked) >= listAfter:
		f.Since = list.Checked.Add(listAfter)
		f.Detail = fmt.Sprintf("%s was last read at %s.", text.Printable(list.Source), timeWords(list.Checked, now))
	default:
		return f, false
	}
	if list.Next.IsZero() { // a file
		f.Copy, f.Do = "", "See whether the file is there, and can be read by the server."
	}
	if list.Err != nil {
		f.Detail += " The last attempt: " + said(list.Err)
	}
	return f, true
}

// said returns an error as a sentence.
func said(err error) string { return text.Cut(text.Printable(err.Error()), maxError) + "." }

// someOf lists names, the first of many.
func someOf(names []string) string {
	if len(names) > maxNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}
