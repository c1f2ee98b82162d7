// Package protocols tests the protocols that carry requests: what of each is judged, and that what passes, passes unchanged.
package protocols
