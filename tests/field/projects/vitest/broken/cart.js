export function price(cart, item) {
  return cart[item].price;
}
