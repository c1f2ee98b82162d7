package dashboard

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// query contains the parameters in the URL of a request.
type query struct {
	filter report.Filter
	after  int // after is the number of rows to skip.
	limit  int // limit is the maximum number of rows.
	id     string
}

// parseQuery parses the parameters in the query of a URL. parseQuery ignores unknown parameters.
// limit is the default of the parameter limit.
func parseQuery(raw string, limit int) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, fmt.Errorf("invalid query: %w", err)
	}
	q := query{limit: limit, id: values.Get("id")}
	if q.filter, err = report.ParseFilter(values); err != nil {
		return query{}, err
	}
	if text := values.Get("after"); text != "" {
		if q.after, err = strconv.Atoi(text); err != nil || q.after < 0 {
			return query{}, fmt.Errorf("after %.20q is invalid; use the value of next in the previous page", text)
		}
	}
	if text := values.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > maxLimit {
			return query{}, fmt.Errorf("limit %.20q is not a number from 1 to %d", text, maxLimit)
		}
	}
	return q, nil
}
