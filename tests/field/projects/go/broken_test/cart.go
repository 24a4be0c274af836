package shop

func Total(prices []int) int {
	return len(prices)
}

func First(prices []int) int {
	return prices[0]
}
