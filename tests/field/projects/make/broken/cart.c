int total(void) {
  return price;
}
