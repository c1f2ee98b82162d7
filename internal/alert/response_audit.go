package alert

import (
	"fmt"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxResponseAuditAlerts is the maximum number of alerts that responseAuditAlerts returns, verified
// crawlers first. It is also the maximum for withheldAlerts.
const maxResponseAuditAlerts = 50

// responseAuditAlerts returns alerts about responses that contradict a robots.txt.
// responseAuditAlerts omits refusals of unverified clients, which firewalls cause, too, and
// [responseaudit.RobotsWithheld], which withheldAlerts reports.
func responseAuditAlerts(source *report.Source, now time.Time) (found []Alert) {
	for _, x := range source.AuditFindings(report.Filter{}) {
		verified := x.Identity == verify.Verified.String()
		isRefusal := x.Kind == responseaudit.PagesRefused || x.Kind == responseaudit.RobotsFails && x.Status == responseaudit.StatusRefused.String()
		if x.Kind == responseaudit.RobotsWithheld || isRefusal && !verified || len(found) == maxResponseAuditAlerts {
			continue
		}
		severity := Info
		switch {
		case verified && x.IsSearchEngine && x.Kind == responseaudit.RobotsFails && !isRefusal:
			severity = Critical
		case verified && x.IsSearchEngine, verified && x.Kind == responseaudit.RobotsFails:
			severity = Warning
		}
		found = append(found, responseAuditAlert(&x, severity, now))
	}
	return found
}

func responseAuditAlert(x *report.AuditFinding, severity Severity, now time.Time) Alert {
	who := x.Token
	if x.Identity != verify.Verified.String() {
		who = "A client that claims to be " + x.Token
	}
	a := Alert{
		ID: newID(Kind(x.Kind), x.Site, x.Token, x.Identity), Kind: Kind(x.Kind), Severity: severity, Site: x.Site, Crawler: x.Token, Since: x.Since,
		Detail: fmt.Sprintf("%s The numbers count from %s.", formatSentence(x.Text), formatTime(x.CountedSince, now)),
	}
	switch x.Kind {
	case responseaudit.PagesRefused:
		a.Title = fmt.Sprintf("%s is refused %d %% of the pages that the robots.txt of %s allows", who, x.Percent, x.Site)
		a.Remedy = "If you want this crawler, exempt its requests from the firewall, bot filter or rate limit. Otherwise disallow it in the robots.txt."
	case responseaudit.PagesFail:
		a.Title = fmt.Sprintf("%s gets errors for %d %% of its pages at %s", who, x.Percent, x.Site)
		a.Remedy = "Find out why the server fails. A search engine that gets errors comes less often, and in the end drops the pages."
	case responseaudit.RobotsFails:
		a.Title = fmt.Sprintf("%s does not get the robots.txt of %s", who, x.Site)
		a.Remedy = "Let all clients fetch /robots.txt. After 5xx and 429 a crawler assumes that nothing is allowed, after 401 and 403 that everything is allowed."
	}
	return a
}

// withheldAlerts returns an alert about each crawler that gets another response in place of the
// robots.txt.
func withheldAlerts(withheld []responseaudit.WithheldFinding, now time.Time) (found []Alert) {
	for i := range withheld[:min(len(withheld), maxResponseAuditAlerts)] {
		w := &withheld[i]
		title, remedy := w.ProblemAndRemedy(now)
		detail := fmt.Sprintf("%d requests for /robots.txt at %s got no robots.txt.", w.Responses, w.Site)
		if w.Responses == 0 {
			detail = fmt.Sprintf("The self-test found this problem at %s.", w.Site)
		}
		found = append(found, Alert{
			ID:   newID(RobotsWithheld, w.Site, w.Token, strconv.Itoa(int(w.Substitute))),
			Kind: RobotsWithheld, Severity: Warning, Site: w.Site, Crawler: w.Token, Since: w.Since,
			Title:         capitalize(title),
			Detail:        detail + " A crawler that cannot fetch the file cannot follow the rules.",
			Remedy:        capitalize(remedy) + ": add this line to the matcher of the handler that answers instead.",
			RemedySnippet: "not path /robots.txt",
		})
	}
	return found
}
