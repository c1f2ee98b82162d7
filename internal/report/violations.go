package report

// Violations is the view of what was asked for outside robots.txt, the latest
// first.
type Violations struct {
	Head
	// Total is how many rows there are on all pages.
	Total      int         `json:"total"`
	Violations []Violation `json:"violations"`
	Next       string      `json:"next,omitempty"` // the after of the next page
}

// Violation is a path that a crawler has asked for outside robots.txt. A row is
// shown if its last request is in the window; its count begins at its first.
type Violation struct {
	Site     string `json:"site"`
	Token    string `json:"token"`
	Class    string `json:"class"`
	Identity string `json:"identity"`
	// Host is the host that was asked, where the site stands for several.
	Host string `json:"host,omitempty"`
	// Name is what the client calls itself, where the token stands for several.
	Name    string `json:"name,omitempty"`
	Path    string `json:"path"` // as requested, cut after 200 bytes with … as its end
	Rule    string `json:"rule"`
	Line    int    `json:"line"`
	Group   string `json:"group"`
	Version string `json:"version"`
	// Verdict is disallowed, or stale or exempt where the request is let off.
	Verdict string `json:"verdict"`
	// Reason says why a request is stale or exempt.
	Reason string `json:"reason,omitempty"`
	// Blocked is how many of the requests were blocked, at most. The others passed.
	Blocked uint64 `json:"blocked"`
	Estimate
}
