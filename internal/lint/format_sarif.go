package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The parts of SARIF 2.1.0 (OASIS) that are written.
type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		HelpURI string       `json:"helpUri"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func writeSARIF(w io.Writer, reports []*Report) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "Robots Guard", InformationURI: project, Rules: []sarifRule{}}
	index := make(map[policy.Code]int)
	levels := map[policy.Severity]string{policy.Error: "error", policy.Warning: "warning", policy.Info: "note"}
	for _, r := range reports {
		for _, f := range r.Findings {
			at, ok := index[f.Code]
			if !ok {
				at = len(index)
				index[f.Code] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(f.Code), sarifMessage{describe(f.Code)}, helpPage(f.Code)})
			}
			physical := sarifPhysical{Artifact: sarifArtifact{artifactURI(r.Name)}}
			if f.Line > 0 {
				physical.Region = &sarifRegion{f.Line, f.Column}
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: string(f.Code), RuleIndex: at, Level: levels[f.Severity],
				Message: sarifMessage{strings.ToValidUTF8(f.Message, "\ufffd")}, Locations: []sarifLocation{{physical}},
			})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Version: "2.1.0", Schema: "https://json.schemastore.org/sarif-2.1.0.json", Runs: []sarifRun{run},
	})
}

// artifactURI returns the name of a file as a URI reference (RFC 3986), relative
// if the name is.
func artifactURI(name string) string {
	switch {
	case name == "-":
		return "stdin"
	case strings.Contains(name, "://"):
		return name
	}
	path := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()
	}
	return (&url.URL{Path: path}).String() // puts ./ before a colon in the first segment
}
