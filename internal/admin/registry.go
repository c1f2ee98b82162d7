package admin

import (
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// RegistryPath is where the registry stands that the configuration names:
//
//	GET  /robots_guard/registry
//	POST /robots_guard/registry/accept
//	GET  /robots_guard/registry/proposals
//
// POST takes an [Acceptance]. The first two answer with a [RegistryReport], the last
// with [Proposals].
const RegistryPath = "/robots_guard/registry"

// Acceptance names the text that waits.
type Acceptance struct {
	ID  string `json:"id"`
	Who string `json:"who,omitempty"` // for the log
}

// RegistryReport is how it stands with it.
type RegistryReport struct {
	Registry *report.Registry `json:"registry"` // null if the configuration names none
}

// Proposals are names that no registry knows, robots first, then the most frequent.
type Proposals struct {
	Proposals []report.Proposal `json:"proposals"`
}

func (a *API) proposals(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return failed(http.StatusMethodNotAllowed, "use GET to read proposals")
	}
	return writeJSON(w, http.StatusOK, Proposals{a.find().Proposals()})
}

func (a *API) registry(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return failed(http.StatusMethodNotAllowed, "use GET; what waits is accepted by POST %s/accept", RegistryPath)
	}
	return writeJSON(w, http.StatusOK, RegistryReport{a.find().Registry()})
}

// accept takes a text into use that waits.
func (a *API) accept(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return failed(http.StatusMethodNotAllowed, "use POST to accept a text")
	}
	var sent Acceptance
	err := readBody(http.MaxBytesReader(w, r.Body, maxNote), &sent)
	if err == nil && sent.ID == "" {
		err = errors.New("it has no id")
	}
	if err == nil {
		err = checkLine("who", sent.Who)
	}
	if err != nil {
		return failed(http.StatusBadRequest, `the body is no JSON such as {"id": "0123456789abcdef", "who": "ann"}: %w; GET %s has the id`, jsontext.InWords(err), RegistryPath)
	}
	if err := a.find().Accept(sent.ID, sent.Who); err != nil {
		return failed(http.StatusNotFound, "%w; GET %s tells what waits", err, RegistryPath)
	}
	return writeJSON(w, http.StatusOK, RegistryReport{a.find().Registry()})
}
