package responseaudit

import (
	"slices"
	"strings"
)

// Assistant is an AI service, such as ChatGPT, whose answers link to pages.
type Assistant struct {
	Name     string // Name is the host of the assistant, as in reports and metrics.
	Operator string // Operator is the name in the registry of crawlers.
	// Hosts are the hosts in the Referer header field of a person who clicked a link in the
	// assistant.
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

// Assistants returns all known assistants. The index of an assistant in this list identifies it.
func Assistants() []Assistant { return slices.Clone(assistants[:]) }

// AssistantName returns the name of the assistant with an index in [Assistants].
func AssistantName(i int) string { return assistants[i].Name }

// assistantsByHost has the index of the assistant for each of its hosts.
var assistantsByHost = func() map[string]int {
	byHost := make(map[string]int)
	for i, a := range assistants {
		for _, host := range a.Hosts {
			byHost[host] = i
		}
	}
	return byHost
}()

// FindAssistant returns the index in [Assistants] of the assistant from which a person came.
// referer is the Referer header field. ok is false if it names no assistant.
func FindAssistant(referer string) (assistant int, ok bool) {
	host, ok := strings.CutPrefix(referer, "https://") // All assistants use https.
	if !ok {
		return 0, false
	}
	host, _, _ = strings.Cut(host, "/")
	assistant, ok = assistantsByHost[host]
	return assistant, ok
}
