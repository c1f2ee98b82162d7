package botauth

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/dunglas/httpsfv"
)

// signatureAgent is the parsed header field Signature-Agent. dictionary is the field in current
// drafts, and item is the String of drafts before web-bot-auth-architecture-04. Both are nil
// without the field.
type signatureAgent struct {
	dictionary *httpsfv.Dictionary
	item       *httpsfv.Item
}

// parseSignatureAgent parses the header field Signature-Agent. As in the draft, a field that begins
// with a quote is a String, and any other field is a Dictionary.
func parseSignatureAgent(values []string) (s signatureAgent, ok bool) {
	if len(values) == 0 {
		return s, true
	}
	if strings.HasPrefix(strings.TrimLeft(values[0], " "), `"`) {
		item, err := httpsfv.UnmarshalItem(values)
		if err != nil {
			return s, false
		}
		s.item = &item
		return s, true
	}
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	s.dictionary = dictionary
	return s, err == nil
}

// findOrigin returns the origin of the agent to which a signature belongs. label is the label of the
// signature, and covered are its covered components.
func (s signatureAgent) findOrigin(label string, covered []httpsfv.Item) (origin string, reason Reason) {
	whole, keys := false, []string(nil)
	for _, item := range covered {
		if item.Value != "signature-agent" {
			continue
		}
		switch key, ok := item.Params.Get("key"); {
		case ok:
			name, _ := key.(string)
			keys = append(keys, name)
		case len(item.Params.Names()) == 0:
			whole = true
		default:
			return "", UnsupportedComponent
		}
	}
	switch {
	case s.item == nil && s.dictionary == nil && (whole || keys != nil):
		return "", ComponentAbsent
	case s.item == nil && s.dictionary == nil:
		return "", NoAgent
	case !whole && keys == nil:
		return "", NotCovered
	case s.item != nil && !whole:
		return "", Malformed // A String has no members.
	case s.item != nil:
		return parseAgent(*s.item)
	}
	if keys == nil {
		keys = s.dictionary.Names()
	}
	key, ok := chooseMember(keys, label)
	if !ok {
		return "", NoAgent
	}
	member, ok := s.dictionary.Get(key)
	if !ok {
		return "", ComponentAbsent
	}
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", UnsupportedAgent
	}
	return parseAgent(item)
}

// chooseMember returns the member of Signature-Agent to which a signature belongs: the member with
// the signature's label, else the only member. keys are the members that the signature covers.
// Proxies can change a label, but not a covered member.
func chooseMember(keys []string, label string) (key string, ok bool) {
	for _, key := range keys {
		if key == label {
			return key, true
		}
	}
	if len(keys) != 1 {
		return "", false
	}
	return keys[0], true
}

// parseAgent returns the origin that a member of Signature-Agent names.
func parseAgent(item httpsfv.Item) (origin string, reason Reason) {
	if kind, ok := item.Params.Get("type"); ok && kind != httpsfv.Token("directory") {
		return "", UnsupportedAgent
	}
	text, ok := item.Value.(string)
	if !ok {
		return "", UnsupportedAgent
	}
	if origin, ok = parseOrigin(text); !ok {
		return "", UnsupportedAgent
	}
	return origin, Verified
}

// parseOrigin returns the normal form of an https origin, "https://host" or
// "https://host:port". The path may be empty, "/" or the path of the directory.
func parseOrigin(text string) (origin string, ok bool) {
	if len(text) > 512 {
		return "", false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery ||
		strings.Contains(text, "#") || u.EscapedPath() != "" && u.EscapedPath() != "/" && u.EscapedPath() != directoryPath {
		return "", false
	}
	host := strings.ToLower(u.Host)
	name := strings.ToLower(u.Hostname())
	if strings.HasPrefix(host, "[") {
		if _, err := netip.ParseAddr(name); err != nil {
			return "", false
		}
	} else if !isHostName(name) {
		return "", false
	}
	if strings.HasSuffix(host, ":") {
		return "", false
	}
	return "https://" + strings.TrimSuffix(host, ":443"), true
}

// NormalizeOrigin returns the origin of a configured agent in the form "https://host" or
// "https://host:port". name is an https origin such as "https://bot.example", the URL of its key
// directory, or a host. ok is false for any other name.
func NormalizeOrigin(name string) (origin string, ok bool) {
	if !strings.Contains(name, "://") {
		name = "https://" + name
	}
	return parseOrigin(name)
}

// isHostName reports whether name is a host name in ASCII.
func isHostName(name string) bool {
	for _, c := range []byte(name) {
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != ""
}
