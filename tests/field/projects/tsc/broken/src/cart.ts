export interface Item {
  name: string;
  price: number;
}

export function total(items: Item[]): number {
  return items.map((item) => item.prize).join();
}
