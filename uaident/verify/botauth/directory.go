package botauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// These are bounds of a directory.
const (
	MaxDirectory = 64 << 10 // MaxDirectory is a number of decompressed bytes.
	MaxKeys      = 64
)

// testKeyID is the thumbprint of RFC 9421's test-key-ed25519, which
// draft-meunier-webbotauth-httpsig-protocol says to reject.
const testKeyID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"

// keyDirectory is a fetched and parsed key directory. A keyDirectory is immutable.
type keyDirectory struct {
	keys             map[string]publicKey // The key is the thumbprint.
	fetched, expires time.Time
}

// publicKey is a public key with its validity period.
type publicKey struct {
	public             ed25519.PublicKey
	notBefore, expires float64 // These times are in Unix seconds. 0 means no limit.
}

// isCurrentAt reports whether now is in the validity period of the key.
func (k publicKey) isCurrentAt(now time.Time) bool {
	seconds := float64(now.Unix())
	return (k.notBefore == 0 || seconds >= k.notBefore) && (k.expires == 0 || seconds < k.expires)
}

// jsonWebKey is a JSON Web Key (RFC 7517, RFC 8037) with the fields that parseKeys reads.
type jsonWebKey struct {
	KeyType   string  `json:"kty"`
	Curve     string  `json:"crv"`
	X         string  `json:"x"`
	ID        string  `json:"kid"`
	Use       string  `json:"use"`
	NotBefore float64 `json:"nbf"`
	Expires   float64 `json:"exp"`
}

// parseKeys returns the Ed25519 signature keys of a JSON Web Key Set by thumbprint. parseKeys skips
// other keys and invalid keys. parseKeys also skips keys whose kid differs from the thumbprint, as
// the draft requires, and, unless testKeys is true, the example key of RFC 9421.
func parseKeys(text []byte, testKeys bool) (map[string]publicKey, error) {
	if len(text) > MaxDirectory {
		return nil, fmt.Errorf("the directory is larger than %d bytes", MaxDirectory)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("the directory is not a JSON Web Key Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("the directory is not a JSON Web Key Set: missing member keys")
	}
	if len(set.Keys) > MaxKeys {
		return nil, fmt.Errorf("the directory has more than %d keys", MaxKeys)
	}
	keys := make(map[string]publicKey)
	for _, text := range set.Keys {
		var j jsonWebKey
		if json.Unmarshal(text, &j) != nil || j.KeyType != "OKP" || j.Curve != "Ed25519" || j.Use != "" && j.Use != "sig" {
			continue
		}
		public, err := base64.RawURLEncoding.Strict().DecodeString(j.X)
		if err != nil || len(public) != ed25519.PublicKeySize {
			continue
		}
		id := thumbprint(public)
		if j.ID != "" && j.ID != id || id == testKeyID && !testKeys {
			continue
		}
		keys[id] = publicKey{public: public, notBefore: j.NotBefore, expires: j.Expires}
	}
	return keys, nil
}

// thumbprint returns the SHA-256 thumbprint of an Ed25519 key (RFC 7638, RFC
// 8037 appendix A.3).
func thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
