package explain

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ParseIdentity parses the assumed identity of a client. An empty word means claimed.
func ParseIdentity(word string) (verify.State, error) {
	if word == "" {
		return verify.Claimed, nil
	}
	who, ok := verify.ParseState(word)
	if !ok {
		return 0, fmt.Errorf("unknown identity %q; it is claimed, verified, unknown or spoofed", word)
	}
	return who, nil
}
