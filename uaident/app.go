package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// appLibraryProducts are products that system libraries of phones add to the User-Agents of apps.
var appLibraryProducts = [...]string{"CFNetwork/", "Dalvik/"}

// webViewMarkers occur in the User-Agents of apps with an embedded browser (web view).
var webViewMarkers = [...]string{"; wv)", "Electron/", "FBAV/"}

// appMarkers occur in User-Agents of apps that do not begin like a browser's.
var appMarkers = [...]string{"iPhone", "iPad", "iOS", "watchOS", "tvOS", "Alamofire/", "(Mac OS X Version "}

// isFromApp reports whether an app on a person's device sent the request, as in "Chatbot/5
// CFNetwork/1335.0.3 Darwin/21.6.0" and "Acme/3 (Spider 8; Android 13)". A robot that imitates a
// phone sends a different User-Agent: a whole browser's, or a name with a contact.
func (s *parsedUserAgent) isFromApp() bool {
	if s.containsAny(appLibraryProducts[:]) {
		return true
	}
	if s.kindBits&(kindBit(words.Contact)|kindBit(words.Compatible)) != 0 {
		return false
	}
	if s.containsAny(webViewMarkers[:]) {
		return true
	}
	if s.startsLikeBrowser() || strings.Contains(s.ua, "Mozilla/") { // A web view on iOS omits Safari.
		return strings.Contains(s.ua, " Mobile/1") && !strings.Contains(s.ua, "Safari/")
	}
	return s.kindBits&kindBit(words.Device) != 0 || s.containsAny(appMarkers[:])
}

// endOfEscapedName returns the end of an app's name whose first word ends at end. Apple's network
// library escapes spaces: in "Acme%20Mail/5 CFNetwork/1121.2.2" the name is Acme%20Mail, not Acme.
// The result for a name without escaped bytes is end.
func (s *parsedUserAgent) endOfEscapedName(end int) int {
	at := end
	for at+2 < len(s.ua) && s.ua[at] == '%' && words.IsHex(s.ua[at+1]) && words.IsHex(s.ua[at+2]) {
		for at += 3; at < len(s.ua) && words.Fold[s.ua[at]] != words.Gap; at++ {
		}
	}
	if at == end || !strings.Contains(s.ua, appLibraryProducts[0]) {
		return end
	}
	return at
}

// containsAny reports whether the User-Agent contains one of the substrings in the same case.
func (s *parsedUserAgent) containsAny(substrings []string) bool {
	for _, substring := range substrings {
		if strings.Contains(s.ua, substring) {
			return true
		}
	}
	return false
}

// browserProducts end the User-Agents of browser engines. An application on such an engine writes
// its name before these products.
var browserProducts = [...]string{" Chrome/", " Safari/", " Electron/"}

// isApplicationAt reports whether ua[start:end], in a browser's User-Agent, is the name of an
// application that a person uses: "(KHTML, like Gecko) Code/1.99.3 Chrome/132.0.6834.210
// Electron/34.5.1 Safari/537.36". A crawler in a browser writes its name at the end, after
// "compatible;" or next to a contact.
func (s *parsedUserAgent) isApplicationAt(start, end int) bool {
	before, after := s.ua[:start], s.ua[end:]
	isWebKit := strings.Contains(before, "AppleWebKit/")
	switch name := s.ua[start:end]; {
	case s.isFromApp(), strings.Contains(s.ua, "QtWebEngine/"):
		return true
	case !isWebKit || looksLikeRobot(name):
		return false
	case strings.Contains(before, " Edg/"): // This is a WebView2 of Edge.
		return true
	case !strings.Contains(s.ua, "Safari/") && !strings.Contains(s.ua, "Chrome/"): // This is a web view on macOS.
		return true
	default:
		for _, product := range browserProducts {
			if strings.Contains(after, product) {
				return true
			}
		}
		return IsApplication(name)
	}
}

// applicationNames are names of well-known applications and browsers, in lower case and sorted. In
// the built-in registry, only libraries and previews have these names.
var applicationNames = [...]string{
	"1password", "antigravity", "arc", "atlas", "bitwarden", "chatgpt atlas", "code", "code - insiders", "code - oss",
	"codebuddy", "comet", "cursor", "dia", "dingtalk", "discord", "epicgameslauncher", "feishu", "figma", "figmaagent",
	"genspark", "github desktop", "githubdesktop", "gitkraken", "insomnia", "joplin", "kiro", "lark", "linear", "logseq",
	"mattermost", "messenger", "microsoft teams", "mongodb compass", "notion", "obsidian", "oneoutlook", "operator",
	"outlook", "pearai", "postman", "qoder", "qq", "raycast", "rocket.chat", "signal", "signal-desktop", "skype", "slack",
	"slack_ssb", "spotify", "steam", "teams", "thunderbird", "todoist", "trae", "trello", "vscode", "vscodium", "warp",
	"wechat", "whatsapp", "windsurf", "zed", "zoom",
}

// IsApplication reports whether name, ignoring case, is a well-known application or browser, such
// as Code (VS Code). In the built-in registry, only libraries and previews have such names.
func IsApplication(name string) bool {
	if len(name) > maxName {
		return false
	}
	_, found := slices.BinarySearch(applicationNames[:], strings.ToLower(name))
	return found
}
