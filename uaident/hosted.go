package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// App Engine appends these strings and a program's ID to the User-Agent of the program
// (cloud.google.com/appengine/docs/legacy/standard/go111/outbound-requests).
const (
	appEngine = "appengine-google"
	appID     = "appid: "
)

// programOnAppEngine replaces the token of App Engine by the name of the program. App Engine
// remains in the chain. Anybody can give a program the name of a crawler, so the name of a
// registry entry is not accepted.
func (s *scan) programOnAppEngine(r *Registry, id Identity) Identity {
	if len(id.Token) != len(appEngine) || !hasFoldedPrefix(id.Token, appEngine) {
		return id
	}
	_, program, _ := strings.Cut(s.ua, appID)
	if len(program) > 1 && program[1] == '~' { // region: s~, e~
		program = program[2:]
	}
	if name := words.FirstWord(program); name != "" && r.Lookup(name) == nil {
		id.Token = name
	}
	return id
}
