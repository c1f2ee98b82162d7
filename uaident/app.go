package uaident

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// appLibraries are system libraries of phones. They append their name to the name of an app.
var appLibraries = [...]string{"CFNetwork/", "Dalvik/"}

// webViewMarkers occur in the User-Agents of apps that show pages in an embedded browser.
var webViewMarkers = [...]string{"; wv)", "Electron/", "FBAV/"}

// appDeviceNames are device names in the User-Agents of apps.
var appDeviceNames = [...]string{"iPhone", "iPad", "iOS", "watchOS", "tvOS", "Alamofire/", "(Mac OS X Version "}

// isFromApp reports whether an app on a person's device sent the request: "Chatbot/5
// CFNetwork/1335.0.3 Darwin/21.6.0", "Chatbot/5 (iPhone; iOS 17.0; Scale/3.00)", "Acme/3
// (Spider 8; Android 13)". A robot that pretends to be a phone copies a whole browser's
// User-Agent or adds a contact.
func (s *parsedUserAgent) isFromApp() bool {
	if s.containsAny(appLibraries[:]) {
		return true
	}
	if s.signBits&(kindSign(words.Contact)|kindSign(words.Compatible)) != 0 {
		return false
	}
	if s.containsAny(webViewMarkers[:]) {
		return true
	}
	if s.startsLikeBrowser() || strings.Contains(s.ua, "Mozilla/") { // without Safari: an app's web view
		return strings.Contains(s.ua, " Mobile/1") && !strings.Contains(s.ua, "Safari/")
	}
	return s.signBits&kindSign(words.Device) != 0 || s.containsAny(appDeviceNames[:])
}

// endOfEscapedName returns the offset at which the name of an app ends, if its first word ends at
// end. Apple's network library escapes spaces in the name: "Acme%20Mail/5 CFNetwork/1121.2.2" is
// Acme Mail and not Acme. If no escaped byte follows end, the result is end.
func (s *parsedUserAgent) endOfEscapedName(end int) int {
	at := end
	for at+2 < len(s.ua) && s.ua[at] == '%' && words.IsHex(s.ua[at+1]) && words.IsHex(s.ua[at+2]) {
		for at += 3; at < len(s.ua) && words.Fold[s.ua[at]] != words.Gap; at++ {
		}
	}
	if at == end || !strings.Contains(s.ua, appLibraries[0]) {
		return end
	}
	return at
}

// containsAny reports whether the User-Agent contains one of the strings. The comparison is
// case-sensitive.
func (s *parsedUserAgent) containsAny(texts []string) bool {
	for _, text := range texts {
		if strings.Contains(s.ua, text) {
			return true
		}
	}
	return false
}

// browserProducts are the last products in the User-Agents of browser engines. An application on
// such an engine writes its name before them.
var browserProducts = [...]string{" Chrome/", " Safari/", " Electron/"}

// belongsToApplication reports whether the name ua[start:end] in a browser's User-Agent is an
// application that a person uses: "(KHTML, like Gecko) Code/1.99.3 Chrome/132.0.6834.210
// Electron/34.5.1 Safari/537.36". A crawler that runs in a browser writes its name at the end,
// after "compatible;" or next to a contact.
func (s *parsedUserAgent) belongsToApplication(start, end int) bool {
	before, after := s.ua[:start], s.ua[end:]
	isWebKit := strings.Contains(before, "AppleWebKit/")
	switch name := s.ua[start:end]; {
	case s.isFromApp(), strings.Contains(s.ua, "QtWebEngine/"):
		return true
	case !isWebKit || looksLikeRobot(name):
		return false
	case strings.Contains(before, " Edg/"): // Edge's WebView2
		return true
	case !strings.Contains(s.ua, "Safari/") && !strings.Contains(s.ua, "Chrome/"): // macOS WebKit view
		return true
	default:
		for _, text := range browserProducts {
			if strings.Contains(after, text) {
				return true
			}
		}
		return IsApplication(name)
	}
}

// applicationNames are names of well-known applications and browsers, in lower case and sorted.
// No crawler uses these names.
var applicationNames = [...]string{
	"1password", "antigravity", "arc", "atlas", "bitwarden", "chatgpt atlas", "code", "code - insiders", "code - oss",
	"codebuddy", "comet", "cursor", "dia", "dingtalk", "discord", "epicgameslauncher", "feishu", "figma", "figmaagent",
	"genspark", "github desktop", "githubdesktop", "gitkraken", "insomnia", "joplin", "kiro", "lark", "linear", "logseq",
	"mattermost", "messenger", "microsoft teams", "mongodb compass", "notion", "obsidian", "oneoutlook", "operator",
	"outlook", "pearai", "postman", "qoder", "qq", "raycast", "rocket.chat", "signal", "signal-desktop", "skype", "slack",
	"slack_ssb", "spotify", "steam", "teams", "thunderbird", "todoist", "trae", "trello", "vscode", "vscodium", "warp",
	"wechat", "whatsapp", "windsurf", "zed", "zoom",
}

// IsApplication reports whether name is the name of a well-known application or browser that no
// crawler has, such as Code for VS Code. IsApplication ignores case.
func IsApplication(name string) bool {
	if len(name) > maxName {
		return false
	}
	_, found := slices.BinarySearch(applicationNames[:], strings.ToLower(name))
	return found
}
