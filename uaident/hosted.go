package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// What App Engine appends to the User-Agent of a program that runs on it; the id of
// the program follows (cloud.google.com/appengine/docs/legacy/standard/go111/outbound-requests).
const (
	appEngine = "appengine-google"
	appID     = "appid: "
)

// hosted gives a client that names only the platform which it runs on the name of its
// program as the token. The platform's stays in the chain. The name of a crawler that is
// known is none: whoever likes calls a program so, and nobody would verify it.
func (s *scan) hosted(r *Registry, id Identity) Identity {
	if len(id.Token) != len(appEngine) || !hasFoldedPrefix(id.Token, appEngine) {
		return id
	}
	_, program, _ := strings.Cut(s.ua, appID)
	if len(program) > 1 && program[1] == '~' { // the region: s~, e~
		program = program[2:]
	}
	if name := words.FirstWord(program); name != "" && r.Lookup(name) == nil {
		id.Token = name
	}
	return id
}
