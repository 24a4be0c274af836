package main

type cart struct {
	prices map[string]int
}

func (c *cart) add(item string, price int) {
	c.prices[item] = price
}

func main() {
	go func() { select {} }()
	(&cart{}).add("tea", 2)
}
