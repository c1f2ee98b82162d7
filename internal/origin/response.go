package origin

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ResponseOf returns the first response of a fetch, which may have followed redirects to a page. ok
// is false if the response is unknown, for example after a timeout.
func ResponseOf(a policy.Answer) (r parity.RobotsResponse, ok bool) {
	r = parity.RobotsResponse{Status: a.Status, HTML: IsWebPage(a.Status, a.Header, a.Body)}
	switch isFile := a.Err == nil && a.Status == http.StatusOK && !r.HTML; {
	case errors.Is(a.Err, ErrBrokeOff) && len(a.Via) == 0:
		return parity.RobotsResponse{}, true
	case len(a.Via) > 0 && !isFile:
		return parity.RobotsResponse{Status: http.StatusFound, Location: a.Via[0]}, true
	case a.Status == 0:
		return r, false
	}
	r.Location = a.Header.Get("Location")
	return r, true
}

// IsWebPage reports whether a response is an HTML page. start is the beginning of its body. If the
// response may be a file, the body decides, since some servers send a robots.txt as text/html.
func IsWebPage(status int, header http.Header, start []byte) bool {
	isHTML := strings.HasPrefix(header.Get("Content-Type"), "text/html") || strings.HasPrefix(header.Get("Content-Type"), "application/xhtml")
	isCoded := header.Get("Content-Encoding") != ""
	switch {
	case len(start) == 0 || isCoded:
		return isHTML && status != http.StatusOK
	case status != http.StatusOK && isHTML:
		return true
	}
	findings, _ := policy.Parse(start).Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}
