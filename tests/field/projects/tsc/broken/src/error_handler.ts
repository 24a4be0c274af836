import { total } from "./cart";

export const message: string = total([], 1);
