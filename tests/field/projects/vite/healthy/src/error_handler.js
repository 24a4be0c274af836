export function handleError(error) {
  console.error("handled", error);
}
