package robotstxt

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
)

// noBase is what to do where a base file is not there.
const noBase = "write base none if there is nothing to build on"

// markBase keeps the line of a base file that is not there, or not yet, as on another
// machine.
func (h *Handler) markBase(d *caddyfile.Dispenser) {
	if h.BaseFile != "" && origin.CheckFile("base", h.BaseFile, noBase) != nil {
		h.Mark(d)
	}
}
