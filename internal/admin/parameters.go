package admin

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// filters are the URL parameters that filter a report.
var filters = []string{"site", "host", "class", "identity", "window", "from", "to"}

// pageFilters are the URL parameters of a report that is sent in pages.
var pageFilters = append(slices.Clip(filters), "limit", "after")

// newRoute returns a route for the given methods (words separated by spaces) and URL parameters.
// The response is the value that answer returns, as JSON. Another parameter is an error, because a
// misspelt filter would change the result. Empty parameters and "_", by which clients bypass
// caches, are ignored.
func newRoute(path, methods string, answer func(http.ResponseWriter, *http.Request) (any, error), parameters ...string) caddy.AdminRoute {
	return caddy.AdminRoute{Pattern: path, Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if !slices.Contains(strings.Fields(methods), r.Method) {
			return httpError(http.StatusMethodNotAllowed, "use %s for %s", methods, r.URL.Path)
		}
		if err := checkParameters(r.URL, parameters); err != nil {
			return err
		}
		value, err := answer(w, r)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		if status, ok := value.(interface{ httpStatus() int }); ok {
			w.WriteHeader(status.httpStatus())
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(value)
	})}
}

// checkParameters returns an error for a parameter that is unknown or given twice.
func checkParameters(u *url.URL, parameters []string) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return httpError(http.StatusBadRequest, "the parameters of the URL cannot be read: %w; write them as a=b&c=d", err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch known := slices.Contains(parameters, name); {
		case name == "_", len(query[name]) == 1 && (known || query.Get(name) == ""):
		case known:
			return httpError(http.StatusBadRequest, "the parameter %s is given %d times; remove all but one", name, len(query[name]))
		case len(parameters) == 0:
			return httpError(http.StatusBadRequest, "unknown parameter %.80q; %s takes none", name, u.Path)
		default:
			return httpError(http.StatusBadRequest, "unknown parameter %.80q; %s", name, jsontext.SuggestField(name, parameters))
		}
	}
	return nil
}

// parseNumber returns the value of a URL parameter, or fallback if the parameter is missing. A
// value below least or above most is an error.
func parseNumber(query url.Values, name string, fallback, least, most int) (int, error) {
	value := query.Get(name)
	if value == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, httpError(http.StatusBadRequest, "%s %.40q is not a number from %d to %d", name, value, least, most)
	}
	return n, nil
}

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 128 << 10

// readBody decodes the JSON object in the body of a request into a struct. An unknown field is an
// error. An empty body sets no fields. Data after the object is ignored.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return httpError(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return httpError(http.StatusBadRequest, "the body is not a JSON object as docs/admin.md describes it: %w", jsontext.RemoveGoTypes(err))
	}
	return nil
}
