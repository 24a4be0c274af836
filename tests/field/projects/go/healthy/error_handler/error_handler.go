package error_handler

import "errors"

func Fail(reason string) error {
	return errors.New("error: " + reason)
}
