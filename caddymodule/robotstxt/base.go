package robotstxt

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
)

// noBase is what to do where a base file is not there.
const noBase = "write base none if there is nothing to build on"

// source returns from where the base is read, nil where there is none, and what tells it
// from others.
func (h *Handler) source() (from origin.Source, key string) {
	switch {
	case h.BaseFile != "":
		return origin.File{Path: h.BaseFile}, h.BaseFile
	case h.Base == baseUpstream:
		return origin.NewServer(false), ""
	}
	return nil, ""
}

// checkBase makes sure that a base file is there: without it the site's own lines would be
// gone.
func (h *Handler) checkBase() error {
	if h.BaseFile == "" {
		return nil
	}
	return origin.CheckFile("base", h.BaseFile, noBase)
}

// markBase keeps the line of a base file that is not there, or not yet, as on another
// machine.
func (h *Handler) markBase(d *caddyfile.Dispenser) {
	if h.checkBase() != nil {
		h.WrittenAt = option.LineOf(d)
	}
}
