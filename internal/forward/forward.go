package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/http/httpguts"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxTargetBytes is the maximum length of the described target, in bytes. Caddy's limit for headers can
// be higher.
const maxTargetBytes = 64 << 10

// maxQuotedBytes is the maximum length of a value in an error, in bytes.
const maxQuotedBytes = 80

// DescribedRequest returns the request that a trusted proxy describes in the header fields of r, as
// if the client had sent it to this server. Method, target, host and scheme come from the
// description. The rest comes from r, for example the User-Agent and the client's address. The
// error is a [*Problem].
//
// The proxy must send four fields: X-Forwarded-Method or X-Original-Method, X-Forwarded-Uri or
// X-Original-Uri, X-Forwarded-Host, and X-Forwarded-Proto. X-Original-Url can replace the last
// three. If two fields have the same purpose, their values must agree, because a client may have
// sent the field that its proxy does not set.
func DescribedRequest(r *http.Request) (*http.Request, error) {
	if !site.IsTrustedProxy(r) {
		return nil, &Problem{UntrustedProxy, errors.New("the sender of this request is not in the trusted_proxies of the server; if it is your proxy, add its address")}
	}
	original, err := readOriginalRequest(r.Header)
	if err != nil {
		return nil, err
	}
	u, err := original.targetURL()
	if err != nil {
		return nil, err
	}
	// A proxy serves the same site for all spellings of a host.
	original.host = site.NormalizeHost(original.host, original.proto == "https")
	described := r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, http.Request{
		Method: original.method, URL: u, RequestURI: original.uri, Host: original.host,
	}))
	described.Method, described.URL, described.RequestURI, described.Host = original.method, u, original.uri, original.host
	described.Header = headerOfDescribedRequest(r.Header, original.proto)
	return described, nil
}

// headerOfDescribedRequest returns the header of the described request. headerOfDescribedRequest
// omits the fields of the description except the scheme, since Caddy has no other source for the
// scheme.
func headerOfDescribedRequest(header http.Header, proto string) http.Header {
	described := make(http.Header, len(header))
	for name, values := range header {
		switch name {
		case forwardedMethod, forwardedURI, forwardedHost, originalMethod, originalURI, originalURL:
		default:
			described[name] = values
		}
	}
	described[forwardedProto] = []string{proto}
	return described
}

// These header fields describe the request of the proxy's client.
const (
	forwardedMethod = "X-Forwarded-Method"
	forwardedURI    = "X-Forwarded-Uri"
	forwardedHost   = "X-Forwarded-Host"
	forwardedProto  = "X-Forwarded-Proto"
	originalMethod  = "X-Original-Method"
	originalURI     = "X-Original-Uri"
	originalURL     = "X-Original-Url"
)

// originalRequest is the request that the header fields of a proxy describe.
type originalRequest struct{ method, uri, host, proto string }

// readOriginalRequest reads and checks the header fields that describe a request. The error is a
// [*Problem].
func readOriginalRequest(header http.Header) (o originalRequest, err error) {
	fullURL, err := singleValue(header, originalURL, checkTarget)
	if err != nil {
		return o, err
	}
	urlParts := splitURL(fullURL)
	for _, part := range []struct {
		target     *string
		fromURL    string
		fields     []string
		check      func(string) error
		ignoreCase bool // Names of fields are compared without case.
	}{
		{&o.method, "", []string{forwardedMethod, originalMethod}, checkMethod, false},
		{&o.proto, urlParts.proto, []string{forwardedProto}, checkProto, true},
		{&o.host, urlParts.host, []string{forwardedHost}, checkHost, true},
		{&o.uri, urlParts.uri, []string{forwardedURI, originalURI}, checkTarget, false},
	} {
		accepted, acceptedField := part.fromURL, originalURL
		for _, field := range part.fields {
			value, err := singleValue(header, field, part.check)
			switch {
			case err != nil:
				return o, err
			case value == "":
				continue
			case accepted != "" && accepted != value && !(part.ignoreCase && strings.EqualFold(accepted, value)):
				return o, newProblem(ContradictingFields, "%s says %s, but %s says %s; let the proxy set one field, and remove the other",
					field, quote(value), acceptedField, quote(accepted))
			}
			accepted, acceptedField = value, field
		}
		if accepted == "" {
			return o, newProblem(MissingField, "the field %s is missing; let the proxy set the field", strings.Join(part.fields, " and no "))
		}
		if err := part.check(accepted); err != nil { // The value may be a part of the URL.
			return o, &Problem{MalformedField, fmt.Errorf("%s: %w", acceptedField, err)}
		}
		*part.target = accepted
	}
	o.proto = httpScheme(o.proto)
	return o, nil
}

// singleValue returns the value of a header field, or an empty string if the field is missing.
// singleValue returns a [*Problem] if the field is repeated or valid returns an error.
func singleValue(header http.Header, field string, valid func(string) error) (string, error) {
	switch values := header[field]; len(values) {
	case 0:
		return "", nil
	case 1:
		if values[0] == "" {
			return "", nil // Some proxies send an empty value to remove a field.
		}
		if err := valid(values[0]); err != nil {
			return "", &Problem{MalformedField, fmt.Errorf("%s: %w", field, err)}
		}
		return values[0], nil
	default:
		return "", newProblem(RepeatedField, "%s occurs %d times; let the proxy overwrite the client's field", field, len(values))
	}
}

// splitURL splits an X-Original-Url into scheme, host and target. A path sets only the target.
func splitURL(value string) (o originalRequest) {
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok || strings.ContainsAny(scheme, "/?") {
		o.uri = value
		return o
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	o.proto, o.host, o.uri = scheme, rest[:i], rest[i:]
	if !strings.HasPrefix(o.uri, "/") {
		o.uri = "/" + o.uri
	}
	return o
}

// checkMethod returns an error unless method has the syntax of an HTTP method.
func checkMethod(method string) error {
	if !httpguts.ValidHeaderFieldName(method) { // Methods and field names have the same syntax.
		return fmt.Errorf("%s is not an HTTP method", quote(method))
	}
	return nil
}

// checkProto returns an error unless proto is http, https, ws or wss.
func checkProto(proto string) error {
	if httpScheme(proto) == "" {
		return fmt.Errorf("%s is not http or https", quote(proto))
	}
	return nil
}

// httpScheme returns http or https for a value of X-Forwarded-Proto, or an empty string if invalid.
// Some proxies use ws and wss for WebSockets.
func httpScheme(proto string) string {
	switch strings.ToLower(proto) {
	case "http", "ws":
		return "http"
	case "https", "wss":
		return "https"
	}
	return ""
}

// checkHost returns an error unless host is a name or an address, with or without a port.
func checkHost(host string) error {
	if len(host) > site.MaxHost {
		return fmt.Errorf("the host has %d bytes; the maximum is %d", len(host), site.MaxHost)
	}
	name, port := addr.SplitPort(host)
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c >= 0x80:
		case c == ':', c == '[', c == ']':
			if i < len(name) && !strings.HasPrefix(name, "[") {
				return fmt.Errorf("%s is not a host", quote(host))
			}
		default:
			return fmt.Errorf("%s is not a host; lists and credentials are not allowed", quote(host))
		}
	}
	if strings.Trim(name, ".") == "" || port == ":" || strings.Trim(strings.TrimPrefix(port, ":"), "0123456789") != "" {
		return fmt.Errorf("%s is not a host", quote(host))
	}
	return nil
}

// checkTarget returns an error if the request target is too long or contains an invalid byte.
func checkTarget(target string) error {
	if len(target) > maxTargetBytes {
		return fmt.Errorf("the target has %d bytes; the maximum is %d", len(target), maxTargetBytes)
	}
	for i := range len(target) {
		switch c := target[i]; {
		case c <= ' ', c == 0x7f:
			return fmt.Errorf("%s has a space or a control character, which a target must not contain", quote(target))
		case c == '#': // Servers disagree on whether # ends the path.
			return fmt.Errorf("%s has a fragment, which clients do not send", quote(target))
		}
	}
	return nil
}

// targetURL returns the request target as a URL. Its path is decoded, except for invalid escapes,
// as in browsers.
func (o *originalRequest) targetURL() (*url.URL, error) {
	target := o.uri
	switch {
	case o.method == http.MethodConnect && !strings.HasPrefix(target, "/"):
		return &url.URL{Host: target}, checkAuthority(target)
	case target == "*" && o.method == http.MethodOptions:
		return &url.URL{Path: target}, nil
	case !strings.HasPrefix(target, "/"):
		parts := splitURL(target)
		if parts.host == "" {
			return nil, newProblem(MalformedField, "%s is not a request target; let the proxy send the target of the client, which begins with a slash", quote(target))
		}
		if err := checkAuthority(parts.host); err != nil {
			return nil, err
		}
		if httpScheme(parts.proto) == "" {
			return nil, newProblem(ContradictingFields, "the target %s has another scheme than http and https", quote(target))
		}
		if name, _ := addr.SplitPort(parts.host); !isSameHost(name, o.host) {
			return nil, newProblem(ContradictingFields, "the target %s has another host than %s", quote(target), quote(o.host))
		}
		target = parts.uri
	}
	path, query, _ := strings.Cut(target, "?")
	return &url.URL{Path: unescapePath(path), RawPath: path, RawQuery: query}, nil
}

// checkAuthority is like checkHost for the authority in a request target. Its error is a
// [*Problem].
func checkAuthority(host string) error {
	if err := checkHost(host); err != nil {
		return &Problem{MalformedField, fmt.Errorf("the target: %w", err)}
	}
	return nil
}

// isSameHost reports whether name and host, without its port, are spellings of the same host.
func isSameHost(name, host string) bool {
	hostName, _ := addr.SplitPort(host)
	return site.NormalizeHost(name, true) == site.NormalizeHost(hostName, true)
}

// unescapePath decodes the percent-encoding of a path, except for invalid escapes.
func unescapePath(path string) string {
	if decoded, err := url.PathUnescape(path); err == nil {
		return decoded
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+3 <= len(path) {
			if decoded, err := url.PathUnescape(path[i : i+3]); err == nil {
				b.WriteString(decoded)
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func quote(value string) string { return text.Printable(text.Truncate(value, maxQuotedBytes)) }
