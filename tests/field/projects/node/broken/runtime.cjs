function total(cart) {
  return cart.items.length;
}

total({});
