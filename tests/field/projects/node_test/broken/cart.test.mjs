import assert from "node:assert";
import { describe, test } from "node:test";

describe("cart", () => {
  test("adds", () => {
    assert.strictEqual(1 + 1, 3);
  });
  test("error is raised", () => {
    assert.throws(() => JSON.parse("{"), SyntaxError);
  });
});

test("pays", async () => {
  throw new TypeError("no money");
});
