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

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

func verifyCommand(config Config) *cobra.Command {
	v := verifyClaim{config: config}
	cmd := &cobra.Command{
		Use:   "verify --user-agent <ua> --ip <address> [--online] [--config <caddyfile>]",
		Short: "Tells whether a client is the crawler that it claims to be",
		Long: `
Says step by step how the claim of a client can be verified by what the
crawler's operator publishes, and what came of it.

Nothing is fetched and nobody is asked unless --online is given: then the lists
of addresses are read from their URLs, the name of the address is looked up, and
the keys of signatures (Web Bot Auth) are fetched if they count. A signature is
of one request, so none is verified here.

--config takes the global option robots_guard of a Caddyfile or a JSON
configuration, with its crawlers, lists and DNS server. Without it the official
lists and reverse DNS are used, as with "verify on".

Exit status: 0 if the claim is verified or nothing speaks against it, 1 if the
name is false, 2 if an argument cannot be used.
`,
		Example: `
caddy robots-guard verify --user-agent "Mozilla/5.0 (compatible; Googlebot/2.1)" --ip 66.249.66.1 --online
caddy robots-guard verify --user-agent GPTBot/1.3 --ip 203.0.113.7 --config Caddyfile --json
`,
		RunE: runCommand(v.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&v.userAgent, "user-agent", "u", "", "the User-Agent")
	flags.StringVar(&v.ip, "ip", "", "the address of the client")
	flags.BoolVar(&v.online, "online", false, "fetch lists of addresses and keys, and ask the DNS")
	flags.StringVarP(&v.file, "config", "c", "", "a Caddyfile or JSON configuration with the options to use")
	flags.BoolVar(&v.json, "json", false, "print a JSON object")
	return cmd
}

// verifyClaim is the command with its flags.
type verifyClaim struct {
	config              Config
	userAgent, ip, file string
	online, json        bool
}

// claimReport is what --json prints.
type claimReport struct {
	UserAgent string      `json:"user_agent"`
	IP        netip.Addr  `json:"ip"`
	Crawler   string      `json:"crawler"`
	Class     string      `json:"class"`
	Operator  string      `json:"operator,omitempty"`
	Identity  string      `json:"identity"`
	Proof     string      `json:"proof"`
	Steps     []claimStep `json:"steps"`
}

type claimStep struct {
	Method string `json:"method"`
	Text   string `json:"text"`
}

func (v *verifyClaim) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) > 0 {
		return 0, fmt.Errorf("unexpected argument %q; the User-Agent goes behind --user-agent, in quotes", args[0])
	}
	if v.userAgent == "" || v.ip == "" {
		return 0, errors.New("--user-agent and --ip are needed; see caddy robots-guard verify --help")
	}
	addr, err := netip.ParseAddr(v.ip)
	if err != nil {
		return 0, fmt.Errorf("--ip %q is no IP address such as 192.0.2.1 or 2001:db8::1", v.ip)
	}
	if err := checkConfig(v.file); err != nil {
		return 0, err
	}
	verification, err := v.config.Verification(v.file)
	if err != nil {
		return 0, err
	}
	report := claimReport{UserAgent: v.userAgent, IP: addr, Proof: verify.None.String()}
	client := verification.Registry.IdentifyWith(v.userAgent, nil)
	report.Crawler, report.Class = client.Name(), client.Class.String()
	found, err := v.explain(cmd.Context(), verification, client, addr)
	if err != nil {
		return 0, err
	}
	if client.Crawler != nil {
		report.Operator = client.Crawler.Operator
	}
	report.Identity, report.Proof = found.Finding.State.String(), found.Finding.Method.String()
	for _, step := range found.Steps {
		report.Steps = append(report.Steps, claimStep{step.Method.String(), step.Text})
	}
	code := ExitAllowed
	if found.Finding.State == verify.Spoofed {
		code = ExitDisallowed
	}
	if v.json {
		return code, newEncoder(cmd.OutOrStdout()).Encode(report)
	}
	screen := screenOf(cmd.OutOrStdout())
	return code, errors.Join(report.print(screen), screen.Flush())
}

// explain verifies the claim of a client step by step.
func (v *verifyClaim) explain(ctx context.Context, by *Verification, client uaident.Identity, addr netip.Addr) (verify.Explanation, error) {
	switch {
	case client.Class == uaident.Browser:
		return said("the User-Agent does not claim to be a crawler"), nil
	case client.Crawler == nil:
		return said("the registry does not know this crawler, so nothing can speak for it or against it; add it with the global option crawler"), nil
	case !by.On:
		return said("the configuration does not verify claims; add verify on to the global option robots_guard"), nil
	}
	verifier := verify.New(verify.Options{UserAgent: origin.GuardUserAgent})
	defer verifier.Close()
	if err := verifier.Configure(by.Verifier); err != nil {
		return verify.Explanation{}, err
	}
	found := verifier.Explain(ctx, client.Crawler, addr, v.online)
	step, err := v.explainSignatures(ctx, by, client.Crawler)
	if step.Text != "" {
		found.Steps = append(found.Steps, step)
	}
	return found, err
}

// explainSignatures says what the signatures of a crawler's requests are worth,
// nothing if it is not known to sign any.
func (v *verifyClaim) explainSignatures(ctx context.Context, by *Verification, c *uaident.Crawler) (verify.Step, error) {
	say := func(format string, args ...any) (verify.Step, error) {
		return verify.Step{Method: verify.WebBotAuth, Text: fmt.Sprintf(format, args...)}, nil
	}
	var signs []string
	for _, agent := range slices.Sorted(maps.Keys(by.Agents)) {
		if by.Agents[agent] == c.Operator {
			signs = append(signs, agent)
		}
	}
	switch {
	case len(signs) == 0:
		return verify.Step{}, nil
	case !by.Signatures:
		return say("Requests signed by %s would be verified, but web_bot_auth is off.", strings.Join(signs, ", "))
	case !v.online:
		return say("A request signed by %s is verified, whatever its address. Whether the keys can be had was not asked.", strings.Join(signs, ", "))
	}
	signatures, err := botauth.New(botauth.Options{Agents: by.Agents, UserAgent: origin.GuardUserAgent})
	if err != nil {
		return verify.Step{}, err
	}
	defer signatures.Close()
	var said []string
	for _, agent := range signs {
		if err := signatures.Refresh(ctx, agent); err != nil {
			said = append(said, fmt.Sprintf("A request signed by %s cannot be verified now: %v.", agent, err))
		}
	}
	for _, d := range signatures.Directories() {
		if slices.Contains(signs, d.Agent) && d.Err == nil {
			said = append(said, fmt.Sprintf("A request signed by %s is verified, whatever its address: its directory has usable keys: %d.", d.Agent, d.Keys))
		}
	}
	return say("%s", strings.Join(said, " "))
}

// said is an explanation of a claim that cannot be verified.
func said(text string) verify.Explanation {
	return verify.Explanation{Steps: []verify.Step{{Text: text}}}
}

// print writes the report for people.
func (r *claimReport) print(w io.Writer) error {
	who := cmp.Or(r.Crawler, "nobody") + " (" + r.Class
	if r.Operator != "" {
		who += ", " + r.Operator
	}
	identity := text.Paint(w, r.Identity)
	if r.Proof != verify.None.String() {
		identity += " (" + r.Proof + ")"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "claims to be  %s\naddress       %s\nidentity      %s\n\n", text.Printable(who+")"), r.IP, identity)
	for _, step := range r.Steps {
		if step.Method == verify.None.String() {
			fmt.Fprintf(&b, "- %s\n", text.Printable(step.Text))
		} else {
			fmt.Fprintf(&b, "- %s: %s\n", step.Method, text.Printable(step.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
