package guard

import (
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/forward"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// serveForwardAuth responds to another proxy that asks whether a request may pass: with 200, an
// empty body and the judgement in header fields, or with the response of [Config.RespondRefused].
func (g *Guard) serveForwardAuth(w http.ResponseWriter, r *http.Request) error {
	forbidStoring(w.Header())
	asked, err := forward.DescribedRequest(r)
	if err != nil {
		clearPlaceholders(r)
		return g.refuseUndescribedRequest(w, r, err)
	}
	j := g.Judge(asked)
	path := g.pathVerdict(asked, g.namedSite(asked), Everybody)
	w.Header().Set(pathField, path.String())
	if j == nil {
		if path == PathDisallowed {
			g.countBrowserOnDisallowed(asked)
		}
		clearPlaceholders(r)
		return writePassResponse(w)
	}
	defer j.resources.release()
	g.Announce(asked, j)
	setJudgementFields(w.Header(), j)
	switch {
	case site.IsRobotsTxt(site.OriginalRequest(asked)):
		g.handleForwardedRobotsFetch(asked, j)
	case j.Action == judge.Blocked, j.Action == judge.Slowed:
		return g.RespondRefused(w, r, j, nil)
	default:
		g.recordAllowedPage(j)
	}
	return writePassResponse(w)
}

// writePassResponse tells the proxy to let the request pass. The status is 200, because Envoy
// accepts no other.
func writePassResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
	return nil
}

// forbidStoring keeps caches from storing the response, because each response applies to one
// request.
func forbidStoring(header http.Header) { header.Set("Cache-Control", "no-store") }

// refuseUndescribedRequest responds with an error status to a proxy that did not describe its
// client's request.
func (g *Guard) refuseUndescribedRequest(w http.ResponseWriter, r *http.Request, err error) error {
	problem, ok := errors.AsType[*forward.Problem](err)
	if !ok {
		return err
	}
	g.state.Metrics.CountUndecided(problem.Reason)
	if suppressed, ok := g.state.warningLimits.allowMessage(undecidedHost, problem.Reason.String()); ok {
		level, message := zapcore.WarnLevel, "a proxy does not send the fields that describe the client's request"
		if problem.Reason == forward.UntrustedProxy {
			level, message = zapcore.ErrorLevel, "a client that is not a trusted proxy requests verdicts; add the proxy to trusted_proxies or block the client"
		}
		if c := g.Logger.Check(level, message); c != nil {
			c.Write(zap.String("reason", problem.Reason.String()), zap.Error(problem.Err), site.RequestLogField(r), zap.Uint64("suppressed", suppressed))
		}
	}
	body := "Robots Guard cannot judge this request: " + problem.Error() + ".\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set(answerPrefix+"Undecided", problem.Reason.String())
	w.WriteHeader(problem.Status())
	_, err = w.Write([]byte(body))
	return err
}

// undecidedHost is the host name under which log lines about undecided requests are limited. No
// site has this name.
const undecidedHost = "_undecided"

// answerPrefix is the prefix of the header fields with a judgement.
const answerPrefix = "X-Robots-Guard-"

// pathField is the header field with the [PathVerdict] of the described request. Every response has
// it, also for browsers.
const pathField = "X-Robots-Path"

// maxAnswered bounds the value of each header field in bytes. nginx accepts 4 KiB for all fields by
// default.
const maxAnswered = 128

// setJudgementFields sets a header field with the value of each placeholder that has a value.
func setJudgementFields(header http.Header, j *Judgement) {
	for name, field := range answerFields {
		value := placeholders[name](j)
		if states := !strings.HasPrefix(name, "preference.") || value != policy.PreferenceUnknown.String(); value != "" && states {
			header[field] = []string{text.Printable(text.Truncate(value, maxAnswered))}
		}
	}
}

// answerFields has the names of the header fields by placeholder.
var answerFields = func() map[string]string {
	spelled := strings.NewReplacer(".", "-", "_", "-")
	fields := make(map[string]string, len(placeholders))
	for name := range placeholders {
		fields[name] = textproto.CanonicalMIMEHeaderKey(answerPrefix + spelled.Replace(name))
	}
	return fields
}()

// handleForwardedRobotsFetch handles a request for /robots.txt about which another proxy asks. The
// guard does not see the proxy's response, so for a crawler it fetches the file now, and the
// request waits for this fetch, at most for FetchWait.
func (g *Guard) handleForwardedRobotsFetch(asked *http.Request, j *Judgement) {
	userAgent := site.RequestUserAgent(asked)
	if userAgent == site.GuardUserAgent {
		return // This is our own fetch, through the proxy.
	}
	now := time.Now()
	entry := g.state.Cache.Get(j.Site.Key)
	if j.Client.Class.IsCrawler() {
		if entry == nil {
			entry = g.getOrCreateEntry(j.Site)
		}
		entry.Touch(now)
		g.refetchAndWait(asked, entry, j)
	}
	if !judge.IsRobotsFetch(j.Method, http.StatusOK) {
		return
	}
	read := ledger.RobotsFetch{At: now.UnixMilli(), Status: http.StatusOK}
	g.recordRobotsFetch(asked, j, read)
}

// refetchAndWait fetches the robots.txt of a site even if it is not due, and waits for the fetch,
// at most for FetchWait. After a failed fetch, it fetches only a robots.txt that is due.
func (g *Guard) refetchAndWait(asked *http.Request, entry *policy.Entry, j *Judgement) {
	until := time.Now().Add(g.FetchWait)
	refresh, ok := g.prepareFetch(asked, entry, j.Site)
	if s := entry.State(); !ok || s == nil || s.FailureCount > 0 {
		g.fetchAndWait(asked, entry, j.Site, until)
		return
	}
	g.state.proxies.recordProxy(asked)
	ctx, cancel := context.WithDeadline(asked.Context(), until)
	defer cancel()
	_ = fetchEntryNow(ctx, entry, refresh) // The request goes on without the file.
}
