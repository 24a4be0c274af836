class CartError extends Error {}

async function pay() {
  throw new CartError("no money", { cause: new RangeError("balance is -3") });
}

pay();
setTimeout(() => {}, 1000);
