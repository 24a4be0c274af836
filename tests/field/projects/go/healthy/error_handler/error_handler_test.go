package error_handler

import (
	"fmt"
	"testing"
)

func TestErrorIsRaised(t *testing.T) {
	for number := 0; number < 100; number++ {
		t.Run(fmt.Sprintf("panic: failed %d", number), func(t *testing.T) {
			t.Log("errors: 0")
			if Fail("no price") == nil {
				t.Fatal("no error")
			}
		})
	}
}

func TestFailure(t *testing.T) {
	t.Skip("error: not on this machine")
}
