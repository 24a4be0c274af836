package main

func main() {
	var total int = "three"
	println(taxes(total))
}
