package parity

import (
	"slices"
	"strings"
)

// Assistant is a service that answers people and links to what it has read: the other
// half of what an operator's crawlers do.
type Assistant struct {
	Name     string // its host, as reports and metrics say it
	Operator string // as the registry of crawlers spells it
	// Hosts are those that a browser names as Referer after a click in it.
	Hosts []string
}

// assistants are known by the hosts that they serve their pages from. Links in their
// apps come without a Referer, so all numbers are the least that there was.
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

// NumAssistants is how many there are: the bound of what is kept by them.
const NumAssistants = len(assistants)

// Assistants returns all of them.
func Assistants() []Assistant { return slices.Clone(assistants[:]) }

// AssistantName returns the name of an assistant by its index.
func AssistantName(i int) string { return assistants[i].Name }

// maxReferrer bounds the length of their hosts.
const maxReferrer = 24

// referrer is a host with the index of its assistant.
type referrer struct {
	host      string
	assistant int
}

// referrers are all hosts by their length.
var referrers = func() (all [maxReferrer + 1][]referrer) {
	for i, a := range assistants {
		for _, host := range a.Hosts {
			all[len(host)] = append(all[len(host)], referrer{host, i})
		}
	}
	return all
}()

// Referrer returns the index of the assistant that a Referer comes from. It is asked
// for each request of a browser: nearly all of them come from the site itself, whose
// host is of another length or begins otherwise.
func Referrer(referer string) (assistant int, ok bool) {
	const secure = "https://"
	if !strings.HasPrefix(referer, secure) {
		return 0, false // all of them are served by https
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
