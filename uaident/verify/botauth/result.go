package botauth

// State is the result of verifying the signatures of a request.
type State uint8

const (
	None    State = iota // The request has no Web Bot Auth signature.
	Unknown              // The signature cannot be verified, or not yet.
	Valid                // The signature was made with a published key of the agent.
	Invalid              // The signature is broken, expired, replayed, or from another request.
	numStates
)

var stateNames = [numStates]string{"none", "unknown", "valid", "invalid"}

// String returns the name of s, such as "valid".
func (s State) String() string {
	if s < numStates {
		return stateNames[s]
	}
	return "out of range"
}

// Result is the result of verifying the signatures of a request, with its reason.
type Result struct {
	State  State
	Reason Reason
	// Agent is the origin of the signing agent, which is in [Options.Agents], so a client cannot
	// invent values. Agent is "" for any other agent, and for a signature that was rejected before
	// its agent was determined.
	Agent string
	// Operator is the operator of Agent in [Options.Agents].
	Operator string
	// KeyID is the thumbprint of the key, or "" if the directory of Agent does not contain
	// the key.
	KeyID string
}

// Explain describes the result in a sentence.
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

// Reason is the reason for a result. Each reason belongs to one [State].
type Reason uint8

const (
	NoSignature Reason = iota // None: no signature with the tag web-bot-auth
	Verified                  // Valid
	TooLarge                  // Unknown: exceeds a bound of this package
	// NoAgent is Unknown: the request has no Signature-Agent, or the signature covers several
	// members of Signature-Agent, but none with its own label.
	NoAgent
	UnsupportedAgent     // Unknown: a type or URL other than the origin of a directory
	AgentNotAllowed      // Unknown: not in Options.Agents
	UnsupportedAlgorithm // Unknown: alg is not ed25519
	UnsupportedComponent // Unknown: unsupported component or parameter of a component
	DirectoryPending     // Unknown: the directory is being fetched
	DirectoryUnavailable // Unknown: the directory could not be fetched
	KeyUnknown           // Unknown: no such Ed25519 key in the directory
	Malformed            // Invalid: not what RFC 9421 and the drafts define
	MissingSignature     // Invalid: no member with that label in Signature
	MissingParameter     // Invalid: created, expires or keyid is missing
	// NotCovered is Invalid: the signature covers neither @authority nor @target-uri, or it does
	// not cover signature-agent.
	NotCovered
	ComponentAbsent // Invalid: a covered component is not in the request
	LifetimeTooLong // Invalid: expires is too long after created
	NotYetValid     // Invalid: created is in the future
	Expired         // Invalid: expires has passed
	KeyNotCurrent   // Invalid: outside the key's nbf and exp
	Mismatch        // Invalid: the signature does not match the key and request
	Replayed        // Invalid: the nonce was used before
	NonceMissing    // Invalid: too old for a signature without nonce
	numReasons
)

var reasons = [numReasons]struct {
	name  string
	state State
	text  string // text is the explanation, a clause.
	next  string // next is a sentence with advice.
}{
	NoSignature: {"no_signature", None,
		"the request has no signature with the tag web-bot-auth",
		"No action required. Most requests are not signed."},
	Verified: {"verified", Valid,
		"the request is signed with a key that the agent publishes",
		"No action required."},
	TooLarge: {"too_large", Unknown,
		"the signature fields or the covered components are too large",
		"The crawler's operator must sign fewer or shorter fields."},
	NoAgent: {"no_agent", Unknown,
		"the signature does not identify its Signature-Agent",
		"The crawler's operator must send Signature-Agent and cover the field with the signature."},
	UnsupportedAgent: {"unsupported_agent", Unknown,
		"the Signature-Agent is not the https origin of a key directory",
		"The crawler's operator must name the https origin of its key directory."},
	AgentNotAllowed: {"agent_not_allowed", Unknown,
		"the configuration does not allow the Signature-Agent",
		"If you trust the agent, set web_bot_auth of the crawler to the agent's URL."},
	UnsupportedAlgorithm: {"unsupported_algorithm", Unknown,
		"the algorithm is not ed25519",
		"The crawler's operator must sign with Ed25519."},
	UnsupportedComponent: {"unsupported_component", Unknown,
		"the signature covers an unsupported component",
		"The crawler's operator must not cover the component."},
	DirectoryPending: {"directory_pending", Unknown,
		"the agent's key directory is being fetched",
		"Later requests are verified, once the directory of keys is loaded."},
	DirectoryUnavailable: {"directory_unavailable", Unknown,
		"the agent's key directory could not be fetched",
		"The fetch is repeated. If it keeps failing, check the log for the error."},
	KeyUnknown: {"key_unknown", Unknown,
		"the agent's key directory has no Ed25519 key with the signature's keyid",
		"The crawler's operator must publish the key. A forged signature has the same result."},
	Malformed: {"malformed", Invalid,
		"the signature fields are malformed",
		"Check whether a proxy changes the fields. If not, the crawler's operator must fix them."},
	MissingSignature: {"missing_signature", Invalid,
		"Signature-Input has a label that Signature lacks",
		"Check whether a proxy drops a field. If not, the crawler's operator must send both fields with the same labels."},
	MissingParameter: {"missing_parameter", Invalid,
		"the signature lacks one of created, expires and keyid",
		"The crawler's operator must send all three."},
	NotCovered: {"not_covered", Invalid,
		"the signature does not cover @authority or @target-uri, or not signature-agent",
		"The crawler's operator must cover both. Otherwise a signature is valid for other sites too."},
	ComponentAbsent: {"component_absent", Invalid,
		"the signature covers a field missing in the request",
		"Check whether a proxy drops the field. If not, the crawler's operator must not cover it."},
	LifetimeTooLong: {"lifetime_too_long", Invalid,
		"the lifetime of the signature is too long",
		"The crawler's operator must use a shorter lifetime. The drafts recommend a day."},
	NotYetValid: {"not_yet_valid", Invalid,
		"the signature was created in the future",
		"Check the clock of this server. If it is right, the crawler's operator must check theirs."},
	Expired: {"expired", Invalid,
		"the signature has expired",
		"Check the clock of this server. If it is right, the request is old, or a copy of an old request."},
	KeyNotCurrent: {"key_not_current", Invalid,
		"the key is not valid yet or has expired",
		"Check the clock of this server. If it is right, the crawler's operator must sign with a current key."},
	Mismatch: {"mismatch", Invalid,
		"the signature does not match the key and the request",
		"Check whether a proxy changes the host, the URL or a signed field. If not, the signature is forged or wrong."},
	Replayed: {"replayed", Invalid,
		"the nonce was used before",
		"Each request needs a signature of its own. This request may be a copy of an earlier one."},
	NonceMissing: {"nonce_missing", Invalid,
		"the signature has no nonce and is older than five minutes",
		"The crawler's operator must add a nonce, or sign just before the request."},
}

// Reasons returns all reasons in the order of their declaration.
func Reasons() []Reason {
	reasons := make([]Reason, numReasons)
	for i := range reasons {
		reasons[i] = Reason(i)
	}
	return reasons
}

// String returns the name of the reason, such as "key_unknown". Metrics use the name as a label.
func (r Reason) String() string {
	if r < numReasons {
		return reasons[r].name
	}
	return "out_of_range"
}

// State returns the state to which the reason belongs.
func (r Reason) State() State {
	if r < numReasons {
		return reasons[r].state
	}
	return Unknown
}

// Explain describes the reason in a clause.
func (r Reason) Explain() string {
	if r < numReasons {
		return reasons[r].text
	}
	return "out of range"
}

// Advice returns a sentence that says what to do.
func (r Reason) Advice() string {
	if r < numReasons {
		return reasons[r].next
	}
	return "out of range"
}
