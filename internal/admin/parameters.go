package admin

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// filters are the URL parameters that filter a report.
var filters = []string{"site", "host", "class", "identity", "window", "from", "to"}

// pageFilters are the URL parameters of a report with pages.
var pageFilters = append(slices.Clip(filters), "limit", "after")

// withParameters wraps an endpoint that accepts these URL parameters, each once. A misspelt parameter is an
// error, because the response would answer another question. An empty parameter has no effect.
// Clients use "_" to bypass caches.
func withParameters(handler caddy.AdminHandlerFunc, parameters ...string) caddy.AdminHandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return httpError(http.StatusBadRequest, "the parameters of the URL cannot be read: %w; they look like a=b&c=d", err)
		}
		for _, name := range slices.Sorted(maps.Keys(query)) {
			switch {
			case slices.Contains(parameters, name) && len(query[name]) == 1:
			case name == "_", query.Get(name) == "" && len(query[name]) == 1:
			case slices.Contains(parameters, name):
				return httpError(http.StatusBadRequest, "the parameter %s is given %d times; remove all but one", name, len(query[name]))
			case len(parameters) == 0:
				return httpError(http.StatusBadRequest, "unknown parameter %.80q; %s takes none", name, r.URL.Path)
			default:
				return httpError(http.StatusBadRequest, "unknown parameter %.80q; %s", name, jsontext.SuggestField(name, parameters))
			}
		}
		return handler(w, r)
	}
}

// readBody parses a JSON object into a value. Unknown fields are an error. Data after the object is
// ignored.
func readBody(body io.Reader, into any) error {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
