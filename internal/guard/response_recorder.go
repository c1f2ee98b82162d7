package guard

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// responseRecorder passes a response on and records its status, its size and the time to its first
// byte. It is a field of the judgement to avoid an allocation.
type responseRecorder struct {
	caddyhttp.ResponseWriterWrapper
	method string
	status int // status is 0 before a header was written, and if a handler wrote only a body.
	// size is the number of bytes of the body that were sent until the connection was hijacked.
	size      int64
	resources *heldResources // resources are held by the request. It is nil if there are none.
	stopwatch
}

// newResponseRecorder returns a recorder of the response that is written to w. method is the method
// of the request.
func newResponseRecorder(w http.ResponseWriter, method string) responseRecorder {
	return responseRecorder{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, method: method}
}

// WriteHeader implements [http.ResponseWriter]. A successful response to CONNECT begins a tunnel.
func (w *responseRecorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		w.stop()
	}
	w.ResponseWriter.WriteHeader(status)
	if w.method == http.MethodConnect && status < http.StatusMultipleChoices && status >= http.StatusOK {
		w.endMeasurementAtTunnel()
	}
}

// Hijack implements [http.Hijacker]. The connection is then a tunnel.
func (w *responseRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.endMeasurementAtTunnel()
	}
	return conn, buffered, err
}

// Flush implements [http.Flusher] for handlers without [http.ResponseController].
func (w *responseRecorder) Flush() { _ = w.FlushError() }

// FlushError implements the interface of [http.ResponseController].
func (w *responseRecorder) FlushError() error {
	w.stop()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// endMeasurementAtTunnel stops measuring a response, and frees the resources of the request,
// because the connection has become a tunnel, for example a WebSocket. A tunnel may last for hours.
func (w *responseRecorder) endMeasurementAtTunnel() {
	w.stopwatch = stopwatch{}
	if w.resources != nil {
		w.resources.release()
	}
}

// Write implements [http.ResponseWriter].
func (w *responseRecorder) Write(p []byte) (int, error) {
	w.stop()
	n, err := w.ResponseWriter.Write(p)
	w.size += int64(max(n, 0))
	return n, err
}

// ReadFrom implements [io.ReaderFrom], which lets the server use sendfile.
func (w *responseRecorder) ReadFrom(r io.Reader) (int64, error) {
	w.stop()
	n, err := w.ResponseWriterWrapper.ReadFrom(r)
	w.size += max(n, 0)
	return n, err
}

// sentBytes returns the number of body bytes sent to the client, which is 0 for HEAD.
func (w *responseRecorder) sentBytes() int64 {
	if w.method == http.MethodHead {
		return 0 // The server does not send these bytes.
	}
	return w.size
}

// responseStatus returns the status of the response to a request, or 0 if the client has left.
// status is the recorded status, 0 if none was written. err is the error of the handlers, to which
// error routes respond. finished is false after a panic.
func responseStatus(r *http.Request, status int, err error, finished bool) int {
	switch {
	case status != 0:
		return status
	case r.Context().Err() != nil:
		return 0
	case err != nil:
		return errorStatus(err)
	case !finished:
		return http.StatusInternalServerError
	}
	return http.StatusOK // No handler wrote a response, so Caddy sends an empty one.
}

// errorStatus returns the status with which Caddy responds to an error of a handler.
func errorStatus(err error) int {
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok && failed.StatusCode != 0 {
		return failed.StatusCode
	}
	return http.StatusInternalServerError
}

// passAndRecordResponse passes a request on and records the response in the metrics and the ledger.
func (g *Guard) passAndRecordResponse(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) (err error) {
	recorder := &j.response
	recorder.ResponseWriter, recorder.method, recorder.resources = w, r.Method, &j.resources
	if g.Rate != nil {
		j.resources.countInFlight(g.state.Metrics.InFlightCounter(j.ledgerClass()))
		recorder.start(g.state.clock)
	}
	finished := false
	defer func() {
		code, took := responseStatus(r, recorder.status, err, finished), recorder.elapsedTime()
		if code != 0 {
			g.countResponse(j, ledger.RequestKindForVerdict(j.Verdict), code, recorder.sentBytes())
			if took > 0 {
				g.state.Metrics.ObserveFirstByte(j.ledgerClass(), took)
			}
		}
	}()
	err = next.ServeHTTP(recorder, r)
	finished = true
	return err
}

// countResponse records in the metrics and the ledger a response to a request that was passed on.
func (g *Guard) countResponse(j *Judgement, kind responseaudit.RequestKind, code int, size int64) {
	status, ok := responseaudit.ClassifyStatus(code)
	if !ok {
		return // The client closed the connection (499).
	}
	token, class, named := j.ledgerIdentity()
	g.state.Metrics.CountResponse(class, kind, status, size)
	g.state.Ledger.RecordResponse(&ledger.Response{
		At: j.judgedAt, Site: j.Site.Label, Token: token, NamedByRobots: named, Class: class, Identity: j.Verification,
		Kind: kind, Status: status, Bytes: size,
	})
}

// Interface guards
var (
	_ io.ReaderFrom = (*responseRecorder)(nil)
	_ http.Flusher  = (*responseRecorder)(nil)
	_ http.Hijacker = (*responseRecorder)(nil)
)

// clock returns the time since a fixed moment, monotonically.
type clock func() time.Duration

func newClock() clock {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// stopwatch measures the time to the first byte of a response. The zero stopwatch does not run.
type stopwatch struct {
	clock     clock
	startTime time.Duration
	elapsed   time.Duration // elapsed is 0 while the stopwatch is running, and then at least 1.
}

// start starts the stopwatch with a clock.
func (s *stopwatch) start(by clock) { *s = stopwatch{clock: by, startTime: by()} }

// isRunning reports whether the stopwatch has started and the first byte was not sent.
func (s *stopwatch) isRunning() bool { return s.clock != nil && s.elapsed == 0 }

// stop stops the stopwatch.
func (s *stopwatch) stop() {
	if s.isRunning() {
		s.elapsed = max(1, s.clock()-s.startTime)
	}
}

// elapsedTime stops the stopwatch and returns the time to the first byte, or until now if no byte
// was sent. elapsedTime returns 0 before the start.
func (s *stopwatch) elapsedTime() time.Duration {
	s.stop()
	return s.elapsed
}
