package botauth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// checkComponents returns Verified if the components that a signature covers are well-formed, not
// too many, and include the host.
func checkComponents(items []httpsfv.Item) Reason {
	if len(items) > MaxComponents {
		return TooLarge
	}
	host := false
	for _, item := range items {
		name, ok := item.Value.(string)
		if !ok || name == "" || name != strings.ToLower(name) {
			return Malformed // A component name is a String, and a field name is in lower case (RFC 9421 section 2).
		}
		host = host || (name == "@authority" || name == "@target-uri") && len(item.Params.Names()) == 0
	}
	if !host {
		return NotCovered
	}
	return Verified
}

// signatureBase returns the bytes that the agent signed, the signature base of RFC 9421 section
// 2.5. list is the signature's member of Signature-Input.
func (f *signedFields) signatureBase(list httpsfv.InnerList) ([]byte, Reason) {
	base := make([]byte, 0, 512)
	var seen []string
	for _, item := range list.Items {
		id, err := httpsfv.Marshal(item)
		if err != nil || slices.Contains(seen, id) {
			return nil, Malformed
		}
		seen = append(seen, id)
		value, reason := f.componentValue(item)
		switch {
		case reason != Verified:
			return nil, reason
		case strings.ContainsAny(value, "\r\n"):
			return nil, Malformed // A line break would forge lines of the signature base.
		case len(base)+len(id)+len(value) > MaxBase:
			return nil, TooLarge
		}
		base = append(base, id...)
		base = append(base, ": "...)
		base = append(base, value...)
		base = append(base, '\n')
	}
	params, err := httpsfv.Marshal(list)
	if err != nil {
		return nil, Malformed
	}
	base = append(base, `"@signature-params": `...)
	return append(base, params...), Verified
}

// componentValue returns the value of a covered component (RFC 9421 sections 2.1
// and 2.2).
func (f *signedFields) componentValue(item httpsfv.Item) (string, Reason) {
	name := item.Value.(string) // checkComponents has checked this.
	switch params := item.Params.Names(); {
	case len(params) == 1 && params[0] == "key":
		return f.memberValue(name, item.Params)
	case len(params) != 0:
		return "", UnsupportedComponent
	case name[0] == '@':
		return f.request.derivedValue(name)
	}
	return f.request.fieldValue(name)
}

// memberValue returns the value of one member of a Dictionary field (RFC 9421 section 2.1.2).
// memberValue supports only Signature-Agent, Signature-Input and Signature.
func (f *signedFields) memberValue(name string, params *httpsfv.Params) (string, Reason) {
	var dictionary *httpsfv.Dictionary
	switch name {
	case "signature-agent":
		dictionary = f.signatureAgent.dictionary
	case "signature-input":
		dictionary = f.input
	case "signature":
		dictionary = f.values
	default:
		return "", UnsupportedComponent
	}
	value, _ := params.Get("key")
	key, ok := value.(string)
	if !ok || dictionary == nil {
		return "", Malformed
	}
	member, ok := dictionary.Get(key)
	if !ok {
		return "", ComponentAbsent
	}
	text, err := httpsfv.Marshal(member)
	if err != nil {
		return "", Malformed
	}
	return text, Verified
}

// fieldValue returns the combined value of a header field (RFC 9421 section 2.1).
func (r Request) fieldValue(name string) (string, Reason) {
	if name == "host" && r.Authority != "" {
		return r.Authority, Verified // net/http removes this field from the header.
	}
	values := r.Header[http.CanonicalHeaderKey(name)]
	if len(values) == 0 {
		return "", ComponentAbsent
	}
	trimmed := make([]string, len(values))
	for i, value := range values {
		trimmed[i] = strings.Trim(value, " \t")
	}
	return strings.Join(trimmed, ", "), Verified
}

// derivedValue returns the value of a derived component, such as @authority (RFC 9421 section 2.2).
func (r Request) derivedValue(name string) (string, Reason) {
	value := ""
	switch name {
	case "@method":
		value = r.Method
	case "@authority":
		value = r.normalizedAuthority()
	case "@scheme":
		value = strings.ToLower(r.Scheme)
	case "@request-target":
		value = r.Target
	case "@target-uri":
		if strings.HasPrefix(r.Target, "/") {
			return strings.ToLower(r.Scheme) + "://" + r.normalizedAuthority() + r.Target, Verified
		}
		scheme, rest, absolute := strings.Cut(r.Target, "://")
		if !absolute {
			return "", UnsupportedComponent // OPTIONS * and CONNECT have no path.
		}
		// An HTTP/2 client can send any URL here, also a URL that was signed for another
		// host.
		named := Request{Scheme: scheme, Authority: rest[:authorityLength(rest)]}
		if named.normalizedAuthority() != r.normalizedAuthority() {
			return "", Mismatch
		}
		value = r.Target
	case "@path", "@query":
		path, query, ok := r.splitTarget()
		switch {
		case !ok:
			return "", UnsupportedComponent
		case name == "@query":
			return "?" + query, Verified
		case path == "":
			return "/", Verified
		}
		value = path
	default:
		return "", UnsupportedComponent
	}
	if value == "" {
		return "", ComponentAbsent
	}
	return value, Verified
}

// normalizedAuthority returns Authority in lower case without the default port of Scheme (RFC 9421
// section 2.2.3).
func (r Request) normalizedAuthority() string {
	authority := strings.ToLower(r.Authority)
	switch strings.ToLower(r.Scheme) {
	case "https":
		return strings.TrimSuffix(authority, ":443")
	case "http":
		return strings.TrimSuffix(authority, ":80")
	}
	return authority
}

// splitTarget returns the path and query of Target. ok is false for a target without a path, such
// as OPTIONS *.
func (r Request) splitTarget() (path, query string, ok bool) {
	target := r.Target
	if !strings.HasPrefix(target, "/") {
		_, rest, absolute := strings.Cut(target, "://")
		if !absolute {
			return "", "", false
		}
		target = rest[authorityLength(rest):]
	}
	path, query, _ = strings.Cut(target, "?")
	return path, query, true
}

// authorityLength returns the length of the authority at the start of rest. rest is a URL
// without its scheme.
func authorityLength(rest string) int {
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return i
	}
	return len(rest)
}
