package edition

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// SignatureSuffix is what the path of a text is followed by in that of its signature.
const SignatureSuffix = ".sig"

// ErrSignature is in the error for a text that nobody with the key has signed.
var ErrSignature = errors.New("the signature is not one of this text by this key")

// ParseKey reads a public Ed25519 key: its 32 bytes in base64, or what
// "openssl pkey -pubout" writes, with or without its first and last line.
func ParseKey(text string) (ed25519.PublicKey, error) {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		return publicKey(block.Bytes)
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, errNoPublicKey
	case len(data) == ed25519.PublicKeySize:
		return data, nil
	}
	return publicKey(data)
}

var errNoPublicKey = errors.New("it has to be a public Ed25519 key in base64, as caddy robots-guard registry sign prints it")

func publicKey(der []byte) (ed25519.PublicKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if key, ok := key.(ed25519.PublicKey); ok && err == nil {
		return key, nil
	}
	return nil, errNoPublicKey
}

// FormatKey writes a public key in a form that [ParseKey] reads.
func FormatKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// ParsePrivateKey reads a private Ed25519 key as "openssl genpkey -algorithm ed25519"
// writes it.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	const want = "it has to be a private Ed25519 key; make one by: openssl genpkey -algorithm ed25519 -out key.pem"
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New(want)
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := any.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New(want)
	}
	return key, nil
}

// Sign returns the signature of a text in base64, for the file beside it.
func Sign(key ed25519.PrivateKey, data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(nil, ed25519.Sign(key, data)), '\n')
}

// Verify tells whether a signature is that of exactly these bytes: 64 bytes, as openssl
// writes them, or the same in base64.
func Verify(key ed25519.PublicKey, data, signature []byte) error {
	if len(signature) != ed25519.SignatureSize {
		decoded, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signature)))
		if err != nil || len(decoded) != ed25519.SignatureSize {
			return fmt.Errorf("a signature has %d bytes, or these in base64; %w", ed25519.SignatureSize, ErrSignature)
		}
		signature = decoded
	}
	if !ed25519.Verify(key, data, signature) {
		return ErrSignature
	}
	return nil
}

// SignaturePlace returns where the signature of a text is: .sig stands behind the path
// of a file or a URL.
func SignaturePlace(place string) string {
	if !strings.Contains(place, "://") {
		return place + SignatureSuffix
	}
	path, query, has := strings.Cut(place, "?")
	if has {
		query = "?" + query
	}
	path, _, _ = strings.Cut(path, "#")
	return path + SignatureSuffix + query
}
