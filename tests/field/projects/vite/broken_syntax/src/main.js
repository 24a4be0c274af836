export function total(items) {
  return items.map((item) => item.price;
}
