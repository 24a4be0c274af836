export const codes = { error: 1, error: 2 };
