package console

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// Curl does what curl does with the given arguments, and returns its output in the
// bytes of HTTP/1.1. It accepts URLs of the demo at port 8080, of example.com and of
// its subdomains. It connects to the given port for all of them.
func Curl(port string, args []string) (string, error) {
	var url, format string
	var fields []string
	userAgent, verb := harness.Curl, http.MethodGet
	show, quiet, bodyless := false, false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		value := func() string {
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch arg {
		case "-s", "-sS":
		case "-i", "-si", "-is":
			show = true
		case "-I", "-sI":
			show, bodyless, verb = true, true, http.MethodHead
		case "-A", "--user-agent", "-sA":
			userAgent = value()
		case "-iA", "-siA":
			show, userAgent = true, value()
		case "-H", "--header":
			fields = append(fields, value())
		case "-X", "--request":
			verb = value()
		case "-o", "--output":
			quiet = value() == "/dev/null"
		case "-w", "--write-out":
			format = value()
		default:
			if strings.HasPrefix(arg, "-") || url != "" {
				return "", fmt.Errorf("curl %s is not understood by this test", arg)
			}
			url = arg
		}
	}
	_, rest, _ := strings.Cut(url, "://")
	if rest == "" {
		rest = url
	}
	host, target, _ := strings.Cut(rest, "/")
	switch {
	case host == "localhost:8080":
		host = "localhost:" + port
	case host != "example.com" && !strings.HasSuffix(host, ".example.com"):
		return "", fmt.Errorf("curl: %q is not a URL of the demo on localhost:8080, or of example.com", url)
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	// Each request uses a new connection and no Connection field, so that the response
	// has none either.
	fmt.Fprintf(conn, "%s /%s HTTP/1.1\r\nHost: %s\r\n", verb, target, host)
	if userAgent != "" {
		fmt.Fprintf(conn, "User-Agent: %s\r\n", userAgent)
	}
	for _, field := range append(fields, "Accept: */*", "") {
		fmt.Fprintf(conn, "%s\r\n", field)
	}
	in := bufio.NewReader(conn)
	var out strings.Builder
	head, err := readHead(in)
	if err != nil {
		return "", err
	}
	if show && !quiet {
		out.WriteString(head)
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n"))), &http.Request{Method: http.MethodHead})
	if err != nil {
		return "", err
	}
	if !bodyless && !quiet {
		full, err := http.ReadResponse(bufio.NewReader(joined(head, in)), &http.Request{Method: verb})
		if err != nil {
			return "", err
		}
		defer full.Body.Close()
		if _, err := fmt.Fprint(&out, readAll(full.Body)); err != nil {
			return "", err
		}
	}
	format = strings.NewReplacer(`\n`, "\n", `\t`, "\t", "%{http_code}", fmt.Sprint(response.StatusCode)).Replace(format)
	return out.String() + format, nil
}

// readHead reads the status line and the header of a response. Its lines end with a
// line feed.
func readHead(in *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimRight(line, "\r\n")
		head.WriteString(line + "\n")
		if line == "" {
			return head.String(), nil
		}
	}
}

// joined returns a head and the rest of the response.
func joined(head string, rest io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader(head), rest)
}

func readAll(r io.Reader) string {
	all, _ := io.ReadAll(r) // an incomplete body fails the comparison
	return string(all)
}
