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
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxTarget is the maximum length of the described target, in bytes. Caddy's limit for headers can
// be higher.
const maxTarget = 64 << 10

// maxQuoted is the maximum length of a value in an error, in bytes.
const maxQuoted = 80

// Asked returns the request that a trusted proxy describes, as if the client had sent it to this
// server. Method, target, host and scheme come from the description. The rest comes from r, for
// example the User-Agent and the client's address. The error is a [*Problem].
//
// The proxy must send four fields: X-Forwarded-Method or X-Original-Method, X-Forwarded-Uri or
// X-Original-Uri, X-Forwarded-Host, and X-Forwarded-Proto. X-Original-Url can replace the last
// three. If two fields have the same purpose, their values must agree. A client may have sent the
// field that its proxy does not set.
func Asked(r *http.Request) (*http.Request, error) {
	if !request.IsTrustedProxy(r) {
		return nil, &Problem{Untrusted, errors.New("this address is not among the trusted_proxies of the server; name the proxy there")}
	}
	said, err := read(r.Header)
	if err != nil {
		return nil, err
	}
	u, err := said.url()
	if err != nil {
		return nil, err
	}
	said.host = request.NormalHost(said.host, said.proto == "https") // all spellings of a host are the same site for a proxy
	asked := r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, http.Request{
		Method: said.method, URL: u, RequestURI: said.uri, Host: said.host,
	}))
	asked.Method, asked.URL, asked.RequestURI, asked.Host = said.method, u, said.uri, said.host
	asked.Header = headerOf(r.Header, said.proto)
	return asked, nil
}

// headerOf returns the header of the described request. It omits the fields of the description
// except the scheme, since Caddy has no other source for the scheme.
func headerOf(all http.Header, proto string) http.Header {
	own := make(http.Header, len(all))
	for name, values := range all {
		switch name {
		case forwardedMethod, forwardedURI, forwardedHost, originalMethod, originalURI, originalURL:
		default:
			own[name] = values
		}
	}
	own[forwardedProto] = []string{proto}
	return own
}

// These fields describe a request.
const (
	forwardedMethod = "X-Forwarded-Method"
	forwardedURI    = "X-Forwarded-Uri"
	forwardedHost   = "X-Forwarded-Host"
	forwardedProto  = "X-Forwarded-Proto"
	originalMethod  = "X-Original-Method"
	originalURI     = "X-Original-Uri"
	originalURL     = "X-Original-Url"
)

// description has the values of the fields.
type description struct{ method, uri, host, proto string }

// read reads the fields.
func read(header http.Header) (d description, err error) {
	whole, err := one(header, originalURL, isTarget)
	if err != nil {
		return d, err
	}
	in := partsOf(whole)
	for _, part := range []struct {
		into   *string
		inURL  string
		fields []string
		valid  func(string) error
		fold   bool // ignore case
	}{
		{&d.method, "", []string{forwardedMethod, originalMethod}, isMethod, false},
		{&d.proto, in.proto, []string{forwardedProto}, isProto, true},
		{&d.host, in.host, []string{forwardedHost}, isHost, true},
		{&d.uri, in.uri, []string{forwardedURI, originalURI}, isTarget, false},
	} {
		known, from := part.inURL, originalURL
		for _, field := range part.fields {
			value, err := one(header, field, part.valid)
			switch {
			case err != nil:
				return d, err
			case value == "":
				continue
			case known != "" && known != value && !(part.fold && strings.EqualFold(known, value)):
				return d, problem(Contradicting, "%s says %s, but %s says %s; let the proxy set one of them, and remove the other",
					field, quoted(value), from, quoted(known))
			}
			known, from = value, field
		}
		if known == "" {
			return d, problem(Missing, "there is no %s; let the proxy set it", strings.Join(part.fields, " and no "))
		}
		if err := part.valid(known); err != nil { // the value may be a part of the URL
			return d, &Problem{Malformed, fmt.Errorf("%s: %w", from, err)}
		}
		*part.into = known
	}
	d.proto = schemeOf(d.proto)
	return d, nil
}

// one returns the value of a field, or an empty string if the field is missing.
func one(header http.Header, field string, valid func(string) error) (string, error) {
	switch values := header[field]; len(values) {
	case 0:
		return "", nil
	case 1:
		if values[0] == "" {
			return "", nil // some proxies remove a field by emptying it
		}
		if err := valid(values[0]); err != nil {
			return "", &Problem{Malformed, fmt.Errorf("%s: %w", field, err)}
		}
		return values[0], nil
	default:
		return "", problem(Repeated, "%s stands there %d times; let the proxy overwrite the client's field", field, len(values))
	}
}

// partsOf splits an X-Original-Url. A path sets only the target.
func partsOf(whole string) (d description) {
	scheme, rest, ok := strings.Cut(whole, "://")
	if !ok || strings.ContainsAny(scheme, "/?") {
		d.uri = whole
		return d
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	d.proto, d.host, d.uri = scheme, rest[:i], rest[i:]
	if !strings.HasPrefix(d.uri, "/") {
		d.uri = "/" + d.uri
	}
	return d
}

func isMethod(method string) error {
	if !httpguts.ValidHeaderFieldName(method) { // both are tokens
		return fmt.Errorf("%s is no method", quoted(method))
	}
	return nil
}

func isProto(proto string) error {
	if schemeOf(proto) == "" {
		return fmt.Errorf("%s is neither http nor https", quoted(proto))
	}
	return nil
}

// schemeOf returns http or https, or an empty string for other values. Some proxies use ws and wss
// for WebSockets.
func schemeOf(proto string) string {
	switch strings.ToLower(proto) {
	case "http", "ws":
		return "http"
	case "https", "wss":
		return "https"
	}
	return ""
}

// isHost returns an error unless host is a name or an address, with or without a port.
func isHost(host string) error {
	if len(host) > request.MaxHost {
		return fmt.Errorf("%d bytes are more than a host can have", len(host))
	}
	name, port := addr.CutPort(host)
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c >= 0x80:
		case c == ':', c == '[', c == ']':
			if i < len(name) && !strings.HasPrefix(name, "[") {
				return fmt.Errorf("%s is not a host", quoted(host))
			}
		default:
			return fmt.Errorf("%s is not a host; it has to be one, without a list or credentials", quoted(host))
		}
	}
	if strings.Trim(name, ".") == "" || port == ":" || strings.Trim(strings.TrimPrefix(port, ":"), "0123456789") != "" {
		return fmt.Errorf("%s is not a host", quoted(host))
	}
	return nil
}

// isTarget returns an error if the target contains an invalid byte.
func isTarget(target string) error {
	if len(target) > maxTarget {
		return fmt.Errorf("%d bytes are more than a target can have; the most are %d", len(target), maxTarget)
	}
	for i := range len(target) {
		switch c := target[i]; {
		case c <= ' ', c == 0x7f:
			return fmt.Errorf("%s has a space or a control character, which no target has", quoted(target))
		case c == '#': // servers disagree whether it ends the path
			return fmt.Errorf("%s has a fragment, which no client sends", quoted(target))
		}
	}
	return nil
}

// url returns the target as a URL. Its path is decoded as far as possible. Like in browsers, an
// invalid escape stays as is.
func (d *description) url() (*url.URL, error) {
	target := d.uri
	switch {
	case d.method == http.MethodConnect && !strings.HasPrefix(target, "/"):
		return &url.URL{Host: target}, isAuthority(target)
	case target == "*" && d.method == http.MethodOptions:
		return &url.URL{Path: target}, nil
	case !strings.HasPrefix(target, "/"):
		in := partsOf(target)
		if in.host == "" {
			return nil, problem(Malformed, "%s is not a target; it has to begin with a slash, as the client sent it", quoted(target))
		}
		if err := isAuthority(in.host); err != nil {
			return nil, err
		}
		if name, _ := addr.CutPort(in.host); schemeOf(in.proto) == "" || !sameName(name, d.host) {
			return nil, problem(Contradicting, "the target %s is of another host than %s", quoted(target), quoted(d.host))
		}
		target = in.uri
	}
	path, query, _ := strings.Cut(target, "?")
	return &url.URL{Path: unescaped(path), RawPath: path, RawQuery: query}, nil
}

// isAuthority does the same as isHost for a part of a target.
func isAuthority(host string) error {
	if err := isHost(host); err != nil {
		return &Problem{Malformed, fmt.Errorf("the target: %w", err)}
	}
	return nil
}

// sameName reports whether a name is equal to a host without its port.
func sameName(name, host string) bool {
	own, _ := addr.CutPort(host)
	return request.NormalHost(name, true) == request.NormalHost(own, true)
}

// unescaped decodes a path as far as possible.
func unescaped(path string) string {
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

func quoted(value string) string { return text.Printable(text.Cut(value, maxQuoted)) }
