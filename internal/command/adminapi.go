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

// adminAPI has the output, and the flags for the address of a running server's admin API.
type adminAPI struct {
	output
	address, config, adapter string
}

// define defines the flags.
func (a *adminAPI) define(flags *pflag.FlagSet) {
	flags.StringVar(&a.address, "address", "", "the address of the admin API, if not the default")
	flags.StringVarP(&a.config, "config", "c", "", "a configuration file with this address")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of the file")
	a.output.define(flags)
}

// requestAndPrint sends a request to the admin API, decodes the response into answer, and prints the answer:
// as JSON, or with writeText.
func (a *adminAPI) requestAndPrint(cmd *cobra.Command, method, uri string, value, answer any, writeText func(io.Writer)) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	body, err := server.request(method, uri, value, answer)
	if err != nil {
		return err
	}
	return a.print(cmd, body, writeText)
}

// adminServer is the address of an admin API.
type adminServer string

// server returns the address of the admin API.
func (a *adminAPI) server() (adminServer, error) {
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
		return adminServer(address), err
	}
	config, _, _, err := caddycmd.LoadConfig(a.config, a.adapter)
	if err != nil {
		return "", withConfigName(a.config, err)
	}
	if adminDisabled(config) { // another server may listen at the default address
		return "", fmt.Errorf("the admin API is off in %s, so commands cannot reach the server; remove admin off, or use a socket, for example admin unix//run/caddy.sock", a.config)
	}
	address, err := caddycmd.DetermineAdminAPIAddress("", config, a.config, a.adapter)
	return adminServer(address), err
}

// adminDisabled reports whether a JSON configuration turns the admin API off.
func adminDisabled(config []byte) bool {
	var parsed struct {
		Admin struct {
			Disabled bool `json:"disabled"`
		} `json:"admin"`
	}
	return json.Unmarshal(config, &parsed) == nil && parsed.Admin.Disabled
}

// maxAdminAnswer bounds a response, in bytes. It is larger than any response of the admin API.
// Another server may listen at the address.
const maxAdminAnswer = 64 << 20

// adminTimeout is the timeout for a request. A refresh of robots.txt takes the longest.
const adminTimeout = 2 * time.Minute

// errTimeout is the error of a server that neither responds nor closes the connection.
var errTimeout = errors.New("no answer in " + text.Duration(adminTimeout))

// request sends a request with value as JSON, unless value is nil. The response is returned, and
// decoded into answer.
func (s adminServer) request(method, uri string, value, answer any) (body json.RawMessage, err error) {
	if body, err = s.send(adminTimeout, method, uri, value); err != nil {
		return nil, err
	}
	if err = json.Unmarshal(body, answer); err != nil {
		return nil, s.notCaddy(err)
	}
	return body, nil
}

// send sends a request with value as JSON, unless value is nil, and returns the body of the response.
// Caddy's client has no timeout.
func (s adminServer) send(timeout time.Duration, method, uri string, value any) ([]byte, error) {
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
	go func() { // ends with the process after a timeout
		response, err := caddycmd.AdminAPIRequest(string(s), method, uri, header, bytes.NewReader(request))
		if err != nil {
			results <- result{nil, s.explain(err)}
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxAdminAnswer))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			err = fmt.Errorf("it has more than %d MiB", maxAdminAnswer>>20)
		}
		if err != nil {
			err = s.notCaddy(err)
		}
		results <- result{body, err}
	}()
	select {
	case r := <-results:
		return r.body, r.err
	case <-time.After(timeout):
		return nil, s.explain(errTimeout)
	}
}

// notCaddy returns the error for a response from another server than Caddy's admin API.
func (s adminServer) notCaddy(err error) error {
	return fmt.Errorf("the server at %s is not the admin API of Caddy: %w; %s", s, err, addressHint)
}

// explain converts the error of a request to the admin API into advice. Caddy's errors have nothing
// but a message.
func (s adminServer) explain(err error) error {
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
	if _, cause, ok := strings.Cut(reason, `": `); ok { // the part after the URL
		reason = cause
	}
	switch {
	case errors.Is(err, errTimeout):
		return fmt.Errorf("the server at %s gives %w; the request may still take effect; if the address is wrong, %s", s, err, addressHint)
	case strings.Contains(reason, "malformed HTTP"), strings.Contains(reason, "HTTP response to HTTPS client"):
		return fmt.Errorf("the server at %s is not the admin API of Caddy (%s); %s", s, reason, addressHint)
	case strings.Contains(reason, "permission denied"):
		return fmt.Errorf("the admin API at %s is not open to this user (%s); run this as the user of the server", s, reason)
	}
	return fmt.Errorf("no server responds at %s: %s; start it, or %s", s, report.DescribeError(errors.New(reason)), addressHint)
}

// addressHint is the advice if the command reached another server.
const addressHint = "give the address of the admin API with --address or --config"
