package uaident

import (
	"slices"
	"testing"
)

// TestApplications checks that applications on a browser engine are browsers if a robots.txt names
// them, and clients of their own if the configuration names them.
func TestApplications(t *testing.T) {
	const (
		webKit   = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
		electron = " Chrome/132.0.6834.210 Electron/34.5.1 Safari/537.36"
		iPhone   = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 "
		android  = "Mozilla/5.0 (Linux; Android 14; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 "
		macOS    = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
	)
	names := []string{
		"Code", "Cursor", "Trae", "Operator", "Windsurf", "Antigravity", "Kiro", "Postman", "discord", "obsidian", "Notion",
		"Figma", "GitHubDesktop", "Teams", "Signal", "Acme", "AcmeReader", "Acme-Desktop",
	}
	for _, name := range names {
		o := Default().NewOverlay([]string{"GPTBot", name})
		for form, ua := range map[string]string{
			"Electron":              webKit + name + "/1.99.3" + electron,
			"Electron, name last":   webKit + "Chrome/132.0.6834.210 Electron/34.5.1 Safari/537.36 " + name + "/1.2",
			"several products":      webKit + "Acme1/2.0 " + name + "/1.99.3" + electron,
			"Chromium":              webKit + name + "/1.2 Chrome/138.0.0.0 Safari/537.36",
			"between the products":  webKit + "Chrome/138.0.0.0 " + name + "/1.2 Safari/537.36",
			"Edge's WebView2":       webKit + "Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0 " + name + "/1.2",
			"Qt":                    webKit + "QtWebEngine/6.7.2 Chrome/118.0.5993.220 Safari/537.36 " + name + "/1.2",
			"WebKit of macOS":       macOS + name + "/1.2",
			"WebKit of iOS":         iPhone + name + "/1.2",
			"web view of Android":   android + name + "/1.2",
			"Safari's tail":         macOS + "Version/18.5 " + name + "/1.2 Safari/605.1.15",
			"in a comment of those": webKit + "Chrome/132.0.6834.210 Electron/34.5.1 Safari/537.36 (" + name + "/1.2)",
		} {
			if id := Default().IdentifyWithOverlay(ua, o); id.Class != Browser {
				t.Errorf("%s, %s: %q, class %s by %s", name, form, id.Token, id.Class, id.Evidence)
			}
			if id := Default().IdentifyWithOverlay(ua, o.WithApplications()); o != nil && id.Token != name {
				t.Errorf("%s, %s: with WithApplications the token is %q", name, form, id.Token)
			}
		}
	}
	for _, name := range []string{"Comet", "Dia", "Atlas", "Arc", "Operator"} { // at the end of Chrome's User-Agent
		if id := Default().IdentifyWithOverlay(chrome+" "+name+"/1.2", Default().NewOverlay([]string{name})); id.Class != Browser {
			t.Errorf("%s: %q, class %s", name, id.Token, id.Class)
		}
	}
	o := Default().NewOverlay([]string{"Zorbl", "FooBot", "GPTBot"})
	for ua, want := range map[string]string{
		chrome + " Zorbl/1.0": "Zorbl",
		webKit + "Chrome/132.0.0.0 Safari/537.36; compatible; GPTBot/1.2; +https://openai.com/gptbot":                              "GPTBot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                   "GPTBot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Zorbl/1.2; +https://zorbl.example/) Chrome/132 Safari/537": "Zorbl",
		webKit + "Chrome/132.0.0.0 Safari/537.36 (compatible; Zorbl/1.0)":                                                          "Zorbl",
		webKit + "Zorbl/1.0 (+https://zorbl.example/) Chrome/132.0.0.0 Safari/537.36":                                              "Zorbl",
		webKit + "FooBot/1.0 Chrome/132.0.0.0 Safari/537.36":                                                                       "FooBot",
		"Zorbl/1.0": "Zorbl",
	} {
		if id := Default().IdentifyWithOverlay(ua, o); id.Token != want {
			t.Errorf("%q is %q, class %s by %s, want %q", ua, id.Token, id.Class, id.Evidence, want)
		}
	}
	if !slices.IsSorted(applicationNames[:]) {
		t.Error("applicationNames are not sorted")
	}
}
