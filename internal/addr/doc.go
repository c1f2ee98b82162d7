// Package addr classifies IP addresses as public or not, maps them to networks, and splits
// authorities into host and port.
package addr
