package edition

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"testing"
)

func TestSignatures(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		FormatKey(public), " " + FormatKey(public) + "\n", base64.StdEncoding.EncodeToString(der),
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
	} {
		if key, err := ParseKey(text); err != nil || !key.Equal(public) {
			t.Errorf("%q: %v, %v", text, key, err)
		}
	}
	for _, text := range []string{"", "?", FormatKey(public)[:20], base64.StdEncoding.EncodeToString(der[:40])} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
	der, err = x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil || !again.Equal(private) {
		t.Errorf("%v", err)
	}
	if _, err := ParsePrivateKey([]byte("no key")); err == nil {
		t.Error("any text is a private key")
	}
	text := []byte("{}")
	signed := Sign(private, text)
	for _, signature := range [][]byte{signed, ed25519.Sign(private, text)} {
		if err := Verify(public, text, signature); err != nil {
			t.Error(err)
		}
		if err := Verify(public, []byte("{} "), signature); !errors.Is(err, ErrSignature) {
			t.Errorf("another text: %v", err)
		}
	}
	for _, signature := range []string{"", "no signature", string(signed[:40]), string(make([]byte, 64))} {
		if err := Verify(public, text, []byte(signature)); !errors.Is(err, ErrSignature) {
			t.Errorf("%q: %v", signature, err)
		}
	}
}
