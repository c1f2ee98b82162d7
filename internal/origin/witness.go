package origin

import "time"

// Witness is a client that was served the robots.txt of a site: all that the
// guard takes from it to be served the same. The zero witness is the guard.
type Witness struct {
	UserAgent  string    // "" for the guard's own
	RemoteAddr string    // "" for the guard's own
	ClientIP   string    // behind a trusted proxy
	Verified   bool      // it is the crawler that it claims to be
	At         time.Time // when it was served the file
}
