package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// GitHub Actions require these escapes in messages and properties of workflow commands
// (actions/toolkit, packages/core/src/command.ts).
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub prints workflow commands, which become annotations of a pull request.
func writeGitHub(w io.Writer, reports []*Report) error {
	words := map[policy.Severity]string{policy.Error: "error", policy.Warning: "warning", policy.Info: "notice"}
	for _, r := range reports {
		for _, f := range r.Findings {
			at := "file=" + githubProperty.Replace(r.Name)
			if f.Line > 0 {
				at += fmt.Sprintf(",line=%d,col=%d", f.Line, f.Column)
			}
			_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", words[f.Severity], at,
				githubProperty.Replace(string(f.Code)), githubData.Replace(f.Message))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
