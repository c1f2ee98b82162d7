package replay

import (
	"fmt"
	"slices"
	"strings"
)

// fillNotes sets r.Notes to sentences about what the report omits or assumes, for example about
// logs without times.
func (r *Report) fillNotes(p *replayPlan, t *tally, o *Options, logs []*logInput) {
	r.Notes = []string{}
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	for _, in := range logs {
		switch {
		case in.empty && in.format == nil:
			note("%s is empty.", in.name)
		case in.format != nil && !in.format.HasUserAgent:
			note("%s has no User-Agents (format %s), so all its requests count as requests of browsers.", in.name, in.format.Name)
		}
	}
	r.noteHosts(p, t, o, note)
	if p.byHost == nil && t.lines > 0 && t.otherSiteLines == t.lines-t.malformed-t.otherLines-t.otherTimeLines && t.otherSiteLines > 0 && len(r.Hosts) > 0 {
		note("No request is for %s; the logs contain %s.", strings.Join(o.Sites, " or "), r.Hosts[0].Host)
	}
	if t.requests == 0 && t.noUserAgent == t.browsers && t.browsers > 1 && anyHasUserAgents(logs) {
		note("No request has a User-Agent; if the log omits this header, configure the server to log User-Agent.")
	}
	if t.beforeFirst > 0 {
		note("%d requests are older than the first version of the robots.txt, which was applied to them.", t.beforeFirst)
	}
	if p.rate != nil && r.First == nil && t.requests > 0 {
		note("The logs have no times, so the report has no rates.")
	}
	if n := t.sources.droppedRequests; n > 0 {
		note("%d violations are missing in the reports of abuse: the logs have violations from more than %d sources (network and crawler).", n, maxSources)
	}
	if n := t.sources.maskedRequests; n > 0 {
		note("%d violations are missing in the reports of abuse: the end of their addresses was cut off before they were logged.", n)
	}
	if n := t.sources.nonPublicRequests; n > 0 {
		note("%d violations are missing in the reports of abuse: the log has no time or no public address for them.", n)
	}
	if t.tooLong > 0 {
		note("%d lines were longer than 512 KiB and skipped.", t.tooLong)
	}
	if t.rulesDropped > 0 {
		note("%d requests are missing in the table of rules, which has room for %d entries of a crawler, a version and a rule.", t.rulesDropped, maxRules)
	}
}

// noteHosts adds notes about hosts that have no robots.txt of their own, and about requests without
// a host.
func (r *Report) noteHosts(p *replayPlan, t *tally, o *Options, note func(format string, args ...any)) {
	var names, without []string
	for _, host := range r.Hosts {
		text := fmt.Sprintf("%s (%d lines)", host.Host, host.Lines)
		names = append(names, text)
		if _, ok := p.byHost[host.Host]; !ok {
			without = append(without, text)
		}
	}
	switch {
	case p.byHost == nil && len(names) > 1 && len(o.Sites) == 0:
		note("The logs contain several hosts, and all were judged by the same robots.txt: %s. Use --site to choose a host, or --robots with a directory that has a robots.txt for each host.", joinNames(names))
	case p.byHost != nil && len(without) > 0 && len(o.Sites) == 0:
		note("There is no robots.txt for %s; their requests count as requests to other sites.", joinNames(without))
	}
	if t.noHost > 0 {
		note("%d requests have no host in the log, so no robots.txt applies to them; give a robots.txt as a file, or add the host to the log.", t.noHost)
	}
}

// joinNames returns at most three names, separated by commas. If there are more, " and others"
// follows.
func joinNames(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		text += " and others"
	}
	return text
}

// anyHasUserAgents reports whether the format of at least one log has a field for the User-Agent.
func anyHasUserAgents(logs []*logInput) bool {
	return slices.ContainsFunc(logs, func(in *logInput) bool { return in.format != nil && in.format.HasUserAgent })
}
