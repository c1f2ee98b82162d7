package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
)

// InWords returns an error of package json without the names that Go has for types, which
// say nothing to those who write the JSON.
func InWords(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is of type %s", wrong.Value)
	}
	return fmt.Errorf("%s cannot be of type %s", wrong.Field, wrong.Value)
}
