// Package placement tells where the handlers of this module stand in the routes of
// a configuration: for which requests, and behind which other handlers. What can
// only be seen there is checked here, for Caddyfiles and JSON alike.
package placement
