package main

func handle(error string) bool {
	return isFatal(error)
}
