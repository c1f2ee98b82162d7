package command

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// maxKeyFile bounds the file of a key, in bytes.
const maxKeyFile = 64 << 10

// sign writes the signature of a registry beside it.
func (g *registry) sign(w io.Writer, name string) error {
	if g.key == "" {
		return errors.New("registry sign needs --key with the file of the private key; make one by: openssl genpkey -algorithm ed25519 -out key.pem")
	}
	secret, err := readMost(g.key, maxKeyFile)
	if err != nil {
		return err
	}
	key, err := edition.ParsePrivateKey(secret)
	if err != nil {
		return fmt.Errorf("%s: %w", g.key, err)
	}
	data, err := readMost(name, edition.MaxBytes)
	if err != nil {
		return err
	}
	e, err := edition.Parse(name, data)
	if err != nil {
		return err
	}
	if e.Serial == 0 {
		return fmt.Errorf("%s: it has no serial, so that an older edition could be passed off as this one; "+
			`begin it with {"serial": 1, and count that up with each edition`, name)
	}
	if err := os.WriteFile(name+edition.SignatureSuffix, edition.Sign(key, data), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\nkey %s\n", name+edition.SignatureSuffix, edition.FormatKey(key.Public().(ed25519.PublicKey)))
	return err
}
