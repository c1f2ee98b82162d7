package botauth

import (
	"crypto/ed25519"
	"time"

	"github.com/dunglas/httpsfv"
)

// signedFields are the parsed header fields of a request that contain its signatures, and the
// request.
type signedFields struct {
	request        Request
	input, values  *httpsfv.Dictionary
	signatureAgent signatureAgent
}

// checkFields verifies a request. input is the value of its field Signature-Input, which contains Tag.
func (v *Verifier) checkFields(r Request, input []string) Result {
	signature, agent := r.Header["Signature"], r.Header["Signature-Agent"]
	if joinedLength(input) > MaxField || joinedLength(signature) > MaxField || joinedLength(agent) > MaxField {
		return failedResult(TooLarge)
	}
	f := signedFields{request: r}
	var err error
	if f.input, err = httpsfv.UnmarshalDictionary(input); err != nil {
		return failedResult(Malformed)
	}
	if f.values, err = httpsfv.UnmarshalDictionary(signature); err != nil {
		return failedResult(Malformed)
	}
	var ok bool
	if f.signatureAgent, ok = parseSignatureAgent(agent); !ok {
		return failedResult(Malformed)
	}
	return v.checkSignatures(&f)
}

// checkSignatures verifies all signatures of a request. checkSignatures returns the first Valid result, else the
// first Unknown result, else the first Invalid result. Unknown precedes Invalid, because an Unknown
// signature can be valid.
func (v *Verifier) checkSignatures(f *signedFields) (best Result) {
	now, seen := v.options.Now(), 0
	for _, label := range f.input.Names() {
		member, _ := f.input.Get(label)
		list, ok := member.(httpsfv.InnerList)
		if !ok {
			continue // An Item has no tag.
		}
		if tag, _ := list.Params.Get("tag"); tag != Tag {
			continue
		}
		result := failedResult(TooLarge)
		if seen++; seen <= MaxSignatures {
			result = v.checkSignature(f, label, list, now)
		}
		if result.State == Valid {
			return result
		}
		if best.State == None || best.State == Invalid && result.State == Unknown {
			best = result
		}
	}
	return best
}

// checkSignature verifies one signature. checkSignature starts no fetch of a directory if the
// parameters, times, encoding, component names or agent of the signature already decide the result.
func (v *Verifier) checkSignature(f *signedFields, label string, list httpsfv.InnerList, now time.Time) Result {
	p, reason := parseParameters(list.Params)
	if reason == Verified {
		reason = v.checkTimes(p, now)
	}
	if reason != Verified {
		return failedResult(reason)
	}
	signature, reason := f.decodeSignature(label)
	if reason != Verified {
		return failedResult(reason)
	}
	if reason = checkComponents(list.Items); reason != Verified {
		return failedResult(reason)
	}
	origin, reason := f.signatureAgent.findOrigin(label, list.Items)
	if reason != Verified {
		return failedResult(reason)
	}
	a := v.agents[origin]
	if a == nil {
		return failedResult(AgentNotAllowed)
	}
	result := Result{Agent: a.origin, Operator: a.operator}
	result.setReason(func() Reason {
		base, reason := f.signatureBase(list)
		if reason != Verified {
			return reason
		}
		key, reason := v.findKey(a, p.keyID, now)
		if reason != Verified {
			return reason
		}
		result.KeyID = p.keyID
		if !key.isCurrentAt(now) {
			return KeyNotCurrent
		}
		switch {
		case !ed25519.Verify(key.public, base, signature):
			return Mismatch
		case p.nonce != "" && !a.isFirstUse(p, now):
			return Replayed
		}
		return Verified
	}())
	return result
}

// signatureParameters are the parameters of a signature (RFC 9421 section 2.3).
type signatureParameters struct {
	created, expires int64 // These times are in Unix seconds.
	keyID, nonce     string
}

// parseParameters parses the parameters of a signature. The reason is Verified if the required
// parameters are present and all parameters have the right type.
func parseParameters(params *httpsfv.Params) (p signatureParameters, reason Reason) {
	created, ok1 := params.Get("created")
	expires, ok2 := params.Get("expires")
	keyID, ok3 := params.Get("keyid")
	if !ok1 || !ok2 || !ok3 {
		return p, MissingParameter
	}
	p.created, ok1 = created.(int64)
	p.expires, ok2 = expires.(int64)
	p.keyID, ok3 = keyID.(string)
	if !ok1 || !ok2 || !ok3 {
		return p, Malformed
	}
	if nonce, ok := params.Get("nonce"); ok {
		if p.nonce, ok = nonce.(string); !ok {
			return p, Malformed
		}
	}
	if alg, ok := params.Get("alg"); ok {
		switch name, ok := alg.(string); {
		case !ok:
			return p, Malformed
		case name != "ed25519":
			return p, UnsupportedAlgorithm
		}
	}
	return p, Verified
}

// checkTimes compares the times of a signature with the clock. The reason is Verified if the
// signature is valid now. Structured Fields limit integers to fifteen digits, so the arithmetic
// cannot overflow.
func (v *Verifier) checkTimes(p signatureParameters, now time.Time) Reason {
	switch {
	case p.expires <= p.created:
		return Malformed
	case p.expires-p.created > int64(v.options.MaxLifetime/time.Second):
		return LifetimeTooLong
	case p.created > now.Add(clockSkew).Unix():
		return NotYetValid
	case p.expires <= now.Unix():
		return Expired
	case p.nonce == "" && now.Unix()-p.created > int64(maxWithoutNonce/time.Second):
		return NonceMissing
	}
	return Verified
}

// decodeSignature returns the bytes of the signature with the given label from the field Signature.
func (f *signedFields) decodeSignature(label string) ([]byte, Reason) {
	member, ok := f.values.Get(label)
	if !ok {
		return nil, MissingSignature
	}
	if item, ok := member.(httpsfv.Item); ok {
		if value, ok := item.Value.([]byte); ok {
			return value, Verified
		}
	}
	return nil, Malformed
}

// failedResult returns a result with the reason, without an agent.
func failedResult(reason Reason) (result Result) {
	result.setReason(reason)
	return result
}

// setReason sets the reason and its state.
func (r *Result) setReason(reason Reason) { r.State, r.Reason = reason.State(), reason }

// joinedLength returns the length in bytes of a header field whose lines are joined.
func joinedLength(values []string) (n int) {
	for _, value := range values {
		n += len(value) + 1
	}
	return n
}
