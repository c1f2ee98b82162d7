package botauth

// State is what a check found.
type State uint8

const (
	None    State = iota // no signature of this kind
	Unknown              // it cannot be verified, or not yet
	Valid                // signed with a key that the agent publishes
	Invalid              // it is broken, out of date, replayed, or not of this request
	numStates
)

var stateNames = [numStates]string{"none", "unknown", "valid", "invalid"}

// String returns a word for s, such as "valid".
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "out of range"
}

// Result is what is known of a request's signature.
type Result struct {
	State  State
	Reason Reason
	// Agent is the origin that the signature is attributed to, as [Options.Agents]
	// has it; "" if it is none of them, so that no client invents a value.
	Agent string
	// Operator is whom the allow-list binds to Agent; "" without one.
	Operator string
	// KeyID is the thumbprint of the key; "" unless Agent's directory has it.
	KeyID string
}

// Explain returns a sentence for people.
func (r Result) Explain() string {
	text := r.Reason.Explain()
	if r.Agent != "" {
		text += " (agent " + r.Agent
		if r.KeyID != "" {
			text += ", key " + r.KeyID
		}
		text += ")"
	}
	return text
}

// Reason is why a result is what it is. Each belongs to one [State].
type Reason uint8

const (
	NoSignature          Reason = iota // None: no signature with the tag web-bot-auth
	Verified                           // Valid
	TooLarge                           // Unknown: more to read than this package reads
	NoAgent                            // Unknown: no Signature-Agent that the signature covers alone
	UnsupportedAgent                   // Unknown: a type or URL other than the origin of a directory
	AgentNotAllowed                    // Unknown: not in Options.Agents
	UnsupportedAlgorithm               // Unknown: alg is not ed25519
	UnsupportedComponent               // Unknown: a component, or a parameter of one, that is not supported
	DirectoryPending                   // Unknown: the directory is being fetched
	DirectoryUnavailable               // Unknown: the directory could not be fetched
	KeyUnknown                         // Unknown: the directory has no such Ed25519 key
	Malformed                          // Invalid: not what RFC 9421 and the drafts define
	MissingSignature                   // Invalid: Signature has no member of that label
	MissingParameter                   // Invalid: created, expires or keyid is not there
	NotCovered                         // Invalid: @authority or signature-agent is not covered
	ComponentAbsent                    // Invalid: a covered component is not in the request
	LifetimeTooLong                    // Invalid: expires is too long after created
	NotYetValid                        // Invalid: created is in the future
	Expired                            // Invalid: expires has passed
	KeyNotCurrent                      // Invalid: outside the key's nbf and exp
	Mismatch                           // Invalid: the signature is not that of this key over this request
	Replayed                           // Invalid: the nonce was used before
	NonceMissing                       // Invalid: no nonce, and created too long ago to do without
	numReasons
)

var reasons = [numReasons]struct {
	name  string
	state State
	text  string // half a sentence
	next  string // a sentence: what to do, and who
}{
	NoSignature: {"no_signature", None,
		"the request has no signature with the tag web-bot-auth",
		"Nothing is wrong: most requests are not signed."},
	Verified: {"verified", Valid,
		"the request is signed with a key that the agent publishes",
		"Nothing is to be done."},
	TooLarge: {"too_large", Unknown,
		"the signature fields, or what they cover, are larger than what is read of them",
		"The crawler's operator has to sign fewer or shorter fields."},
	NoAgent: {"no_agent", Unknown,
		"the signature does not say which Signature-Agent it is of",
		"The crawler's operator has to send Signature-Agent and to cover it with the signature."},
	UnsupportedAgent: {"unsupported_agent", Unknown,
		"the Signature-Agent is not the https origin of a key directory",
		"The crawler's operator has to name the https origin of its key directory."},
	AgentNotAllowed: {"agent_not_allowed", Unknown,
		"the Signature-Agent is not one that the configuration allows",
		"If the agent is one to be trusted, allow it."},
	UnsupportedAlgorithm: {"unsupported_algorithm", Unknown,
		"the algorithm is not ed25519",
		"The crawler's operator has to sign with Ed25519."},
	UnsupportedComponent: {"unsupported_component", Unknown,
		"the signature covers a component that is not supported",
		"The crawler's operator has to leave that component out."},
	DirectoryPending: {"directory_pending", Unknown,
		"the agent's key directory is being fetched",
		"Requests that come later are verified, once the directory has been read."},
	DirectoryUnavailable: {"directory_unavailable", Unknown,
		"the agent's key directory could not be fetched",
		"It is tried again; if that goes on, see why fetches of the directory fail."},
	KeyUnknown: {"key_unknown", Unknown,
		"the agent's key directory has no Ed25519 key of that keyid",
		"The crawler's operator has to publish the key; somebody else who signs in his name gets this, too."},
	Malformed: {"malformed", Invalid,
		"the signature fields are malformed",
		"See whether a proxy changes the fields; else the crawler's operator has to mend them."},
	MissingSignature: {"missing_signature", Invalid,
		"Signature-Input has a label that Signature lacks",
		"See whether a proxy drops a field; else the crawler's operator has to send both with the same labels."},
	MissingParameter: {"missing_parameter", Invalid,
		"the signature lacks one of created, expires and keyid",
		"The crawler's operator has to send all three."},
	NotCovered: {"not_covered", Invalid,
		"the signature does not cover @authority or @target-uri, or not signature-agent",
		"The crawler's operator has to cover both, or a signature for one site would do for another."},
	ComponentAbsent: {"component_absent", Invalid,
		"the signature covers a field that the request does not have",
		"See whether a proxy drops the field; else the crawler's operator must not cover it."},
	LifetimeTooLong: {"lifetime_too_long", Invalid,
		"the signature lives longer than is accepted",
		"The crawler's operator has to have signatures expire sooner, within a day as the drafts recommend."},
	NotYetValid: {"not_yet_valid", Invalid,
		"the signature was created in the future",
		"See whether this server's clock is right; else the crawler's operator has to set his."},
	Expired: {"expired", Invalid,
		"the signature has expired",
		"See whether this server's clock is right; else the crawler's operator has to sign anew, or somebody sends a copy."},
	KeyNotCurrent: {"key_not_current", Invalid,
		"the key is not valid yet or has expired",
		"See whether this server's clock is right; else the crawler's operator has to sign with a key that is current."},
	Mismatch: {"mismatch", Invalid,
		"the signature is not that of this key over this request",
		"See whether a proxy changes the host, the URL or a signed field; else the signature is forged or wrong."},
	Replayed: {"replayed", Invalid,
		"the nonce was used before",
		"The crawler's operator has to sign each request anew; else somebody, or a proxy, sends a copy."},
	NonceMissing: {"nonce_missing", Invalid,
		"the signature has no nonce and was created more than five minutes ago, so that it may be a copy",
		"The crawler's operator has to add a nonce, or to sign just before the request."},
}

// Reasons returns all reasons in the order of their declaration.
func Reasons() []Reason {
	all := make([]Reason, numReasons)
	for i := range all {
		all[i] = Reason(i)
	}
	return all
}

// String returns the reason's name, such as "key_unknown", fit for a label.
func (r Reason) String() string {
	if r < numReasons {
		return reasons[r].name
	}
	return "out_of_range"
}

// State returns the state that the reason belongs to.
func (r Reason) State() State {
	if r < numReasons {
		return reasons[r].state
	}
	return Unknown
}

// Explain returns half a sentence for people.
func (r Reason) Explain() string {
	if r < numReasons {
		return reasons[r].text
	}
	return "out of range"
}

// Advice returns a sentence for people: what is to be done next, and by whom.
func (r Reason) Advice() string {
	if r < numReasons {
		return reasons[r].next
	}
	return "out of range"
}
