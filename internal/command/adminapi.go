package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// adminAPI has the flags of a command that uses the admin API of a running server: the address of
// the API, and whether to print JSON.
type adminAPI struct {
	output
	address, config, adapter string
}

// defineFlags adds --address, --config, --adapter and --json to the flags of a command.
func (a *adminAPI) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.address, "address", "", "the address of the admin API, if not the default")
	flags.StringVarP(&a.config, "config", "c", "", "the configuration file with the address of the admin API")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of the configuration file")
	a.output.defineFlag(flags)
}

// requestAndPrint sends a request to the admin API and prints the response: as indented JSON with
// --json, else by calling writeText. Before printing, the JSON of the response is decoded into
// answer. The body of the request is value as JSON, or empty for nil.
func (a *adminAPI) requestAndPrint(cmd *cobra.Command, method, uri string, value, answer any, writeText func(io.Writer)) error {
	server, err := a.serverAddress()
	if err != nil {
		return err
	}
	body, err := server.sendAndDecode(method, uri, value, answer)
	if err != nil {
		return err
	}
	return a.print(cmd, body, writeText)
}

// adminAddress is the address of the admin API of a server.
type adminAddress string

// serverAddress returns the address of the admin API: the address of --address, or the address in
// the configuration file of --config, or Caddy's default.
func (a *adminAPI) serverAddress() (adminAddress, error) {
	if err := checkConfigFile(a.config); err != nil {
		return "", err
	}
	if isSocket := strings.Contains(a.address, "/") && !isURL(a.address); a.address != "" && !isSocket {
		_, port, err := net.SplitHostPort(a.address)
		if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 {
			return "", fmt.Errorf("--address %q is not an address, for example localhost:2019 or [::1]:2019", a.address)
		}
	}
	if a.address != "" || a.config == "" {
		address, err := caddycmd.DetermineAdminAPIAddress(a.address, nil, "", "")
		return adminAddress(address), err
	}
	config, _, _, err := caddycmd.LoadConfig(a.config, a.adapter)
	if err != nil {
		return "", addConfigName(a.config, err)
	}
	if isAdminDisabled(config) { // Another server may listen at the default address.
		return "", fmt.Errorf("the admin API is off in %s, so commands cannot reach the server; remove admin off, or use a socket, for example admin unix//run/caddy.sock", a.config)
	}
	address, err := caddycmd.DetermineAdminAPIAddress("", config, a.config, a.adapter)
	return adminAddress(address), err
}

// isAdminDisabled reports whether a JSON configuration turns the admin API off.
func isAdminDisabled(config []byte) bool {
	var parsed struct {
		Admin struct {
			Disabled bool `json:"disabled"`
		} `json:"admin"`
	}
	return json.Unmarshal(config, &parsed) == nil && parsed.Admin.Disabled
}

// maxAdminAnswer is the maximum size of a response, in bytes. Caddy's admin API sends no larger
// response, but another server may listen at the address.
const maxAdminAnswer = 64 << 20

// adminTimeout is the timeout for a request to the admin API. Refreshing a robots.txt takes the
// longest.
const adminTimeout = 2 * time.Minute

// errTimeout is the error if the server does not respond within adminTimeout.
var errTimeout = errors.New("did not answer within " + text.Duration(adminTimeout))

// sendAndDecode sends a request, decodes the JSON response into answer, and returns the response.
// The body of the request is value as JSON, or empty for nil.
func (s adminAddress) sendAndDecode(method, uri string, value, answer any) (body json.RawMessage, err error) {
	if body, err = s.send(adminTimeout, method, uri, value); err != nil {
		return nil, err
	}
	if err = json.Unmarshal(body, answer); err != nil {
		return nil, s.notCaddyError(err)
	}
	return body, nil
}

// send sends a request and returns the body of the response. The body of the request is value as
// JSON, or empty for nil. send returns an error after the timeout, because Caddy's client has none.
func (s adminAddress) send(timeout time.Duration, method, uri string, value any) ([]byte, error) {
	header := make(http.Header)
	var request []byte
	if value != nil {
		header.Set("Content-Type", "application/json")
		var err error
		if request, err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	type result struct {
		body []byte
		err  error
	}
	results := make(chan result, 1)
	go func() { // After a timeout, this goroutine ends with the process.
		response, err := caddycmd.AdminAPIRequest(string(s), method, uri, header, bytes.NewReader(request))
		if err != nil {
			results <- result{nil, s.explainError(err)}
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxAdminAnswer))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			err = fmt.Errorf("the response is larger than %d MiB", maxAdminAnswer>>20)
		}
		if err != nil {
			err = s.notCaddyError(err)
		}
		results <- result{body, err}
	}()
	select {
	case r := <-results:
		return r.body, r.err
	case <-time.After(timeout):
		return nil, s.explainError(errTimeout)
	}
}

// notCaddyError returns the error for a response that does not come from Caddy's admin API. err is
// the problem with the response.
func (s adminAddress) notCaddyError(err error) error {
	return fmt.Errorf("the server at %s is not the admin API of Caddy: %w; %s", s, err, addressHint)
}

// explainError converts an error of Caddy's client for the admin API into an error with advice. It
// examines the message, because the client's errors have no types.
func (s adminAddress) explainError(err error) error {
	if _, body, ok := strings.Cut(err.Error(), "caddy responded with error: HTTP "); ok {
		status, body, _ := strings.Cut(body, ": ")
		var answer struct {
			Error string `json:"error"`
		}
		switch {
		case json.Unmarshal([]byte(body), &answer) == nil && answer.Error != "":
			return errors.New(answer.Error)
		case status == "404":
			return fmt.Errorf("the server at %s is not a Caddy with robots_guard in its configuration", s)
		}
		return fmt.Errorf("the admin API at %s answers %s: %s", s, status, body)
	}
	reason := strings.TrimPrefix(err.Error(), "performing request: ")
	if _, cause, ok := strings.Cut(reason, `": `); ok { // This is the cause without the method and the URL.
		reason = cause
	}
	switch {
	case errors.Is(err, errTimeout):
		return fmt.Errorf("the server at %s %w; the request may still take effect; if the address is wrong, %s", s, err, addressHint)
	case strings.Contains(reason, "malformed HTTP"), strings.Contains(reason, "HTTP response to HTTPS client"):
		return fmt.Errorf("the server at %s is not the admin API of Caddy (%s); %s", s, reason, addressHint)
	case strings.Contains(reason, "permission denied"):
		return fmt.Errorf("this user may not use the admin API at %s (%s); run the command as the user of the server", s, reason)
	}
	return fmt.Errorf("no server responds at %s: %s; start it, or %s", s, report.DescribeError(errors.New(reason)), addressHint)
}

// addressHint is the advice in errors if another server may have responded.
const addressHint = "give the address of the admin API with --address or --config"
