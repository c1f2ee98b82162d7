package lint

import (
	"encoding/json"
	"io"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// jsonReports is the output of the json format.
type jsonReports struct {
	Files    []jsonReport `json:"files"`
	Errors   int          `json:"errors"`
	Warnings int          `json:"warnings"`
	Infos    int          `json:"infos"`
}

type jsonReport struct {
	Name       string        `json:"name"`
	Findings   []jsonFinding `json:"findings"`
	Unreported int           `json:"unreported"` // number of findings that are not listed
	Readings   *Readings     `json:"readings"`
}

type jsonFinding struct {
	Code     policy.Code `json:"code"`
	Severity string      `json:"severity"` // error, warning or info
	Line     int         `json:"line"`     // 0 for the whole file
	Column   int         `json:"column"`   // in Unicode code points, from 1; 0 for the whole file
	Message  string      `json:"message"`
	Help     string      `json:"help"` // documentation of the code
}

func writeJSON(w io.Writer, reports []*Report) error {
	all := jsonReports{Files: []jsonReport{}}
	for _, r := range reports {
		file := jsonReport{Name: r.Name, Findings: []jsonFinding{}, Unreported: r.Unreported, Readings: &r.Readings}
		for _, f := range r.Findings {
			file.Findings = append(file.Findings, jsonFinding{f.Code, f.Severity.String(), f.Line, f.Column, f.Message, helpPage(f.Code)})
		}
		all.Files = append(all.Files, file)
		all.Errors += r.Count(policy.Error)
		all.Warnings += r.Count(policy.Warning)
		all.Infos += r.Count(policy.Info)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}

const (
	project  = "https://github.com/robotsguard/caddy-robots-guard"
	findings = project + "/blob/main/docs/findings.md"
)

// helpPage returns the URL of the documentation of a code.
func helpPage(code policy.Code) string { return findings + "#" + string(code) }
