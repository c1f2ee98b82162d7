package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// verificationReport is the JSON output of identify --ip.
type verificationReport struct {
	UserAgent string             `json:"user_agent"`
	IP        netip.Addr         `json:"ip"`
	Crawler   string             `json:"crawler"`
	Class     string             `json:"class"`
	Operator  string             `json:"operator,omitempty"`
	Identity  string             `json:"identity"`
	Method    string             `json:"proof"`
	Steps     []verificationStep `json:"steps"`
}

// verificationStep is the result of one method of verification, as a sentence.
type verificationStep struct {
	Method string `json:"method"`
	Text   string `json:"text"`
}

// verifyClient prints whether the client with the address of --ip is the crawler of its User-Agent.
// findings is true if that claim is false.
func (x *identifyRunner) verifyClient(cmd *cobra.Command, agents []string) (findings bool, err error) {
	if len(agents) != 1 {
		return false, errors.New("--ip needs one User-Agent as the argument, in quotes")
	}
	addr, err := netip.ParseAddr(x.ip)
	if err != nil {
		return false, fmt.Errorf("--ip %q is not an IP address, for example 192.0.2.1 or 2001:db8::1", x.ip)
	}
	verification, err := x.config.Verification(x.configFile)
	if err != nil {
		return false, err
	}
	report := verificationReport{UserAgent: agents[0], IP: addr, Method: verify.None.String()}
	client := verification.Registry.IdentifyWithOverlay(agents[0], nil)
	report.Crawler, report.Class = client.Name(), client.Class.String()
	found, err := x.explainVerification(cmd.Context(), verification, client, addr)
	if err != nil {
		return false, err
	}
	if client.Crawler != nil {
		report.Operator = client.Crawler.Operator
	}
	report.Identity, report.Method = found.Finding.State.String(), found.Finding.Method.String()
	for _, step := range found.Steps {
		report.Steps = append(report.Steps, verificationStep{step.Method.String(), step.Text})
	}
	return found.Finding.State == verify.Spoofed, x.output.print(cmd, report, report.writeText)
}

// explainVerification verifies that a client with this address is the crawler of its User-Agent,
// and describes each step.
func (x *identifyRunner) explainVerification(ctx context.Context, verification *Verification, client uaident.Identity, addr netip.Addr) (verify.Explanation, error) {
	switch {
	case client.Class == uaident.Browser:
		return unverifiedExplanation("the User-Agent does not claim to be a crawler"), nil
	case client.Crawler == nil:
		return unverifiedExplanation("the registry does not contain this crawler, so its claim cannot be verified; add the crawler with the global option crawler"), nil
	case !verification.Enabled:
		return unverifiedExplanation("the configuration does not verify claims; add verify on to the global option robots_guard"), nil
	}
	verifier := verify.New(verify.Options{UserAgent: site.GuardUserAgent})
	defer verifier.Close()
	if err := verifier.Configure(verification.Verifier); err != nil {
		return verify.Explanation{}, err
	}
	found := verifier.Explain(ctx, client.Crawler, addr, x.useNetwork)
	step, err := x.explainSignatures(ctx, verification, client.Crawler)
	if step.Text != "" {
		found.Steps = append(found.Steps, step)
	}
	return found, err
}

// explainSignatures describes whether requests with signatures (Web Bot Auth) of a crawler's
// operator can be verified. The step is zero if the operator has no known signing agent.
func (x *identifyRunner) explainSignatures(ctx context.Context, verification *Verification, c *uaident.Crawler) (verify.Step, error) {
	newStep := func(format string, args ...any) (verify.Step, error) {
		return verify.Step{Method: verify.WebBotAuth, Text: fmt.Sprintf(format, args...)}, nil
	}
	var signingAgents []string
	for _, agent := range slices.Sorted(maps.Keys(verification.SigningAgents)) {
		if verification.SigningAgents[agent] == c.Operator {
			signingAgents = append(signingAgents, agent)
		}
	}
	switch {
	case len(signingAgents) == 0:
		return verify.Step{}, nil
	case !verification.Signatures:
		return newStep("Requests signed by %s would be verified, but web_bot_auth is off.", strings.Join(signingAgents, ", "))
	case !x.useNetwork:
		return newStep("A request signed by %s is verified at any address. Whether its keys can be fetched was not checked; add --online.", strings.Join(signingAgents, ", "))
	}
	signatures, err := botauth.New(botauth.Options{Agents: verification.SigningAgents, UserAgent: site.GuardUserAgent})
	if err != nil {
		return verify.Step{}, err
	}
	defer signatures.Close()
	var results []string
	for _, agent := range signingAgents {
		if err := signatures.Refresh(ctx, agent); err != nil {
			results = append(results, fmt.Sprintf("A request signed by %s cannot be verified now: %v.", agent, err))
		}
	}
	for _, d := range signatures.Directories() {
		if slices.Contains(signingAgents, d.Agent) && d.Err == nil {
			results = append(results, fmt.Sprintf("A request signed by %s is verified at any address; its directory has usable keys: %d.", d.Agent, d.KeyCount))
		}
	}
	return newStep("%s", strings.Join(results, " "))
}

// unverifiedExplanation returns the explanation for a client that cannot be verified. text is the
// reason.
func unverifiedExplanation(text string) verify.Explanation {
	return verify.Explanation{Steps: []verify.Step{{Text: text}}}
}

// writeText writes the report for people.
func (r *verificationReport) writeText(w io.Writer) {
	who := cmp.Or(r.Crawler, "no crawler") + " (" + r.Class
	if r.Operator != "" {
		who += ", " + r.Operator
	}
	identity := text.Colorize(w, r.Identity)
	if r.Method != verify.None.String() {
		identity += " (" + r.Method + ")"
	}
	fmt.Fprintf(w, "claims to be  %s\naddress       %s\nidentity      %s\n\n", text.Printable(who+")"), r.IP, identity)
	for _, step := range r.Steps {
		if step.Method == verify.None.String() {
			fmt.Fprintf(w, "- %s\n", text.Printable(step.Text))
		} else {
			fmt.Fprintf(w, "- %s: %s\n", step.Method, text.Printable(step.Text))
		}
	}
}
