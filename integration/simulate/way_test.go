package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// mostHops is the number of redirects that every client follows. Some crawlers follow
// more.
const mostHops = 5

// way is a chain of redirects of a robots.txt. The zero value has no redirects.
type way struct {
	hops   []string // hosts and paths, in order
	round  bool     // the last hop redirects to the first
	status int
	text   string // served at the end instead of the site's file; "" for the site's file
}

// isLong reports whether some clients do not reach the end.
func (y way) isLong() bool { return y.round || len(y.hops) > mostHops }

// next returns where a hop redirects to, or "". Hop 0 is /robots.txt.
func (y way) next(hop int) string {
	switch {
	case hop < len(y.hops):
		return y.hops[hop]
	case y.round:
		return y.hops[0]
	}
	return ""
}

// elsewhere is a host without a guard.
const elsewhere = "elsewhere.test"

// webPage is the page that some sites serve instead of a robots.txt.
const webPage = "<!DOCTYPE html>\n<html><body>Please log in.\n</body></html>\n"

// stamp begins the comment of a site that writes the time into its file.
const stamp = "# written at "

// unstamped returns a file without the comment with the time.
func unstamped(text string) string {
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, stamp) {
		return rest
	}
	return text
}

// newWay returns a random chain of redirects within the site and to another host. The
// rules of the site may disallow the redirect targets. n makes its paths differ from
// those of earlier chains.
func newWay(dice *rand.Rand, host, other string, n int) way {
	y := way{status: []int{301, 302, 303, 307, 308}[dice.IntN(5)]}
	paths := []string{"/a/robots", "/b/rules", "/c.txt", "/d/e/r", "/files/robots.txt", "/robots"}
	for hop := range []int{1, 1, 2, 3, 5, 5, 6, 8}[dice.IntN(8)] {
		at := host
		if dice.IntN(3) == 0 {
			at = other
		}
		y.hops = append(y.hops, fmt.Sprintf("%s%s?%d.%d", at, paths[dice.IntN(len(paths))], n, hop))
	}
	y.round = dice.IntN(8) == 0
	if dice.IntN(8) == 0 {
		y.text = webPage
	}
	return y
}

// leads makes a site redirect its robots.txt, partly through another host, or stop
// doing so.
func (w *world) leads(dice *rand.Rand, s *site, other string) {
	y := way{}
	if dice.IntN(4) > 0 {
		w.ways++
		y = newWay(dice, s.host, other, w.ways)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.mode == turns || s.mode == byAgent {
		s.unclear = time.Now()
	}
	now := time.Now()
	s.way, s.changed, s.settled = y, now, now
	s.phases = append(s.phases, phase{s.mode, s.shown(), y.isLong(), now})
	w.tell("%s redirects to %q, round: %t, web page: %t", s.host, y.hops, y.round, y.text != "")
}

// shown returns the file at the end of the redirects.
func (s *site) shown() string {
	if s.way.text != "" {
		return s.way.text
	}
	return s.text
}

// robotsAt returns the site to whose robots.txt a URL leads, nil for none, and the URL
// to which it redirects, "" for none. It uses the current redirects.
func (w *world) robotsAt(host, target string) (of *site, to string) {
	if target == "/robots.txt" {
		if s := w.site(host); s != nil {
			return s, s.way.next(0)
		}
		return nil, ""
	}
	for _, s := range w.sites {
		if n := slices.Index(s.way.hops, host+target); n >= 0 {
			return s, s.way.next(n + 1)
		}
	}
	return nil, ""
}

// isStep reports whether a URL is a redirect target of a robots.txt that the guard
// treats as a page. That happens at another site, or while the file is unavailable.
func (w *world) isStep(host, target string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, _ := w.robotsAt(host, target)
	return s != nil && target != "/robots.txt" && (s.host != host || !s.mode.isAnswered())
}

// answerAt returns the response for a URL of a robots.txt or of its redirects. ok is
// false for other URLs. The caller must hold the lock of the world.
func (w *world) answerAt(host, target, agent string, guard bool) (a policy.FetchResult, ok bool) {
	s, to := w.robotsAt(host, target)
	switch {
	case s == nil:
		return a, false
	case to != "":
		return policy.FetchResult{Status: s.way.status, Header: http.Header{"Location": {"http://" + to}}}, true
	}
	status, text := s.answer(agent, guard, time.Now())
	if s.stamps && status == http.StatusOK {
		text = stamp + time.Now().String() + "\n" + text
	}
	return policy.FetchResult{Status: status, Body: []byte(text), Header: s.header()}, true
}

// fetchFrom fetches the robots.txt of a site as the guard does, with redirects.
func (i *instance) fetchFrom(ctx context.Context, s *site) policy.FetchResult {
	w := i.world
	isOwn := func(u *url.URL) bool { return u.Host == s.host }
	answer := guardsite.FollowRedirects(ctx, &url.URL{Scheme: "http", Host: s.host, Path: "/robots.txt"}, isOwn, nil, func(_ context.Context, u *url.URL, _ http.Header) policy.FetchResult {
		w.mu.Lock()
		defer w.mu.Unlock()
		a, ok := w.answerAt(u.Host, u.RequestURI(), "", true)
		if !ok {
			return policy.FetchResult{Status: http.StatusNotFound}
		}
		return a
	})
	if answer.Status == http.StatusServiceUnavailable {
		if answer.Err = errors.New("the site answered 503"); s.mode == hangs {
			<-ctx.Done()
			answer = policy.FetchResult{Err: context.Cause(ctx), RedirectTargets: answer.RedirectTargets}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	text := unstamped(string(answer.Body))
	switch {
	case answer.Status == http.StatusForbidden && i.saw[s] != nil: // 403 shows the guard that there is no file
		i.saw[s].text, i.saw[s].last = "", time.Now()
		return answer
	case answer.Status >= 400 && answer.Status != http.StatusNotFound, answer.Err != nil:
		return answer
	case s.way.isLong():
		text = "" // the guard should not have reached the end
	case answer.Status >= 300 && answer.Status < 400:
		text = s.shown() // the guard should have reached the end
	}
	i.sawText(s, text)
	i.gets(s, text)
	return answer
}

// follows makes a crawler fetch robots.txt with redirects. The result is a redirect if
// the crawler does not follow any more. hops is the number of redirects that it
// followed.
func (w *world) follows(c *crawler, i *instance, s *site, address string, unseen bool) (status int, text string, hops int) {
	host, target := s.host, "/robots.txt"
	for {
		a := w.get(c, i, s, host, target, address, unseen, hops)
		to, isRedirect := strings.CutPrefix(a.Header.Get("Location"), "http://")
		if !isRedirect || hops == c.patience {
			return a.Status, unstamped(string(a.Body)), hops
		}
		if hops++; hops > mostHops || hops >= 2 && s.mode == hangs { // the guard does not follow these, so it treats the targets as pages
			time.Sleep(w.every(c.token, nil))
		}
		host, target, _ = strings.Cut(to, "/")
		target = "/" + target
		w.tell("%s is redirected to %s", c.token, to)
	}
}

// get makes a crawler request a URL that may lead to a robots.txt. None of them may be
// blocked, because the crawler cannot know the rules yet. There are two exceptions:
// while the file is unavailable, instances do not know the redirect targets. Limits
// apply to targets at other sites.
func (w *world) get(c *crawler, i *instance, s *site, host, target, address string, unseen bool, hops int) policy.FetchResult {
	if unseen || host == elsewhere {
		w.mu.Lock()
		defer w.mu.Unlock()
		a, ok := w.answerAt(host, target, c.token, false)
		if !ok {
			a.Status = http.StatusNotFound
		}
		return a
	}
	answer := i.ask(c.token+"/1.0", address, host, target)
	w.settle()
	if host != s.host && hops > mostHops {
		return policy.FetchResult{Status: answer.Code, Header: answer.Header(), Body: answer.Body.Bytes()} // a page
	}
	isRefused := answer.Code == http.StatusForbidden || answer.Code == http.StatusTooManyRequests && s.mode != limits
	switch {
	case isRefused && (!s.mode.isAnswered() || answer.Code == http.StatusTooManyRequests && host != s.host):
		return policy.FetchResult{Status: http.StatusServiceUnavailable}
	case isRefused:
		w.fail("%s is redirected to %s%s for robots.txt, but is refused at %s", c.token, host, target, i.id)
	}
	return policy.FetchResult{Status: answer.Code, Header: answer.Header(), Body: answer.Body.Bytes()}
}
