package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// maxAbuseReports is the maximum number of reports. The sources with the most requests get a
// report.
const maxAbuseReports = 1000

// maxAbuseReportSize is the maximum size of a report to verify, in bytes. It suffices for a
// robots.txt of 500 KiB in Base64 and the requests.
const maxAbuseReportSize = 4 << 20

// writeAbuseReports writes an abuse report for each source (network and crawler) into the directory
// of --xarf. The notes, for the user, give the number of written and of missing reports.
func (a *auditRunner) writeAbuseReports(sources []replay.Source, from replay.Contact) (notes []string, err error) {
	if err := os.MkdirAll(a.xarf, 0o755); err != nil {
		return nil, fmt.Errorf("--xarf: %w", err)
	}
	all := len(sources)
	sources = slices.DeleteFunc(slices.Clone(sources), func(s replay.Source) bool { return len(s.Samples) == 0 })
	for i := range sources[:min(len(sources), maxAbuseReports)] {
		report, err := replay.NewAbuseReport(&sources[i], from)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(a.xarf, fmt.Sprintf("%04d-%s.json", i+1, reportFileName(&sources[i])))
		err = writeNewFile(path, report)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("--xarf: %s exists already; use a new directory for each audit", path)
		}
		if err != nil {
			return nil, fmt.Errorf("--xarf: %w", err)
		}
	}
	notes = append(notes, fmt.Sprintf("Reports of abuse in %s: %d. They contain addresses of clients; nothing was sent.", a.xarf, min(len(sources), maxAbuseReports)))
	if n := len(sources) - maxAbuseReports; n > 0 {
		notes = append(notes, fmt.Sprintf("%d more sources (network and crawler), with fewer requests, have no report.", n))
	}
	if n := all - len(sources); n > 0 {
		notes = append(notes, fmt.Sprintf("%d more sources (network and crawler) have no report, because their URLs or User-Agents are too long.", n))
	}
	return notes, nil
}

// writeNewFile writes value as JSON into a new file. If the file exists, the error is
// [fs.ErrExist].
func writeNewFile(path string, value any) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(file)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	err = enc.Encode(value)
	return errors.Join(err, file.Close())
}

// reportFileName returns the last part of the name of a report file, such as "192.0.2.0_24-GPTBot",
// from the network and the crawler of the source.
func reportFileName(s *replay.Source) string {
	name := s.Network.String() + "-" + s.Crawler
	return strings.Trim(strings.Map(func(c rune) rune {
		if c < 128 && (c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return c
		}
		return '_'
	}, name), "-")
}

// verifyAbuseReport judges the requests in an abuse report by the robots.txt in the report, and
// prints each contradiction. findings reports whether there are any.
func (a *auditRunner) verifyAbuseReport(cmd *cobra.Command) (findings bool, err error) {
	data, err := readFile(cmd.InOrStdin(), a.verifyReportPath, maxAbuseReportSize)
	if err != nil {
		return false, err
	}
	v, err := replay.VerifyAbuseReport(data, uaident.Default())
	if err != nil {
		return false, fmt.Errorf("%s: %w", a.verifyReportPath, err)
	}
	errs := slices.Concat(v.Contradictions, v.Errors)
	return len(errs) > 0, a.output.print(cmd, nil, func(w io.Writer) {
		fmt.Fprintf(w, "source:     %s\nrequests:   %d, %s to %s\nrobots.txt: SHA-256 %s\nsamples:    %d of %d are disallowed as the report says\n",
			text.Printable(v.Report.Source), v.Report.TotalRequests, v.Report.FirstSeen.Format(time.RFC3339), v.Report.LastSeen.Format(time.RFC3339),
			v.RobotsSHA256, v.SampleCount-len(v.Errors), v.SampleCount)
		for _, wrong := range errs {
			fmt.Fprintf(w, "wrong:      %s\n", text.Printable(wrong))
		}
	})
}
