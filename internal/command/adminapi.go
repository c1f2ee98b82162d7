package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/pflag"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// adminAPI has the flags that locate the admin API of a running server.
type adminAPI struct{ address, config, adapter string }

// define defines the flags.
func (a *adminAPI) define(flags *pflag.FlagSet) {
	flags.StringVar(&a.address, "address", "", "the address of the admin API, if not the default")
	flags.StringVarP(&a.config, "config", "c", "", "a configuration file with that address")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of that file")
}

// adminServer is the address of an admin API.
type adminServer string

// find returns the address.
func (a *adminAPI) find() (adminServer, error) {
	if err := checkConfig(a.config); err != nil {
		return "", err
	}
	if u, err := url.Parse(a.address); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return "", fmt.Errorf("--address %q is a URL; write %s", a.address, u.Host)
	}
	host, port, err := net.SplitHostPort(a.address)
	if n, wrong := strconv.ParseUint(port, 10, 16); err == nil && (n == 0 || wrong != nil) && !strings.Contains(a.address, "/") {
		return "", fmt.Errorf("--address %q has no port from 1 to 65535; write it as %s", a.address, net.JoinHostPort(host, "2019"))
	}
	if err != nil && a.address != "" && !strings.Contains(a.address, "/") { // the address of a socket has a slash
		return "", fmt.Errorf("--address %q has no port; write it as %s", a.address, net.JoinHostPort(strings.Trim(a.address, "[]"), "2019"))
	}
	if a.address != "" || a.config == "" {
		address, err := caddycmd.DetermineAdminAPIAddress(a.address, nil, "", "")
		return adminServer(address), err
	}
	config, _, _, err := caddycmd.LoadConfig(a.config, a.adapter)
	if err != nil {
		return "", ofConfig(a.config, err)
	}
	if isOff(config) { // another server may listen at the default address
		return "", fmt.Errorf("the admin API is off in %s, so no command can ask that server; remove admin off, or let it listen on a socket, as admin unix//run/caddy.sock does", a.config)
	}
	address, err := caddycmd.DetermineAdminAPIAddress("", config, a.config, a.adapter)
	return adminServer(address), err
}

// isOff reports whether a JSON configuration turns the admin API off.
func isOff(config []byte) bool {
	var of struct {
		Admin struct {
			Disabled bool `json:"disabled"`
		} `json:"admin"`
	}
	return json.Unmarshal(config, &of) == nil && of.Admin.Disabled
}

// maxAdminAnswer bounds a response, in bytes. It is larger than any response of the admin API.
// Another server may listen at the address.
const maxAdminAnswer = 64 << 20

// adminWait is the timeout for the start of a response, and for each read of its body.
const adminWait = 2 * time.Minute

// errNoAnswer is the error of a server that neither responds nor closes the connection.
var errNoAnswer = errors.New("no answer in " + text.Duration(adminWait))

// begin sends a request that has no timeout of its own, and returns an error if the response does
// not start in time.
func begin(most time.Duration, request func() (*http.Response, error)) (*http.Response, error) {
	type answer struct {
		response *http.Response
		err      error
	}
	answered := make(chan answer, 1)
	go func() {
		response, err := request()
		answered <- answer{response, err}
	}()
	select {
	case a := <-answered:
		return a.response, a.err
	case <-time.After(most):
		return nil, errNoAnswer
	}
}

// flowing is a body with a timeout for each read.
type flowing struct {
	io.ReadCloser
	most time.Duration
}

func (f flowing) Read(p []byte) (int, error) {
	timer := time.AfterFunc(f.most, func() { _ = f.Close() })
	n, err := f.ReadCloser.Read(p)
	if !timer.Stop() && err != io.EOF {
		err = errNoAnswer
	}
	return n, err
}

// read sends a request with value as JSON, unless value is nil. It decodes the response into
// answer, unless answer is nil, and returns the response.
func (s adminServer) read(method, uri string, value, answer any) (body json.RawMessage, err error) {
	header := make(http.Header)
	var request []byte
	if value != nil {
		header.Set("Content-Type", "application/json")
		if request, err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	response, err := begin(adminWait, func() (*http.Response, error) {
		return caddycmd.AdminAPIRequest(string(s), method, uri, header, bytes.NewReader(request))
	})
	if err != nil {
		return nil, s.explain(err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(http.MaxBytesReader(nil, flowing{response.Body, adminWait}, maxAdminAnswer))
	if errors.Is(err, errNoAnswer) {
		return nil, s.explain(err)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = fmt.Errorf("it has more than %d MiB", maxAdminAnswer>>20)
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("what listens at %s answers something else than the admin API of Caddy: %w; %s", s, err, sayWhere)
	}
	return body, nil
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
	why := strings.TrimPrefix(err.Error(), "performing request: ")
	if _, short, ok := strings.Cut(why, `": `); ok { // the part after the URL
		why = short
	}
	switch {
	case errors.Is(err, errNoAnswer):
		return fmt.Errorf("what listens at %s gives %w; if that is the server, what was asked of it may still be under way there; if not, %s", s, err, sayWhere)
	case strings.Contains(why, "malformed HTTP"), strings.Contains(why, "HTTP response to HTTPS client"):
		return fmt.Errorf("what listens at %s is something else than the admin API of Caddy (%s); %s", s, why, sayWhere)
	case strings.Contains(why, "permission denied"):
		return fmt.Errorf("the admin API at %s is not open to this user (%s); run this as the user of the server", s, why)
	}
	return fmt.Errorf("no server answers at %s: %s; start it, or %s", s, report.Why(errors.New(why)), sayWhere)
}

// sayWhere is the advice if the command reached another server.
const sayWhere = "say where its admin API listens with --address or --config"
