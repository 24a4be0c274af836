export function isError(error) {
  return error == "error: no price";
}
