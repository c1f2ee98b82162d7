// Package botauth verifies Web Bot Auth signatures: requests that a crawler signs with a key
// of its operator.
//
//	v, err := botauth.New(botauth.Options{
//		Agents: map[string]string{"https://chatgpt.com": "OpenAI"},
//	})
//	...
//	defer v.Close()
//	result := v.Check(botauth.Request{
//		Method: r.Method, Scheme: "https", Authority: r.Host, Target: r.RequestURI, Header: r.Header,
//	})
//	if result.State == botauth.Valid {
//		log.Printf("%s signed this request", result.Operator)
//	}
//
// A signature is an HTTP Message Signature (RFC 9421) with the tag web-bot-auth. The profile
// is a draft. This package implements
//
//   - draft-ietf-webbotauth-httpsig-protocol-01 (October 2026, the working group's copy), and
//     forms of earlier drafts that deployments still use,
//   - draft-meunier-webbotauth-httpsig-protocol-02 (August 2026),
//   - draft-meunier-web-bot-auth-architecture-02 to -05 (March 2026) and
//   - draft-meunier-http-message-signatures-directory-05 (November 2025).
//
// # Evidence
//
// [Valid] proves that the holder of a key in the directory of an allowed agent signed this
// request for this host. [Invalid] and [Unknown] prove nothing about the client. Any client
// can send a broken signature, proxies rewrite signed parts, and directories can be
// unreachable.
//
// # Requirements for a signature
//
//   - The parameters created, expires, keyid and tag. The time created must not be more than
//     a minute in the future. The time expires must be in the future, and at most
//     [Options.MaxLifetime] after created. The drafts recommend a day.
//   - The algorithm Ed25519. If the parameter alg is present, the value must be ed25519.
//     Other algorithms are Unknown. So are the component parameters sf, bs and tr and the
//     derived component @query-param, which this package does not support.
//   - Coverage of @authority or @target-uri, and of signature-agent.
//
// A request can have several signatures. Signatures with another tag are ignored. The request
// is Valid if one of the first [MaxSignatures] signatures with this tag is Valid.
//
// # Signature-Agent
//
// The field is a Dictionary of key directories. A member is the origin of a directory, as in
// sig1="https://chatgpt.com", or the URL of a directory at the well-known path. A signature
// belongs to the member that the signature covers. If it covers several members, it belongs
// to the member with its own label. A signature can also cover the whole field
// (architecture-04). The field can also be a String, as in "https://chatgpt.com"
// (architecture-02 and -03). A member can have the parameter type=directory, which the
// working group's copy no longer defines. A signature is Unknown if its member has another type,
// such as jwks_uri or cimd, another path or a data URL. A signature of a request without the field
// is Unknown too, because a key alone does not identify an operator. If such a signature covers the
// missing field, it is Invalid.
//
// # Keys
//
// The keys of an agent are in its directory at
// /.well-known/http-message-signatures-directory. The Verifier fetches the directory over
// HTTPS, without redirects, and only for agents in [Options.Agents]. No request waits. The
// first request of an agent is Unknown and starts the fetch. A key is identified by agent and
// keyid. The keyid is the RFC 7638 thumbprint, which this package computes. A key in a directory
// with a kid that is not the thumbprint is ignored. The example key of RFC 9421 is rejected,
// because its private key is public.
//
// A directory expires according to its Cache-Control, after five minutes to one day. The next
// request of the agent then starts a fetch. An unknown keyid also starts a fetch, at most every
// five minutes. If fetches fail, the old directory stays in use for a day after it expired. The
// wait after a failure grows to about five minutes. A Retry-After can demand up to a day.
//
// A directory can be signed with its own keys. This package does not check such signatures.
// The directory comes from the agent over TLS, and each request's signature covers its agent.
// The current draft allows this.
//
// # Replay
//
// A copied request stays valid until its signature expires. A nonce prevents that. A nonce
// that was already used in a Valid signature with the same key is Invalid, so a request must
// be checked only once. The Verifier remembers [MaxNonces] nonces of each agent in memory.
// After a restart, or after that number of other nonces, a copy could be accepted once.
//
// The drafts let the verifier decide whether to require a nonce (RFC 9421 section 7.2.2). A
// signature without a nonce is valid for five minutes after its creation. The same limit
// applies to one signature for many requests.
//
// # Behind a proxy
//
// [Request] must contain the scheme, authority and target from the client. A signature that
// covers @target-uri or @scheme fails if a proxy terminates TLS and the scheme is not
// restored.
package botauth
