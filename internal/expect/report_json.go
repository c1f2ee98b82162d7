package expect

import (
	"encoding/json"
	"io"
)

// jsonReport is the output of the json format.
type jsonReport struct {
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Cases  []jsonCase `json:"cases"`
}

type jsonCase struct {
	Name      string `json:"name"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Token     string `json:"token,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
	URL       string `json:"url"`
	OK        bool   `json:"ok"`
	Expected  string `json:"expected"`
	Got       string `json:"got"`
	Because   string `json:"because"`
	Note      string `json:"note,omitempty"`
}

// writeJSON prints one object.
func writeJSON(w io.Writer, results []Result) error {
	report := jsonReport{Cases: []jsonCase{}}
	for _, r := range results {
		if r.OK() {
			report.Passed++
		} else {
			report.Failed++
		}
		report.Cases = append(report.Cases, jsonCase{
			Name: r.Title(), File: r.File, Line: r.Line, Token: r.Token, UserAgent: r.UserAgent, URL: r.URL,
			OK: r.OK(), Expected: r.expected(), Got: r.got(), Because: r.Because, Note: r.Note,
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}
