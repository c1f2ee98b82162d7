package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// printError prints an error to w. Joined errors are printed on a line each. Further lines of a
// message are indented.
func printError(w io.Writer, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			printError(w, one)
		}
		return
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; run the command as a user with this permission", err)
	}
	printNote(w, "error", err.Error())
}

// printNote prints a message after its kind: error, warning or note. A question mark replaces each
// unprintable character, which could change the state of the terminal. Further lines of the message
// are indented.
func printNote(w io.Writer, kind, message string) {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(message), "\n") {
		if i > 0 {
			b.WriteString("\n  ")
		}
		b.WriteString(text.Printable(strings.ReplaceAll(line, "\t", "  ")))
	}
	screen := newScreen(w)
	fmt.Fprintf(screen, "%s: %s\n", text.Colorize(screen, kind), b.String())
	_ = screen.Flush() // A failure to print an error cannot be reported.
}

// flagLists matches the two lists of flags in an error of [cobra.Command.ValidateFlagGroups]: a
// group, and its given or missing flags.
var flagLists = regexp.MustCompile(`group \[([^]]*)\].*\[([^]]*)\]`)

// describeFlagGroupError rewords an error of cobra about flags that exclude or require each other.
func describeFlagGroupError(err error) error {
	lists := flagLists.FindStringSubmatch(err.Error())
	if lists == nil {
		return err
	}
	join := func(list string) string { return "--" + strings.Join(strings.Fields(list), " and --") }
	if strings.Contains(err.Error(), "none of the others can be") {
		return fmt.Errorf("%s cannot be used together; leave out one", join(lists[2]))
	}
	return fmt.Errorf("%s must be used together; %s is missing", join(lists[1]), join(lists[2]))
}

// bufferWarnings buffers Caddy's log. printWarnings ends this, and prints the buffered warnings and
// errors to w. Other messages are dropped, because they are for operators of a server.
func bufferWarnings(w io.Writer) (printWarnings func()) {
	_, defaultLogger, buffer := caddy.BufferedLog()
	return func() {
		buffer.FlushTo(zap.New(warningCore{w})) // This comes first, because the other flush writes to standard error.
		caddy.UnbufferDefaultLogger(defaultLogger)
	}
}

// warningCore is a [zapcore.Core] that prints the log entries of the level warning and above to w.
type warningCore struct{ w io.Writer }

// Enabled returns true for all levels. Write skips the entries below the level warning.
func (warningCore) Enabled(zapcore.Level) bool { return true }

func (n warningCore) With([]zapcore.Field) zapcore.Core { return n }

func (n warningCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return ce.AddCore(e, n)
}

func (n warningCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	// The command caddy fmt checks the formatting of a Caddyfile.
	if e.Level < zapcore.WarnLevel || strings.Contains(e.Message, "not formatted") {
		return nil
	}
	values := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(values)
	}
	var more []string
	for name, value := range values.Fields {
		more = append(more, fmt.Sprintf("%s %v", name, value))
	}
	slices.Sort(more)
	message := e.Message
	if len(more) > 0 {
		message += " (" + strings.Join(more, ", ") + ")"
	}
	printNote(n.w, "warning", message)
	return nil
}

func (warningCore) Sync() error { return nil }
