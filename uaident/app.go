package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// What the library of a phone's system appends to the name of the app that asks.
var appLibraries = [...]string{"CFNetwork/", "Dalvik/"}

// What tells an app that shows pages in the system's browser, in one that it brings
// along, or in Facebook's.
var appViews = [...]string{"; wv)", "Electron/", "FBAV/"}

// What an app says of the device that it runs on, by itself or by the library that it is
// made with.
var appDevices = [...]string{"iPhone", "iPad", "iOS", "watchOS", "tvOS", "Alamofire/", "(Mac OS X Version "}

// byApp reports whether an app on somebody's device asks: "Chatbot/5
// CFNetwork/1335.0.3 Darwin/21.6.0", "Chatbot/5 (iPhone; iOS 17.0; Scale/3.00)",
// "Acme/3 (Spider 8; Android 13)". Robots that call at sites under the name of a
// phone copy a whole browser's, or say where they come from.
func (s *scan) byApp() bool {
	if s.hasOne(appLibraries[:]) {
		return true
	}
	if s.signs&(sign(words.Contact)|sign(words.Compatible)) != 0 {
		return false
	}
	if s.hasOne(appViews[:]) {
		return true
	}
	if s.likeBrowser() || strings.Contains(s.ua, "Mozilla/") { // without Safari it is the view of an app
		return strings.Contains(s.ua, " Mobile/1") && !strings.Contains(s.ua, "Safari/")
	}
	return s.signs&sign(words.Device) != 0 || s.hasOne(appDevices[:])
}

// escapedTo returns where the name ends of which a part ends at the given place: the library of
// Apple's devices escapes what an app is called, so that "Acme%20Mail/5 CFNetwork/1121.2.2" is
// Acme Mail and nobody called Acme. Without more of the name that is the place itself.
func (s *scan) escapedTo(end int) int {
	at := end
	for at+2 < len(s.ua) && s.ua[at] == '%' && words.Hex(s.ua[at+1]) && words.Hex(s.ua[at+2]) {
		for at += 3; at < len(s.ua) && words.Fold[s.ua[at]] != words.Gap; at++ {
		}
	}
	if at == end || !strings.Contains(s.ua, appLibraries[0]) {
		return end
	}
	return at
}

// hasOne reports whether the User-Agent has one of the texts in it, in this case.
func (s *scan) hasOne(texts []string) bool {
	for _, text := range texts {
		if strings.Contains(s.ua, text) {
			return true
		}
	}
	return false
}
