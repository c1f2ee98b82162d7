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
	text  string
}{
	NoSignature:          {"no_signature", None, "the request has no signature with the tag web-bot-auth"},
	Verified:             {"verified", Valid, "the request is signed with a key that the agent publishes"},
	TooLarge:             {"too_large", Unknown, "the signature fields, or what they cover, are larger than what is read of them"},
	NoAgent:              {"no_agent", Unknown, "the signature does not say which Signature-Agent it is of"},
	UnsupportedAgent:     {"unsupported_agent", Unknown, "the Signature-Agent is not the https origin of a key directory"},
	AgentNotAllowed:      {"agent_not_allowed", Unknown, "the Signature-Agent is not one that the configuration allows"},
	UnsupportedAlgorithm: {"unsupported_algorithm", Unknown, "the algorithm is not ed25519"},
	UnsupportedComponent: {"unsupported_component", Unknown, "the signature covers a component that is not supported"},
	DirectoryPending:     {"directory_pending", Unknown, "the agent's key directory is being fetched"},
	DirectoryUnavailable: {"directory_unavailable", Unknown, "the agent's key directory could not be fetched"},
	KeyUnknown:           {"key_unknown", Unknown, "the agent's key directory has no Ed25519 key of that keyid"},
	Malformed:            {"malformed", Invalid, "the signature fields are malformed"},
	MissingSignature:     {"missing_signature", Invalid, "Signature-Input has a label that Signature lacks"},
	MissingParameter:     {"missing_parameter", Invalid, "the signature lacks one of created, expires and keyid"},
	NotCovered:           {"not_covered", Invalid, "the signature does not cover @authority or @target-uri, or not signature-agent"},
	ComponentAbsent:      {"component_absent", Invalid, "the signature covers a field that the request does not have"},
	LifetimeTooLong:      {"lifetime_too_long", Invalid, "the signature lives longer than is accepted"},
	NotYetValid:          {"not_yet_valid", Invalid, "the signature was created in the future"},
	Expired:              {"expired", Invalid, "the signature has expired"},
	KeyNotCurrent:        {"key_not_current", Invalid, "the key is not valid yet or has expired"},
	Mismatch:             {"mismatch", Invalid, "the signature is not that of this key over this request"},
	Replayed:             {"replayed", Invalid, "the nonce was used before"},
	NonceMissing:         {"nonce_missing", Invalid, "the signature has no nonce and was created more than five minutes ago, so that it may be a copy"},
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
