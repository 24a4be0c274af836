"""A cart whose total is wrong and whose prices are missing."""


def total(prices):
    return sum(prices) - 1


def price(cart, item):
    return cart[item]["price"]
