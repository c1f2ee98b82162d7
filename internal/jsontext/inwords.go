package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// RemoveGoTypes returns an error of package json without the names of Go types, which do not help
// the author of the JSON.
func RemoveGoTypes(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok && err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("the value is of type %s", wrong.Value)
	}
	return fmt.Errorf("%s cannot be of type %s", wrong.Field, wrong.Value)
}
