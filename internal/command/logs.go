package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/robotsguard/caddy-robots-guard/internal/replay"
)

// auditedLogs are the access logs that a command is given, and which of their
// requests count.
type auditedLogs struct {
	names, sites []string
	since, until string
}

// addFlags adds the flags that choose requests.
func (l *auditedLogs) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&l.sites, "site", nil, "a host whose requests count")
	flags.StringVar(&l.since, "since", "", "when the requests that count begin")
	flags.StringVar(&l.until, "until", "", "when they end")
}

// options makes options of the flags.
func (l *auditedLogs) options(cmd *cobra.Command) (replay.Options, error) {
	now := time.Now()
	o := replay.Options{Logs: l.names, Stdin: cmd.InOrStdin(), Sites: l.sites, Now: now, Progress: new(replay.Progress)}
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"since", l.since, &o.Since}, {"until", l.until, &o.Until}} {
		if bound.text != "" {
			at, err := replay.ParseTime(bound.text, now)
			if err != nil {
				return o, fmt.Errorf("--%s: %w", bound.flag, err)
			}
			*bound.at = at
		}
	}
	return o, nil
}

// replay calls run, shows how far it has come, and has its context end with
// Ctrl-C.
func (l *auditedLogs) replay(cmd *cobra.Command, o replay.Options, run func(context.Context, replay.Options) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	hide := showProgress(cmd.ErrOrStderr(), o.Progress)
	defer hide()
	return run(ctx, o)
}

// siteOf takes the scheme off an authority: its requests count by either.
func siteOf(authority string) string {
	_, host, _ := strings.Cut(authority, "://")
	return host
}

// showProgress shows how far a replay has come, if w is a terminal, until the
// function that it returns is called.
func showProgress(w io.Writer, progress *replay.Progress) (hide func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(ended)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(w, "\r%s\x1b[K", progress.Text(time.Since(begin)))
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
