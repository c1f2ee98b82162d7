package replay

import (
	"errors"
	"fmt"
	"io"
)

// unreadable is the error of a log that was not read to the end.
type unreadable struct {
	in  *input
	err error
}

func (u *unreadable) Error() string { return u.in.name + ": " + u.err.Error() }

func (u *unreadable) Unwrap() error { return u.err }

// withLineNumbers adds the number of the last line that was read to errors about unreadable logs.
func (s *sequence) withLineNumbers(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range several.Unwrap() {
			all = append(all, s.withLineNumbers(one))
		}
		return errors.Join(all...)
	}
	u, ok := errors.AsType[*unreadable](err)
	if !ok {
		return err
	}
	where := fmt.Sprintf("%s cannot be read beyond line %d", u.in.name, s.logReports[u.in].Lines)
	if errors.Is(err, io.ErrUnexpectedEOF) && u.in.compression != "" {
		return fmt.Errorf("%s: its %s data ends in the middle (%w); take a whole copy", where, u.in.compression, u.err)
	}
	return fmt.Errorf("%s: %w", where, u.err)
}
