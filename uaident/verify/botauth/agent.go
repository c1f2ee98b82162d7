package botauth

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// signingAgent is an allowed agent, with its keys and the nonces that it used. Only nonces of valid
// signatures are stored, so other clients cannot fill the memory.
type signingAgent struct {
	origin, operator string
	directory        atomic.Pointer[keyDirectory]
	noncesMu         sync.Mutex // noncesMu makes checking and storing a nonce atomic.
	// The key is a hash of the keyid and the nonce. The value is the time at which the signature
	// expires, in Unix seconds.
	nonces *lru.Cache[[sha256.Size]byte, int64]

	mu         sync.Mutex
	isFetching bool
	nextFetch  time.Time // nextFetch is the earliest time of the next fetch.
	failures   int       // failures counts the failures since the last success.
	err        error     // err is the error of the last fetch.
}

func newSigningAgent(origin, operator string) *signingAgent {
	nonces, err := lru.New[[sha256.Size]byte, int64](MaxNonces)
	if err != nil {
		panic(err) // This fails only for a size below one.
	}
	return &signingAgent{origin: origin, operator: operator, nonces: nonces}
}

// isFirstUse stores the nonce of a valid signature, and reports whether the nonce is new. The
// operation is atomic.
func (a *signingAgent) isFirstUse(p signatureParameters, now time.Time) bool {
	id := sha256.Sum256([]byte(p.keyID + "\x00" + p.nonce)) // A String contains no NUL.
	a.noncesMu.Lock()
	defer a.noncesMu.Unlock()
	if expires, found := a.nonces.Peek(id); found && expires > now.Unix() {
		return false
	}
	a.nonces.Add(id, p.expires)
	return true
}

// findKey returns the key of an agent with the given thumbprint. The reason is Verified if the
// agent's directory has the key. If the directory is missing, has expired or lacks the key, findKey
// starts a fetch that is due. Later requests can use the fetched keys.
func (v *Verifier) findKey(a *signingAgent, id string, now time.Time) (publicKey, Reason) {
	d := a.directory.Load()
	usable := d != nil && now.Before(d.expires.Add(maxStale))
	var k publicKey
	found := false
	if usable {
		k, found = d.keys[id]
	}
	pending := (!found || !now.Before(d.expires)) && v.fetchIfDue(a, now)
	switch {
	case found:
		return k, Verified
	case pending:
		return publicKey{}, DirectoryPending
	case usable:
		return publicKey{}, KeyUnknown
	}
	return publicKey{}, DirectoryUnavailable
}
