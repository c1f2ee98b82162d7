package origin

import (
	"context"
	"time"
)

// Witness is a client that was served the robots.txt of a site: all that the
// guard takes from it to be served the same. The zero witness is the guard.
type Witness struct {
	UserAgent  string // "" for the guard's own
	RemoteAddr string // "" for the guard's own
	ClientIP   string // behind a trusted proxy
	Verified   bool   // it is the crawler that it claims to be
	// Operator runs the crawler as which the file is read, "" for one that is not
	// verified. What is read for others too is read without.
	Operator string
	At       time.Time // when it was served the file
}

// operatorKey marks the context of requests for a robots.txt, as virtualKey does those
// of the guard.
type operatorKey struct{}

// WithOperator returns a context of a request for a robots.txt that comes from a
// crawler of an operator, which was verified.
func WithOperator(ctx context.Context, operator string) context.Context {
	return context.WithValue(ctx, operatorKey{}, operator)
}

// OperatorOf returns who runs the crawler that asks for a robots.txt, "" for one that
// no guard in front has verified. The guard's own requests on behalf of such a crawler
// have it, too, so that the guard is served what the crawler is.
func OperatorOf(ctx context.Context) string {
	operator, _ := ctx.Value(operatorKey{}).(string)
	return operator
}
