export class CartError extends Error {}

export function fail(reason: string): never {
  throw new CartError(`error: ${reason}`);
}
