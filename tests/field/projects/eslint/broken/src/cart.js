export function total(items) {
  const count = items.length;
  if (items == null) return 0;
  return prices.reduce((sum, price) => sum + price, taxes);
}
