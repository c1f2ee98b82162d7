package responseaudit

import (
	"slices"
	"strings"
)

// Assistant is an AI service whose answers link to pages.
type Assistant struct {
	Name     string // its host, as in reports and metrics
	Operator string // as in the registry of crawlers
	// Hosts are the hosts in the Referer after a click in the assistant.
	Hosts []string
}

// assistants are identified by the hosts of their pages. Links in their apps have no Referer,
// so all counts are lower bounds.
var assistants = [...]Assistant{
	{"chatgpt.com", "OpenAI", []string{"chatgpt.com", "chat.openai.com"}},
	{"perplexity.ai", "Perplexity", []string{"www.perplexity.ai", "perplexity.ai"}},
	{"gemini.google.com", "Google", []string{"gemini.google.com", "bard.google.com"}},
	{"notebooklm.google.com", "Google", []string{"notebooklm.google.com"}},
	{"copilot.microsoft.com", "Microsoft", []string{"copilot.microsoft.com", "copilot.cloud.microsoft", "m365.cloud.microsoft"}},
	{"claude.ai", "Anthropic", []string{"claude.ai"}},
	{"meta.ai", "Meta", []string{"www.meta.ai", "meta.ai"}},
	{"grok.com", "xAI", []string{"grok.com"}},
	{"chat.mistral.ai", "Mistral", []string{"chat.mistral.ai"}},
	{"chat.deepseek.com", "DeepSeek", []string{"chat.deepseek.com"}},
	{"duck.ai", "DuckDuckGo", []string{"duck.ai"}},
	{"you.com", "You.com", []string{"you.com"}},
	{"doubao.com", "ByteDance", []string{"www.doubao.com"}},
}

// NumAssistants is the number of assistants.
const NumAssistants = len(assistants)

// Assistants returns all of them.
func Assistants() []Assistant { return slices.Clone(assistants[:]) }

// AssistantName returns the name of an assistant by its index.
func AssistantName(i int) string { return assistants[i].Name }

// maxReferrer is the maximum length of a host.
const maxReferrer = 24

// referrer is a host with the index of its assistant.
type referrer struct {
	host      string
	assistant int
}

// referrers are all hosts, by length.
var referrers = func() (all [maxReferrer + 1][]referrer) {
	for i, a := range assistants {
		for _, host := range a.Hosts {
			all[len(host)] = append(all[len(host)], referrer{host, i})
		}
	}
	return all
}()

// Referrer returns the index of the assistant in a Referer header field. Referrer is called for
// each request of a browser. Most Referers are the site itself and differ in length or first byte.
func Referrer(referer string) (assistant int, ok bool) {
	const secure = "https://"
	if !strings.HasPrefix(referer, secure) {
		return 0, false // all assistants use https
	}
	host := referer[len(secure):]
	if len(host) > maxReferrer+1 {
		host = host[:maxReferrer+1]
	}
	if end := strings.IndexByte(host, '/'); end >= 0 {
		host = host[:end]
	}
	if len(host) == 0 || len(host) > maxReferrer {
		return 0, false
	}
	for _, known := range referrers[len(host)] {
		if known.host[0] == host[0] && known.host == host {
			return known.assistant, true
		}
	}
	return 0, false
}
