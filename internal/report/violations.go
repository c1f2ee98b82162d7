package report

// Violations is the list of disallowed and stale paths, newest first.
type Violations struct {
	ViewHeader
	// Total is the number of rows on all pages.
	Total      int         `json:"total"`
	Violations []Violation `json:"violations"`
	Next       string      `json:"next,omitempty"` // value of after for the next page
}

// Violation is a disallowed or stale path requested by a crawler. A row is shown if its last
// request is in the window. The row includes earlier requests.
type Violation struct {
	Site     string `json:"site"`
	Token    string `json:"token"`
	Class    string `json:"class"`
	Identity string `json:"identity"`
	// Host is the requested host of a site with several hosts.
	Host string `json:"host,omitempty"`
	// Name is the client's own name under a shared token.
	Name    string `json:"name,omitempty"`
	Path    string `json:"path"` // as requested, at most 200 bytes; … marks a cut
	Rule    string `json:"rule"`
	Line    int    `json:"line"`
	Group   string `json:"group"`
	Version string `json:"version"`
	Verdict string `json:"verdict"` // disallowed or stale
	// BlockedAtMost is an upper bound of the blocked requests. All other requests passed.
	BlockedAtMost uint64 `json:"blocked"`
	Estimate
}
