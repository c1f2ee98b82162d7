package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// App Engine appends these strings and a program's ID to the User-Agent of the program
// (cloud.google.com/appengine/docs/legacy/standard/go111/outbound-requests).
const (
	appEngineToken    = "appengine-google"
	appEngineIDPrefix = "appid: "
)

// replaceAppEngineToken returns id with the name of the App Engine program as its token, if id is
// App Engine's. A robots.txt can still address the program as AppEngine-Google. Anybody can give a
// program the name of a crawler, so a name in the registry is not accepted.
func (s *parsedUserAgent) replaceAppEngineToken(r *Registry, id Identity) Identity {
	if len(id.Token) != len(appEngineToken) || !hasFoldedPrefix(id.Token, appEngineToken) {
		return id
	}
	_, program, _ := strings.Cut(s.ua, appEngineIDPrefix)
	if len(program) > 1 && program[1] == '~' { // region: s~, e~
		program = program[2:]
	}
	if name := words.FirstWord(program); name != "" && r.Lookup(name) == nil {
		id.Token = name
	}
	return id
}
