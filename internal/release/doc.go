// Package release brings what the owner of a robots_txt wants into force: it submits
// that to the history, says why a person has to confirm it, and serves what the
// history has as published.
package release
