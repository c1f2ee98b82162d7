package origin

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// FirstResponse returns the first response of a fetch, which may have followed redirects to a page. ok
// is false if the response is unknown, for example after a timeout.
func FirstResponse(answer policy.FetchResult) (response responseaudit.RobotsResponse, ok bool) {
	response = responseaudit.RobotsResponse{Status: answer.Status, HTML: IsHTMLPage(answer.Status, answer.Header, answer.Body)}
	response.Loop = answer.Status >= 300 && answer.Status < 400 // see Follow
	switch isFile := answer.Err == nil && answer.Status == http.StatusOK && !response.HTML; {
	case errors.Is(answer.Err, ErrResponseAborted) && len(answer.RedirectTargets) == 0:
		return responseaudit.RobotsResponse{}, true
	case len(answer.RedirectTargets) > 0 && !isFile:
		return responseaudit.RobotsResponse{Status: http.StatusFound, Location: answer.RedirectTargets[0], Loop: response.Loop}, true
	case answer.Status == 0:
		return response, false
	}
	response.Location = answer.Header.Get("Location")
	return response, true
}

// IsHTMLPage reports whether a response is an HTML page. bodyStart is the beginning of its body. If the
// response may be a file, the body decides, since some servers send a robots.txt as text/html.
func IsHTMLPage(status int, header http.Header, bodyStart []byte) bool {
	isHTML := strings.HasPrefix(header.Get("Content-Type"), "text/html") || strings.HasPrefix(header.Get("Content-Type"), "application/xhtml")
	isEncoded := header.Get("Content-Encoding") != ""
	switch {
	case len(bodyStart) == 0 || isEncoded:
		return isHTML && status != http.StatusOK
	case status != http.StatusOK && isHTML:
		return true
	}
	findings, _ := policy.Parse(bodyStart).Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}
