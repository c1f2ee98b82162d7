package report

// Violations is the list of disallowed and stale paths that crawlers requested, newest first.
type Violations struct {
	ViewHeader
	// Total is the number of paths on all pages of the list.
	Total      int         `json:"total"`
	Violations []Violation `json:"violations"`
	Next       string      `json:"next,omitempty"` // Next is the value of after for the next page.
}

// Violation is a path that a crawler requested although the robots.txt disallows it. The requests
// were disallowed or, if an older robots.txt still allows the path, stale. A path is listed if the
// time from its first to its last request overlaps the window. Its count includes requests outside
// the window.
type Violation struct {
	Site     string `json:"site"`
	Token    string `json:"token"`
	Class    string `json:"class"`
	Identity string `json:"identity"`
	// Host is the requested host if the site has several hosts.
	Host string `json:"host,omitempty"`
	// Name is the client's own name if the client shares the token with others.
	Name    string `json:"name,omitempty"`
	Path    string `json:"path"` // Path is the path as requested, with at most 200 bytes. … marks a cut.
	Rule    string `json:"rule"`
	Line    int    `json:"line"`
	Group   string `json:"group"`
	Version string `json:"version"`
	Verdict string `json:"verdict"` // Verdict is disallowed or stale.
	// BlockedAtMost is the maximum number of requests that were blocked. All others passed.
	BlockedAtMost uint64 `json:"blocked"`
	Estimate
}
