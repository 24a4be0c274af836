import assert from "node:assert";
import { describe, test } from "node:test";

describe("error handler", () => {
  for (let number = 0; number < 100; number++) {
    test(`TypeError: failed ${number} is handled`, () => assert.throws(() => null.x, TypeError));
  }
  test("later", { todo: "error: not yet" }, () => {});
});
