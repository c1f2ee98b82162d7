// Package botauth verifies Web Bot Auth: requests that a crawler signs with a
// key which its operator publishes.
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
// A signature is an HTTP Message Signature (RFC 9421) with the tag web-bot-auth.
// The profile is still a draft; this package follows
//
//   - draft-ietf-webbotauth-httpsig-protocol-01 (October 2026), by the working group's
//     copy of its text, and where deployments still send what its predecessors defined,
//   - draft-meunier-webbotauth-httpsig-protocol-02 (August 2026),
//   - draft-meunier-web-bot-auth-architecture-02 to -05 (March 2026) and
//   - draft-meunier-http-message-signatures-directory-05 (November 2025).
//
// # Evidence
//
// [Valid] says that the holder of a key which an agent of the allow-list
// publishes signed this request, for this host, now. Nothing else says anything
// about the client: every client may send a broken signature, proxies rewrite
// what was signed, directories are out of reach. So [Invalid] takes away the
// evidence and proves no lie, and [Unknown] is no failure.
//
// # What a signature must have
//
//   - The parameters created, expires, keyid and tag. It must have been created
//     by now, give or take a minute, not have expired, and not live longer than
//     [Options.MaxLifetime], which the drafts recommend to be a day.
//   - The algorithm Ed25519, by the parameter alg if it is there. Others are
//     Unknown, as are component parameters such as sf, bs and tr and the derived
//     component @query-param, which this package does not support.
//   - The components @authority or @target-uri, and signature-agent, covered.
//
// A request may have several signatures. Those with another tag are ignored; if
// one of the first [MaxSignatures] with this tag is Valid, the request is.
//
// # Signature-Agent
//
// The field is a Dictionary whose members are the origins of key directories,
// as in sig1="https://chatgpt.com", or the URLs of directories at the well-known
// path, which is the same. A signature is attributed to the member that
// it covers, the one with its own label if it covers several. The whole field
// may be covered instead (architecture-04), and it may be a String, as in
// "https://chatgpt.com" (architecture-02 and -03). A member may have the parameter
// type=directory, although the working group's copy has done away with parameters; it
// is covered as it stands. Members of the types jwks_uri and cimd, key sets at other
// paths and data URLs, are Unknown, as is a request without the field: its
// key alone names nobody.
//
// # Keys
//
// The keys of an agent are read from its directory, at
// /.well-known/http-message-signatures-directory, over HTTPS without following a
// redirect, and only if the agent is in [Options.Agents]. No request waits: the
// first one is Unknown and causes the fetch. A key is found by agent and keyid
// together, and the keyid is the RFC 7638 thumbprint that this package computes,
// never a label that a directory gives. The key of RFC 9421's examples, whose
// private half is public, is no key.
//
// A directory is read again when its Cache-Control says so, within five minutes
// and a day, or when a keyid is not in it, at most every five minutes however
// many are invented. A fetch that fails takes nothing away, until the directory
// has been out of date for a day; attempts become rarer, up to five minutes.
//
// A directory may be signed with its own keys. That proves possession to those
// who got it from somebody else. Here it comes over TLS from the agent itself,
// and a directory that lists a stranger's key gains nothing, since each request's
// signature covers the agent it is attributed to. So it is neither demanded nor
// looked at, which the current draft leaves to the verifier.
//
// # Replay
//
// A request that was overheard can be sent again until it expires, as often as
// the components that it covers fit. A nonce stops that: one that this verifier
// has already seen in a Valid signature of the same key is Invalid. So a request
// must be checked once. [MaxNonces] are remembered for each agent, in this process
// only: what was signed before a restart, or before so many others, could be sent
// once more.
//
// The drafts leave it to the verifier whether it demands a nonce (RFC 9421 section
// 7.2.2), and tell it not to accept signatures for longer than it can bear. So one
// without a nonce counts for five minutes after it was created, however long it
// says that it lives; one signature for many requests, which the drafts advise
// against, counts as long.
//
// # Behind a proxy
//
// [Request] must have the scheme, the authority and the target as the client
// sent them. A signature that covers @target-uri or @scheme fails if a proxy
// terminates TLS and the scheme is not restored.
package botauth
