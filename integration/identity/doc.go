// Package identity tests whether a crawler is who it says: by lists of addresses, DNS and signatures.
package identity
