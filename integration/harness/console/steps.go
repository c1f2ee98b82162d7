package console

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Step is a command in a document with its output.
type Step struct {
	Line            int // line number of the command
	Command, Output string
}

// Steps returns the commands in the console blocks of a Markdown text.
func Steps(text string) (steps []Step) {
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
				steps = append(steps, Step{}) // collects output before the first command, which is dropped below
			}
		case !inBlock:
		case continued:
			last := &steps[len(steps)-1]
			last.Command += " " + strings.TrimSpace(strings.TrimSuffix(line, `\`))
			continued = strings.HasSuffix(line, `\`)
		case strings.HasPrefix(line, "$ "):
			continued = strings.HasSuffix(line, `\`)
			steps = append(steps, Step{Line: number, Command: strings.TrimSuffix(line[2:], `\`)})
		default:
			steps[len(steps)-1].Output += line + "\n"
		}
	}
	kept := steps[:0]
	for _, step := range steps {
		if step.Command != "" {
			kept = append(kept, step)
		}
	}
	return kept
}

// Words splits a command into arguments as a shell does. It handles quotes, comments
// and a following grep, whose pattern it returns separately.
func Words(command string) (args []string, pattern *regexp.Regexp, err error) {
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
		if pattern, err = grep(all[1]); err != nil {
			return nil, nil, fmt.Errorf("%w in %q", err, command)
		}
	}
	return all[0], pattern, nil
}

// grep returns the regular expression of a grep command. Without -E these characters
// would be literals, so grep rejects them.
func grep(args []string) (*regexp.Regexp, error) {
	switch {
	case len(args) == 3 && args[0] == "grep" && args[1] == "-E":
		return regexp.Compile(args[2])
	case len(args) != 2 || args[0] != "grep":
		return nil, errors.New("only grep [-E] <regexp> may follow")
	case strings.ContainsAny(args[1], "|+?(){}"):
		return nil, errors.New("grep takes this regular expression with -E only")
	}
	return regexp.Compile(args[1])
}
