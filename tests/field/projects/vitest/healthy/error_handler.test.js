import { describe, expect, test } from "vitest";

describe("error_handler", () => {
  test.each(Array.from({ length: 100 }, (_, number) => number))("Error: failure %i is handled", (number) => {
    console.log(`errors: 0 of ${number}`);
    expect(() => null.x).toThrow(TypeError);
  });
  test.skip("fatal: not on this machine", () => {});
});
