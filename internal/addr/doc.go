// Package addr tells what an address is: whether it belongs to the public
// Internet, which network stands for it, and what of an authority is the host.
package addr
