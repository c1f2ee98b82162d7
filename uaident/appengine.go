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

// replaceAppEngineToken replaces the token AppEngine-Google of id by the ID of the App Engine
// program. AppendNames still appends AppEngine-Google. An ID that is a name in the registry is
// ignored, because anybody can choose the name of a crawler as an ID.
func (s *parsedUserAgent) replaceAppEngineToken(r *Registry, id Identity) Identity {
	if len(id.Token) != len(appEngineToken) || !hasFoldedPrefix(id.Token, appEngineToken) {
		return id
	}
	_, program, _ := strings.Cut(s.ua, appEngineIDPrefix)
	if len(program) > 1 && program[1] == '~' { // This skips the prefix of a region, such as "s~".
		program = program[2:]
	}
	if name := words.FirstWord(program); name != "" && r.Lookup(name) == nil {
		id.Token = name
	}
	return id
}
