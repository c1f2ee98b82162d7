package uaident

import (
	"slices"
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

// What WebKit's and Chromium's User-Agents end with, behind the products of an application.
var engineEnds = [...]string{" Chrome/", " Safari/", " Electron/"}

// ofApplication reports whether a name in a browser's User-Agent is that of an application
// on a browser engine, which a person uses: "(KHTML, like Gecko) Code/1.99.3 Chrome/132.0.6834.210
// Electron/34.5.1 Safari/537.36". Crawlers in a browser write their name behind all that, after
// "compatible;" or next to a contact.
func (s *scan) ofApplication(start, end int) bool {
	before, after := s.ua[:start], s.ua[end:]
	engine := strings.Contains(before, "AppleWebKit/")
	switch name := s.ua[start:end]; {
	case s.byApp(), strings.Contains(s.ua, "QtWebEngine/"):
		return true
	case !engine || robotLike(name):
		return false
	case strings.Contains(before, " Edg/"): // an application in Edge's WebView2
		return true
	case !strings.Contains(s.ua, "Safari/") && !strings.Contains(s.ua, "Chrome/"): // in the WebKit of macOS
		return true
	default:
		for _, text := range engineEnds {
			if strings.Contains(after, text) {
				return true
			}
		}
		return IsApplication(name)
	}
}

// applications are names of applications and of browsers that people use, in lower case and
// in order. No crawler sends them.
var applications = [...]string{
	"1password", "antigravity", "arc", "atlas", "bitwarden", "chatgpt atlas", "code", "code - insiders", "code - oss",
	"codebuddy", "comet", "cursor", "dia", "dingtalk", "discord", "epicgameslauncher", "feishu", "figma", "figmaagent",
	"genspark", "github desktop", "githubdesktop", "gitkraken", "insomnia", "joplin", "kiro", "lark", "linear", "logseq",
	"mattermost", "messenger", "microsoft teams", "mongodb compass", "notion", "obsidian", "oneoutlook", "operator",
	"outlook", "pearai", "postman", "qoder", "qq", "raycast", "rocket.chat", "signal", "signal-desktop", "skype", "slack",
	"slack_ssb", "spotify", "steam", "teams", "thunderbird", "todoist", "trae", "trello", "vscode", "vscodium", "warp",
	"wechat", "whatsapp", "windsurf", "zed", "zoom",
}

// IsApplication reports whether a name is that of an application or a browser that people use,
// such as Code for VS Code, whatever its case. The list holds well-known names only.
func IsApplication(name string) bool {
	if len(name) > maxName {
		return false
	}
	_, found := slices.BinarySearch(applications[:], strings.ToLower(name))
	return found
}
