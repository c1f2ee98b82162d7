package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadme runs the commands that README.md shows in ```console blocks and
// compares what comes out with what it shows. A line that begins with "$ " is a
// command, continued on the next line by a backslash at its end; the lines up to
// the next command are its output.
//
// Commands are
//
//	curl [-s] [-i] [-I] [-A <ua>] [-H <field>] [-X <method>] [-o /dev/null] [-w '%{http_code}\n'] <url>
//	caddy robots-guard ..., or go run ./cmd/caddy robots-guard ...
//
// and may end in "| grep <regexp>". URLs are those of the demo on
// localhost:8080, and the file robots.txt keeps everybody from /private/. Other
// commands, such as the one that starts the demo, are left out. A line "..." in the output stands for any lines. What differs each
// time is not compared: the date, the time in a line "read:", and the length.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := example(t, "Caddyfile.example", "8080")
	// The README's reader needs some time between starting and the first request.
	local := "http://localhost:" + s.port
	eventually(t, "the demo has read its robots.txt", func() bool { return get(t, local+"/", gptBot).status == 403 })

	ran := 0
	for _, step := range consoleSteps(string(text)) {
		args, pattern, err := shellWords(step.command)
		if err != nil {
			t.Errorf("README.md:%d: %v", step.line, err)
			continue
		}
		var got string
		switch {
		case args[0] == "curl":
			got, err = curlOutput(s, args[1:])
		case len(args) > 1 && args[0] == "caddy" && args[1] == "robots-guard":
			got = commandBeside(t, args[1:])
		case len(args) > 3 && args[0] == "go" && args[1] == "run" && args[2] == "./cmd/caddy" && args[3] == "robots-guard":
			got = commandBeside(t, args[3:])
		default:
			continue
		}
		if err != nil {
			t.Errorf("README.md:%d: %v", step.line, err)
			continue
		}
		if pattern != nil {
			var kept strings.Builder
			for line := range strings.Lines(got) {
				if pattern.MatchString(strings.TrimRight(line, "\r\n")) {
					kept.WriteString(line)
				}
			}
			got = kept.String()
		}
		ran++
		got = strings.ReplaceAll(got, ":"+s.port, ":8080")
		if !sameOutput(step.output, got) {
			t.Errorf("README.md:%d: $ %s\n--- it shows\n%s\n--- it is\n%s", step.line, step.command, step.output, got)
		}
	}
	t.Logf("%d commands were run", ran)
	if ran == 0 {
		t.Error("README.md shows no command that can be run")
	}
}

type consoleStep struct {
	line            int
	command, output string
}

// consoleSteps finds the commands in the console blocks of a Markdown text.
func consoleSteps(text string) (steps []consoleStep) {
	inBlock, continued := false, false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			inBlock = !inBlock && strings.TrimSpace(line) == "```console"
			continued = false
			if inBlock {
				steps = append(steps, consoleStep{}) // output before the first command is nobody's
			}
		case !inBlock:
		case continued:
			last := &steps[len(steps)-1]
			last.command += " " + strings.TrimSpace(strings.TrimSuffix(line, `\`))
			continued = strings.HasSuffix(line, `\`)
		case strings.HasPrefix(line, "$ "):
			continued = strings.HasSuffix(line, `\`)
			steps = append(steps, consoleStep{line: number, command: strings.TrimSuffix(line[2:], `\`)})
		default:
			steps[len(steps)-1].output += line + "\n"
		}
	}
	kept := steps[:0]
	for _, step := range steps {
		if step.command != "" {
			kept = append(kept, step)
		}
	}
	return kept
}

// shellWords splits a command as a shell does, quotes and a comment included,
// and takes off a grep behind it.
func shellWords(command string) (args []string, pattern *regexp.Regexp, err error) {
	var word strings.Builder
	var quote rune
	open := false
	var all [][]string
	var current []string
	flush := func() {
		if open {
			current = append(current, word.String())
		}
		word.Reset()
		open = false
	}
	escaped := false
runes:
	for _, c := range command {
		switch {
		case escaped:
			word.WriteRune(c)
			open, escaped = true, false
		case quote == 0 && c == '\\' || quote == '"' && c == '\\':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			flush()
		case c == '|':
			flush()
			all, current = append(all, current), nil
		case c == '#' && !open:
			break runes
		default:
			word.WriteRune(c)
			open = true
		}
	}
	flush()
	all = append(all, current)
	if quote != 0 || escaped || len(all[0]) == 0 || len(all) > 2 {
		return nil, nil, fmt.Errorf("cannot read the command %q", command)
	}
	if len(all) == 2 {
		if len(all[1]) != 2 || all[1][0] != "grep" {
			return nil, nil, fmt.Errorf("only grep <regexp> may follow in %q", command)
		}
		if pattern, err = regexp.Compile(all[1][1]); err != nil {
			return nil, nil, err
		}
	}
	return all[0], pattern, nil
}

// curlOutput does what curl does with these arguments, in the bytes of
// HTTP/1.1.
func curlOutput(s *server, args []string) (string, error) {
	var url, format string
	var fields []string
	userAgent, verb := curl, http.MethodGet
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
	target, ok := strings.CutPrefix(strings.TrimPrefix(url, "http://"), "localhost:8080")
	if !ok {
		return "", fmt.Errorf("curl: %q is no URL of the demo on localhost:8080", url)
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	// A connection of its own each time: no field about it is in the answer.
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost:%s\r\n", verb, target, s.port)
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

// varying matches what differs each time; the length does since the port has
// another number of digits here.
var varying = regexp.MustCompile(`(?m)^(Date:|read:|Content-Length:).*$`)

// sameOutput compares an output with what is shown of it.
func sameOutput(shown, got string) bool {
	normal := func(s string) string {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = varying.ReplaceAllString(s, "$1 *")
		return strings.TrimRight(s, "\n")
	}
	parts := strings.Split("\n"+normal(shown)+"\n", "\n...\n")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	same, err := regexp.MatchString(`(?s)^`+strings.Join(parts, `\n(?:.*\n)?`)+`$`, "\n"+normal(got)+"\n")
	return err == nil && same
}

// readHead reads the status line and the header of an answer, with the lines
// ended by a line feed.
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

// joined returns a head that was read and what follows.
func joined(head string, rest io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader(head), rest)
}

func readAll(r io.Reader) string {
	all, _ := io.ReadAll(r) // what came is compared
	return string(all)
}

// commandBeside runs the binary in a directory with a robots.txt and returns
// what it prints.
func commandBeside(t *testing.T, args []string) string {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = files(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /private/\n"})
	out, _ := cmd.CombinedOutput() // the exit status is part of what is shown, or not
	return string(out)
}
