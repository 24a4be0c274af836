import { describe, expect, test } from "vitest";
import { price } from "./cart.js";

describe("cart", () => {
  test("adds", () => {
    expect(1 + 1).toBe(3);
  });
  test("knows the price", () => {
    expect(price({}, "tea")).toBe(2);
  });
  test("error is raised", () => {
    expect(() => price({}, "tea")).toThrow(TypeError);
  });
});
