package main

import "example.test/shop/error_handler"

func main() {
	println(error_handler.Fail("no price").Error() != "", "0 errors")
}
