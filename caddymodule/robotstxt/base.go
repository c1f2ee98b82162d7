package robotstxt

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// noBase is the advice for a missing base file.
const noBase = "write base none if there is nothing to build on"

// source returns the source of the base, and a key that identifies the source. from is nil without a
// base.
func (h *Handler) source() (from site.Source, key string) {
	switch {
	case h.BaseFile != "":
		return site.FileSource{Path: h.BaseFile}, h.BaseFile
	case h.Base == baseUpstream:
		return site.NewServerSource(false), ""
	}
	return nil, ""
}

// checkBase returns an error if the base file is missing. Without the file, the site's own rules
// would be lost.
func (h *Handler) checkBase() error {
	if h.BaseFile == "" {
		return nil
	}
	return site.CheckFile("base", h.BaseFile, noBase)
}

// markBase records the Caddyfile line of a missing base file. The file may exist on another machine.
func (h *Handler) markBase(d *caddyfile.Dispenser) {
	if h.checkBase() != nil {
		h.WrittenAt = option.LineOf(d)
	}
}
