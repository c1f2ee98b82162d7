package responseaudit

import (
	"net/url"
	"strings"
	"testing"
)

func TestReferrer(t *testing.T) {
	for referer, want := range map[string]string{
		"https://chatgpt.com/":                          "chatgpt.com",
		"https://chatgpt.com":                           "chatgpt.com",
		"https://chat.openai.com/c/123":                 "chatgpt.com",
		"https://www.perplexity.ai/search?q=a":          "perplexity.ai",
		"https://gemini.google.com/app":                 "gemini.google.com",
		"https://copilot.cloud.microsoft/x":             "copilot.microsoft.com",
		"https://claude.ai/":                            "claude.ai",
		"":                                              "",
		"https://":                                      "",
		"https:///":                                     "",
		"claude.ai":                                     "",
		"http://claude.ai/":                             "",
		"android-app://com.openai.chatgpt/":             "",
		"https://www.google.com/":                       "",
		"https://www.example.com/chatgpt.com/":          "",
		"https://example.com/?https://chatgpt.com/":     "",
		"https://chatgpt.com.evil.test/":                "",
		"https://chatgpt.com@evil.test/":                "",
		"https://evilchatgpt.com/":                      "",
		"https://chatgpt.com:8443/":                     "",
		"https://chatgpt.com?x":                         "",
		"https://CHATGPT.COM/":                          "",
		"https://claude.ai\x00/":                        "",
		"https://" + strings.Repeat("a", 1<<16) + ".ai": "",
	} {
		got := ""
		if i, ok := FindAssistant(referer); ok {
			got = Assistants()[i].Name
		}
		if got != want {
			t.Errorf("%.60q is from %q, want %q", referer, got, want)
		}
	}
	for i, a := range Assistants() {
		for _, host := range a.Hosts {
			if got, ok := FindAssistant("https://" + host + "/x"); !ok || got != i {
				t.Errorf("%s is not known as %s", host, a.Name)
			}
		}
	}
}

// FuzzReferrer finds nothing that is not the host of an assistant.
func FuzzReferrer(f *testing.F) {
	for _, a := range assistants {
		f.Add("https://" + a.Hosts[0] + "/x?y")
	}
	f.Add("https://chatgpt.com@evil.test/")
	f.Fuzz(func(t *testing.T, referer string) {
		i, ok := FindAssistant(referer)
		if !ok {
			return
		}
		u, err := url.Parse(referer)
		if err != nil {
			return // a path that cannot be; the host is before it
		}
		for _, host := range assistants[i].Hosts {
			if u.Host == host && u.Scheme == "https" {
				return
			}
		}
		t.Errorf("%q is said to be from %s", referer, assistants[i].Name)
	})
}

func BenchmarkReferrer(b *testing.B) {
	for name, referer := range map[string]string{"own": "https://www.example.com/some/page?with=query", "assistant": "https://chatgpt.com/"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				FindAssistant(referer)
			}
		})
	}
}
